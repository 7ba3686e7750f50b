"""One window per store: a second start raises the first window, and ends."""

from __future__ import annotations

import logging
import os
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QLockFile, QObject, QTimer, Signal, Slot

from plantdesk.domain.errors import PlantDeskError, Text

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

    from plantdesk.domain.locations import StoreLocation

_log = logging.getLogger(__name__)

#: Milliseconds within which an open window must answer.
_TIMEOUT = 5000
#: Milliseconds for which a window that is being closed may still write: a million plants take five seconds.
_CLOSING_TIMEOUT = 60_000
#: Milliseconds between two attempts to reach a window that does not listen yet, or any more.
_RETRY_DELAY = 50
#: Bytes of the longest folder for a Unix socket: sun_path has 108 bytes with its NUL on Linux, 104 elsewhere.
_MAX_FOLDER = 103 - len("/w-01234567")


class StuckWindowError(PlantDeskError):
    """Another process has the window of this store, but does not answer."""

    text = Text("“{file}” is open in another PlantDesk, which does not answer. End that program, then try again.")

    def __init__(self, store: StoreLocation) -> None:
        super().__init__(file=store.name)


class SingleWindow(QObject):
    """The lock of the only window of a store; `raise_requested` comes from a second start."""

    raise_requested = Signal()

    def __init__(self, store: StoreLocation, folder: Path | None, parent: QObject | None = None) -> None:
        """Lock in `folder`, a local one that is the user's alone; None where there is no such folder: nothing locks."""
        super().__init__(parent)
        # Not hashlib, whose OpenSSL takes 5 ms of the start: CRC-32 distinguishes a user's few stores as well.
        self.key = f"{zlib.crc32(store.key.encode('utf-8', 'surrogateescape')):08x}"
        self._name = _socket_name(self.key, folder)
        # Besides the server: two starts at once must not both find nobody listening. Qt recognises stale locks.
        self._lock = QLockFile(str(folder / f"window-{self.key}.lock")) if folder is not None else None
        if self._lock is not None:
            self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def take(self) -> bool:
        """Return whether no other window has the store; if so, call `listen` soon.

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
        """Whether the lock is held: not where no lock could be made."""
        return self._lock is not None and self._lock.isLocked()

    def listen(self) -> None:
        """Answer later starts. Separate from `take`, because it is not needed before the window is shown."""
        if not self.is_locked:
            return  # the name may be another window's
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._name)  # a killed window leaves its socket behind
        server = self._server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_asked)
        if not server.listen(self._name):
            _log.warning("A second start cannot bring this window to the front: %s", server.errorString())

    def ask_other(self) -> OtherWindow:
        """Ask the window that has the lock to raise itself, or take the lock when that has ended (`is_locked`).

        The returned object signals the result.
        """
        other = OtherWindow(self._name, self)
        QTimer.singleShot(0, other, other.ask)
        return other

    def raise_other(self) -> bool:
        """Ask like `ask_other`, wait, and return whether the window answered or ended."""
        answers: list[bool] = []
        loop = QEventLoop()
        other = self.ask_other()
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
            if not _is_ours(connection):
                connection.abort()
                continue
            connection.write(b"raised\n")
            connection.flush()
            self.raise_requested.emit()


class OtherWindow(QObject):
    """The window of another process. `asked`: whether it has answered within five seconds, or has ended in a minute.

    By signals, because a `waitFor…` of QLocalSocket holds the GIL, which blocks every other thread.
    """

    asked = Signal(bool)

    def __init__(self, name: str, single: SingleWindow) -> None:
        super().__init__(single)
        from PySide6.QtNetwork import QLocalSocket

        self._name, self._single = name, single
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
        if not _is_ours(self._socket):
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


def _socket_name(key: str, folder: Path | None, platform: str = sys.platform) -> str:
    """Return the path of the socket in a folder of the user, where nobody else can take it.

    On Windows the name of a pipe, which belongs to the session.
    """
    if platform == "win32":
        return f"plantdesk-{key}"
    folders = [Path(each) for each in (folder, os.environ.get("XDG_RUNTIME_DIR")) if each]
    usable = [each for each in folders if len(os.fsencode(each)) <= _MAX_FOLDER and _is_private(each)]
    return str((usable or folders or [Path()])[0] / f"w-{key}")


def _is_private(folder: Path) -> bool:
    """Whether nobody else can put a socket into `folder`."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == _user() and not found.st_mode & 0o022


def _is_ours(connection: QLocalSocket) -> bool:
    """Whether the process at the other end runs as the same user, where the system can be asked (Linux)."""
    import socket
    import struct

    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    credentials = struct.Struct("3i")  # struct ucred: pid, uid, gid
    try:
        with socket.socket(fileno=os.dup(connection.socketDescriptor())) as peer:
            raw = peer.getsockopt(socket.SOL_SOCKET, option, credentials.size)
    except OSError:  # disconnected already
        return False
    _, uid, _ = credentials.unpack(raw)
    return bool(uid == _user())


def _user() -> int | None:
    """Return the number of the user that runs this; None on Windows."""
    getuid = getattr(os, "getuid", None)
    return None if getuid is None else int(getuid())
