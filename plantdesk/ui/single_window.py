"""One window for one store: a second start asks the first to show itself, and ends."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

if TYPE_CHECKING:
    from pathlib import Path

#: Milliseconds within which an open window must answer.
_PATIENCE = 3000


class SingleWindow(QObject):
    """Holds the place of the only window of a store; `raise_wanted` comes from a second start."""

    raise_wanted = Signal()

    def __init__(self, store: Path, folder: Path, parent: QObject | None = None) -> None:
        """Lock in `folder`, a folder on this machine that belongs to the person alone."""
        super().__init__(parent)
        digest = hashlib.sha256(str(store.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._name = f"plantdesk-{digest}"
        # Besides the server: two starts at once must not both find nobody listening. Stale locks are Qt's to recognise.
        self._lock = QLockFile(str(folder / f"window-{digest}.lock"))
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_asked)

    def take(self) -> bool:
        """Return whether this is the first window of the store; if so, answer those that come later."""
        if not self._lock.tryLock(0):
            return False
        QLocalServer.removeServer(self._name)  # a killed window leaves its socket behind
        self._server.listen(self._name)
        return True

    def raise_other(self) -> bool:
        """Ask the window that has the place to show itself; return whether it answered."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        answered = socket.waitForConnected(_PATIENCE) and socket.waitForReadyRead(_PATIENCE)
        socket.abort()
        return answered

    def release(self) -> None:
        """Give the place up."""
        self._server.close()
        self._lock.unlock()

    @Slot()
    def _on_asked(self) -> None:
        while (connection := self._server.nextPendingConnection()) is not None:
            connection.disconnected.connect(connection.deleteLater)
            connection.write(b"raised\n")
            connection.flush()
            self.raise_wanted.emit()
