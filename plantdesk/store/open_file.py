"""The file that the writer has open, and the step to another one that has taken its place."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from plantdesk.errors import StoreError, StoreMovedError
from plantdesk.store.backups import BackupKind, Backups
from plantdesk.store.checkpoint import Checkpointer
from plantdesk.store.engine import driver_connection, make_engine
from plantdesk.store.opening import prepare
from plantdesk.store.place import Place
from plantdesk.store.stray_log import move_beside
from plantdesk.store.watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)


class OpenFile:
    """What the writer has of one file. Belongs to its thread."""

    def __init__(self, path: Path) -> None:
        """Open the store at `path`, which is prepared. Raises sqlite3.Error and SQLAlchemy's DBAPIError."""
        self._path = path
        self.connection = make_engine(path).connect()
        self.raw = driver_connection(self.connection)
        self.checkpointer = Checkpointer(path, self.raw)
        self.watch = Watch(self.raw)
        self.place = Place(path)

    def close(self) -> None:
        """Close the connections."""
        self.checkpointer.close()
        self.connection.close()

    def followed(self) -> OpenFile:
        """Return itself, or the file that has taken its place, opened; then this one is closed.

        Raises StoreMovedError where nothing has taken the place, and StoreError where what has cannot be opened.
        """
        if self.place.is_kept:
            return self
        if not self.place.is_replaced:
            if not self.place.has_old_log and self.checkpointer.pending:  # deleted, but in our hands still
                self.checkpointer.run()
            raise StoreMovedError
        if self.place.has_old_log:
            self._leave_log()
        prepare(self._path)
        successor = OpenFile(self._path)
        self.close()
        _log.warning("Went on with the file that took the place of %s", self._path)
        return successor

    def _leave_log(self) -> None:
        """Keep what the replaced file held as a backup, and take its log away from beside the new one."""
        backups = Backups(self._path)
        with contextlib.suppress(StoreError):  # it may be damaged, and replaced for that
            backups.make_from(self.raw, BackupKind.REPLACED)
        try:
            move_beside(self._path, backups.place_for_damaged())
        except OSError as error:
            raise StoreMovedError from error
