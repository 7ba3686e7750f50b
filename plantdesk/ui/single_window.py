"""One window per store: a second start passes its request on to the first window, and ends."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QLockFile, QObject, QTimer, Signal, Slot

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text
from plantdesk.platform.window_requests import (
    ANSWER,
    MAX_REQUEST,
    InvalidRequestError,
    WindowRequest,
    is_same_user,
    parse_request,
    socket_name,
    window_key,
)

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

    from plantdesk.domain.locations import StoreLocation

_log = logging.getLogger(__name__)

#: Milliseconds within which an open window must answer.
_TIMEOUT = 5000
#: Milliseconds for which a window that is being closed may still write: a million plants take five seconds.
_CLOSING_TIMEOUT = 15_000
#: Milliseconds between two attempts to reach a window that does not listen yet, or any more.
_RETRY_DELAY = 50
#: The request to come to the front, and nothing else.
_RAISE = WindowRequest()


class StuckWindowError(PlantDeskError):
    """Another process has the window of this store, but does not answer."""

    text = Text(
        "“{file}” is open in another PlantDesk, which does not answer; it may be an older version. Close its window or "
        "end that program, then try again."
    )

    def __init__(self, store: StoreLocation) -> None:
        super().__init__(file=store.name)


class SingleWindow(QObject):
    """The lock of the only window of a store; `requested(request)` comes from a second start."""

    requested = Signal(object)

    def __init__(self, store: StoreLocation, folder: Path | None, parent: QObject | None = None) -> None:
        """Lock in `folder`, which is local and the user's alone; None if there is no such folder: nothing is locked."""
        super().__init__(parent)
        self.key = window_key(store.key)
        self._name = socket_name(self.key, folder)
        # Besides the server: two starts at once must not both find nobody listening. Qt recognises stale locks.
        self._lock = QLockFile(str(folder / f"window-{self.key}.lock")) if folder is not None else None
        if self._lock is not None:
            self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def take(self) -> bool:
        """Return whether no other window has the store; if so, the caller must call `listen` soon.

        A folder in which no lock can be made (read-only, full disk) must not keep the window from opening.
        """
        if self._lock is None or self._lock.tryLock(0):
            return True
        if self._lock.error() is QLockFile.LockError.LockFailedError:
            return False
        _log.warning("The window cannot be locked (%s): a second one may open.", self._lock.error().name)
        return True

    @property
    def is_locked(self) -> bool:
        """Whether the lock is held; False if none could be made."""
        return self._lock is not None and self._lock.isLocked()

    def listen(self) -> None:
        """Answer later starts. Separate from `take`, because it is not needed before the window is shown."""
        if not self.is_locked:
            return  # the server name may be another window's
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._name)  # a killed window leaves its socket behind
        server = self._server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_asked)
        if not server.listen(self._name):
            _log.warning("A second start cannot bring this window to the front: %s", server.errorString())

    def ask_other(self, request: WindowRequest = _RAISE) -> OtherWindow:
        """Send a request to the window that has the lock, or take the lock (`is_locked`) when that window has ended.

        The returned object signals the result.
        """
        other = OtherWindow(self._name, request, self)
        QTimer.singleShot(0, other, other.ask)
        return other

    def raise_other(self, request: WindowRequest = _RAISE) -> bool:
        """Send a request as `ask_other` does, and wait; return whether the window answered or ended."""
        answers: list[bool] = []
        loop = QEventLoop()
        other = self.ask_other(request)
        other.asked.connect(answers.append)
        other.asked.connect(loop.quit)
        loop.exec()
        return answers == [True]

    def stop_listening(self) -> None:
        """Let later starts wait for `release`."""
        if self._server is not None:
            self._server.close()

    def release(self) -> None:
        """Release the lock."""
        self.stop_listening()
        if self._lock is not None:
            self._lock.unlock()

    @Slot()
    def _on_asked(self) -> None:
        while self._server is not None and (connection := self._server.nextPendingConnection()) is not None:
            connection.disconnected.connect(connection.deleteLater)
            connection.readyRead.connect(self._on_ready_read)  # a partial would hold it: a crash when freed
            if not is_same_user(connection.socketDescriptor()):
                connection.abort()
            else:
                self._read(connection)

    @Slot()
    def _on_ready_read(self) -> None:
        from PySide6.QtNetwork import QLocalSocket

        for connection in self._server.findChildren(QLocalSocket) if self._server is not None else ():
            self._read(connection)

    def _read(self, connection: QLocalSocket) -> None:
        if not connection.canReadLine():
            if connection.bytesAvailable() > MAX_REQUEST:
                connection.abort()
            return
        try:
            request = parse_request(bytes(connection.readLine().data()))
        except InvalidRequestError:
            connection.abort()
            return
        connection.write(ANSWER)
        connection.flush()
        self.requested.emit(request)


class OtherWindow(QObject):
    """The window of another process. `asked`: whether it answered within five seconds, or ended within some more.

    It uses signals, because a `waitFor…` of QLocalSocket holds the GIL, which blocks every other thread.
    """

    asked = Signal(bool)

    def __init__(self, name: str, request: WindowRequest, single: SingleWindow) -> None:
        super().__init__(single)
        from PySide6.QtNetwork import QLocalSocket

        self._name, self._request, self._single = name, request, single
        self._socket = QLocalSocket(self)
        self._timeout = QTimer(self, singleShot=True)
        self._retry = QTimer(self, singleShot=True, interval=_RETRY_DELAY)
        self._socket.connected.connect(self._on_connected)
        self._socket.readyRead.connect(self._on_answer)
        self._socket.errorOccurred.connect(self._on_error)
        self._timeout.timeout.connect(self._on_timeout)
        self._retry.timeout.connect(self._connect)

    @Slot()
    def ask(self) -> None:
        """Connect; retry until the timeout, as the other may not listen yet, or is being closed."""
        self._timeout.start(_CLOSING_TIMEOUT)
        self._connect()

    @Slot()
    def _connect(self) -> None:
        self._socket.connectToServer(self._name)

    @Slot()
    def _on_connected(self) -> None:
        self._timeout.start(_TIMEOUT)
        if is_same_user(self._socket.socketDescriptor()):
            self._socket.write(self._request.encoded())
        else:
            self._end(answered=False)

    @Slot()
    def _on_answer(self) -> None:
        self._end(answered=True)

    @Slot()
    def _on_error(self) -> None:
        if self._single.take():
            self._end(answered=True)
        elif self._timeout.isActive():
            self._retry.start()

    @Slot()
    def _on_timeout(self) -> None:
        self._end(answered=False)

    def _end(self, *, answered: bool) -> None:
        self._timeout.stop()
        self._retry.stop()
        self._socket.abort()
        self.asked.emit(answered)
