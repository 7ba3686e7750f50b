"""One window for one store: a second start asks the first to show itself, and ends."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QDeadlineTimer, QLockFile, QObject, QThread, Signal, Slot

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtNetwork import QLocalServer

#: Milliseconds within which an open window must answer.
_PATIENCE = 5000
#: Milliseconds between two knocks at a window that does not listen yet.
_BETWEEN = 50


class SingleWindow(QObject):
    """Holds the place of the only window of a store; `raise_wanted` comes from a second start."""

    raise_wanted = Signal()

    def __init__(self, store: Path, folder: Path, parent: QObject | None = None) -> None:
        """Lock in `folder`, a folder on this machine that belongs to the person alone."""
        super().__init__(parent)
        # Not hashlib, whose OpenSSL takes 5 ms of the start: this tells a person's few stores apart as well.
        digest = f"{zlib.crc32(str(store.resolve()).encode('utf-8', 'surrogateescape')):08x}"
        self._name = f"plantdesk-{digest}"
        # Besides the server: two starts at once must not both find nobody listening. Stale locks are Qt's to recognise.
        self._lock = QLockFile(str(folder / f"window-{digest}.lock"))
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def take(self) -> bool:
        """Return whether this is the first window of the store; if so, `listen` is to be called soon."""
        return self._lock.tryLock(0)

    def listen(self) -> None:
        """Answer those that come later. Apart from `take`, for it is not needed until the window shows."""
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._name)  # a killed window leaves its socket behind
        server = self._server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_asked)
        server.listen(self._name)

    def raise_other(self) -> bool:
        """Ask the window that has the place to show itself; return whether it answered."""
        from PySide6.QtNetwork import QLocalSocket

        deadline = QDeadlineTimer(_PATIENCE)
        answered = False
        while not answered and not deadline.hasExpired():  # the other may just be starting and not listen yet
            socket = QLocalSocket()
            socket.connectToServer(self._name)
            connected = socket.waitForConnected(deadline.remainingTime())
            answered = connected and socket.waitForReadyRead(deadline.remainingTime())
            socket.abort()
            if not connected:
                QThread.msleep(_BETWEEN)
        return answered

    def release(self) -> None:
        """Give the place up."""
        if self._server is not None:
            self._server.close()
        self._lock.unlock()

    @Slot()
    def _on_asked(self) -> None:
        while self._server is not None and (connection := self._server.nextPendingConnection()) is not None:
            connection.disconnected.connect(connection.deleteLater)
            connection.write(b"raised\n")
            connection.flush()
            self.raise_wanted.emit()
