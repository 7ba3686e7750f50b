"""One window per store: a second start sends its request to the first window, and ends."""

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
_ANSWER_TIMEOUT_MS = 5000
#: Milliseconds for which a window that is being closed may still write: a million plants take five seconds.
_CLOSING_TIMEOUT_MS = 15_000
#: Milliseconds between two attempts to connect to a window that is starting or closing.
_RETRY_DELAY_MS = 50
#: The request that only raises the window.
_RAISE_REQUEST = WindowRequest()


class StuckWindowError(PlantDeskError):
    """Another process has the lock of the store, but does not answer."""

    text = Text(
        "“{file}” is open in another PlantDesk, which does not answer; it may be an older version. Close its window or "
        "end that program, then try again."
    )

    def __init__(self, store: StoreLocation) -> None:
        super().__init__(file=store.name)


class SingleWindow(QObject):
    """The lock of the only window of a store, and the local server that gets the requests of later starts."""

    #: (request) A second start has sent a request.
    request_received = Signal(object)

    def __init__(self, store: StoreLocation, folder: Path | None, parent: QObject | None = None) -> None:
        """Prepare a lock file in a local, private `folder`; None: lock nothing."""
        super().__init__(parent)
        self.key = window_key(store.key)
        self._name = socket_name(self.key, folder)
        # The server alone is not enough: two starts at once would both find none. Qt recognises stale locks.
        self._lock = QLockFile(str(folder / f"window-{self.key}.lock")) if folder is not None else None
        if self._lock is not None:
            self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def try_lock(self) -> bool:
        """Lock the store; return False if another window has the lock. Otherwise the caller must call `listen` soon.

        Returns True, and logs it, if no lock can be made, as in a read-only folder: the window must open anyway.
        """
        if self._lock is None or self._lock.tryLock(0):
            return True
        if self._lock.error() is QLockFile.LockError.LockFailedError:
            return False
        _log.warning("The window cannot be locked (%s): a second one may open.", self._lock.error().name)
        return True

    @property
    def is_locked(self) -> bool:
        """Whether this process holds the lock; False if no lock could be made."""
        return self._lock is not None and self._lock.isLocked()

    def listen(self) -> None:
        """Start the local server that answers later starts; do nothing without the lock."""
        if not self.is_locked:
            return  # the server name may be another window's
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._name)  # a killed window leaves its socket behind
        server = self._server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_new_connection)
        if not server.listen(self._name):
            _log.warning("A second start cannot bring this window to the front: %s", server.errorString())

    def ask_other(self, request: WindowRequest = _RAISE_REQUEST) -> OtherWindow:
        """Begin to send a request to the window with the lock; if that ends, the lock is taken instead."""
        other_window = OtherWindow(self._name, request, self)
        QTimer.singleShot(0, other_window, other_window.connect_to_other)
        return other_window

    def raise_other(self, request: WindowRequest = _RAISE_REQUEST) -> bool:
        """Like `ask_other`, but wait for the answer in an event loop; return whether there is one."""
        answers: list[bool] = []
        loop = QEventLoop()
        other_window = self.ask_other(request)
        other_window.answered.connect(answers.append)
        other_window.answered.connect(loop.quit)
        loop.exec()
        return answers == [True]

    def stop_listening(self) -> None:
        """Stop answering: later starts wait until `release` is called."""
        if self._server is not None:
            self._server.close()

    def release(self) -> None:
        """Stop answering, and release the lock, so that another window can take it."""
        self.stop_listening()
        if self._lock is not None:
            self._lock.unlock()

    @Slot()
    def _on_new_connection(self) -> None:
        while self._server is not None and (connection := self._server.nextPendingConnection()) is not None:
            connection.disconnected.connect(connection.deleteLater)
            connection.readyRead.connect(self._on_ready_read)  # a partial would keep a reference, and crash when freed
            if not is_same_user(connection.socketDescriptor()):
                connection.abort()
            else:
                self._answer_request(connection)

    @Slot()
    def _on_ready_read(self) -> None:
        from PySide6.QtNetwork import QLocalSocket

        for connection in self._server.findChildren(QLocalSocket) if self._server is not None else ():
            self._answer_request(connection)

    def _answer_request(self, connection: QLocalSocket) -> None:
        """Answer a complete request, and refuse one that is too long or invalid."""
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
        self.request_received.emit(request)


class OtherWindow(QObject):
    """The client of another process's window. It is asynchronous, as `waitFor…` of QLocalSocket holds the GIL."""

    #: (is_answered) It has answered or ended in time, or not.
    answered = Signal(bool)

    def __init__(self, name: str, request: WindowRequest, single_window: SingleWindow) -> None:
        super().__init__(single_window)
        from PySide6.QtNetwork import QLocalSocket

        self._name = name
        self._request = request
        self._single_window = single_window
        self._socket = QLocalSocket(self)
        self._timeout_timer = QTimer(self, singleShot=True)
        self._retry_timer = QTimer(self, singleShot=True, interval=_RETRY_DELAY_MS)
        self._socket.connected.connect(self._on_connected)
        self._socket.readyRead.connect(self._on_answer)
        self._socket.errorOccurred.connect(self._on_error)
        self._timeout_timer.timeout.connect(self._on_timeout)
        self._retry_timer.timeout.connect(self._connect)

    @Slot()
    def connect_to_other(self) -> None:
        """Connect, and try again until the timeout while the other window is starting or closing."""
        self._timeout_timer.start(_CLOSING_TIMEOUT_MS)
        self._connect()

    @Slot()
    def _connect(self) -> None:
        self._socket.connectToServer(self._name)

    @Slot()
    def _on_connected(self) -> None:
        self._timeout_timer.start(_ANSWER_TIMEOUT_MS)
        if is_same_user(self._socket.socketDescriptor()):
            self._socket.write(self._request.encoded())
        else:
            self._finish(is_answered=False)

    @Slot()
    def _on_answer(self) -> None:
        self._finish(is_answered=True)

    @Slot()
    def _on_error(self) -> None:
        if self._single_window.try_lock():
            self._finish(is_answered=True)
        elif self._timeout_timer.isActive():
            self._retry_timer.start()

    @Slot()
    def _on_timeout(self) -> None:
        self._finish(is_answered=False)

    def _finish(self, *, is_answered: bool) -> None:
        self._timeout_timer.stop()
        self._retry_timer.stop()
        self._socket.abort()
        self.answered.emit(is_answered)
