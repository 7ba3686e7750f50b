"""The writer's connection, and the step from a file that was replaced to the one that is under the name now."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from plantdesk.errors import (
    BackupFolderError,
    StoreDamagedError,
    StoreError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.store.backups import BackupKind, Backups
from plantdesk.store.checkpoint import Checkpointer
from plantdesk.store.engine import driver_connection, make_engine, translate_errors
from plantdesk.store.watch import Watch

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.store.file_lock import Identity
    from plantdesk.store.store_file import StoreFile

_log = logging.getLogger(__name__)

#: Seconds after which a file that could not be opened is tried again, if it is still the same.
_RETRY_DELAY = 2.0


class WriteConnection:
    """What the writer has of one file. Belongs to the writer thread."""

    def __init__(self, file: StoreFile) -> None:
        """Open the connection. Raises StoreMovedError, sqlite3.Error and SQLAlchemy's DBAPIError."""
        self.connection = make_engine(file.connect).connect()
        self.raw = driver_connection(self.connection)
        self.checkpointer = Checkpointer(file, self.raw)
        self.watch = Watch(self.raw)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


class CurrentConnection:
    """The write connection to the file that is under the store's name. Belongs to the writer thread.

    What a replaced or removed file held is saved as a backup first, once, from the connection that is still open to it.
    """

    def __init__(self, file: StoreFile) -> None:
        """Connect, unless the file can only be read. Raises StoreError."""
        self._file = file
        self._saved = False
        self._failure: _Failure | None = None
        with translate_errors():
            self._open = None if file.read_only else WriteConnection(file)

    def get(self) -> WriteConnection:
        """Return the connection, perhaps a new one to another file. Raises StoreError while there is none."""
        if self._open is not None and self._file.is_current:
            return self._open
        if self._failure is not None and self._failure.is_recent(self._file):
            raise self._failure.error
        try:
            self._open = self._reopened()
        except StoreError as error:
            self._failure = _Failure(error, self._file)
            raise
        self._failure, self._saved = None, False
        return self._open

    def committed(self) -> None:
        """Note that the file holds more than when it was saved."""
        self._saved = False

    def close(self) -> None:
        """Close the connection; what a file holds that nobody can find any more is saved. Raises nothing."""
        if self._open is None:
            return
        if not self._file.is_current:
            with suppress(StoreError):
                self._save(self._open.raw)
        self._open.close()

    def _reopened(self) -> WriteConnection:
        if self._file.read_only and not self._file.may_be_writable:
            raise StoreReadOnlyError
        if self._open is not None:
            self._leave(self._open)
        elif not self._file.is_current or self._file.read_only:
            self._file.reopen()
        if self._file.read_only:
            raise StoreReadOnlyError
        with translate_errors():
            return WriteConnection(self._file)

    def _leave(self, connection: WriteConnection) -> None:
        try:
            self._save(connection.raw)
        except StoreError as error:
            if not self._file.is_there:  # the first thing to know
                raise StoreMovedError from error
            raise
        try:
            self._file.rebuild(connection.raw)
        except OSError as error:
            raise StoreUnreachableError from error
        self._file.reopen()
        connection.close()
        self._open = None
        _log.warning("Opened the file that has taken the place of %s", self._file.path.name)

    def _save(self, raw: sqlite3.Connection) -> None:
        if self._saved:
            return
        try:
            backup = Backups(self._file.path).make_from(raw, BackupKind.REPLACED)
        except BackupFolderError:
            raise
        except (StoreDamagedError, StoreUnreachableError) as error:  # it may have been replaced for that
            _log.error("What the replaced file held cannot be read: %s", error)
        else:
            _log.warning("The file was replaced or removed; what it held is saved as %s", backup.path.name)
        self._saved = True


class _Failure:
    """Why the file under the name could not be opened, so that it is not tried for each write."""

    def __init__(self, error: StoreError, file: StoreFile) -> None:
        self.error = error
        self._identity: Identity = file.identity_now
        self._until = time.monotonic() + _RETRY_DELAY

    def is_recent(self, file: StoreFile) -> bool:
        return time.monotonic() < self._until and file.identity_now == self._identity
