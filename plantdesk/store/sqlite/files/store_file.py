"""A store's file as a process has it open: checked once, and from then on the one way to open connections to it.

`opening` checks it, under the lock of `file_lock`. Afterwards the identity of the files decides: when another file has
taken the name, or the log is gone, no connection is opened and no commit is acknowledged any more, until the writer has
saved what the old file holds and calls `reopen`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from pathlib import Path

from plantdesk.domain.errors import (
    ForeignFileError,
    StoreDamagedError,
    StoreError,
    StoreMovedError,
    StoreReadOnlyError,
)
from plantdesk.store.sqlite.connections import configure, connect, transaction, translate_errors
from plantdesk.store.sqlite.files.backup_folder import Backups, fill_copy
from plantdesk.store.sqlite.files.disk import replaced_file
from plantdesk.store.sqlite.files.file_lock import FileIdentity, file_id, identity, locked
from plantdesk.store.sqlite.files.open_checks import connect_for_reading, is_writable, named, resolved
from plantdesk.store.sqlite.files.opening import HOLDER_TIMEOUT, naming, open_file
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION

_RETRY_DELAY = 0.02
#: Seconds without a write after which another program has finished, and how often they are waited for.
_SETTLED, _MAX_SETTLING = 0.5, 60


class StoreFile:
    """The open file of a store. May be used by any thread; only one may `reopen`."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the store at `path`, make it if there is none, and bring its schema up to date.

        A store that may not be written to is opened for reading. `create` makes a new one even if backups show that
        there was one. Raises StoreError of the kinds that `Store` names; a
        refused file is left untouched.
        """
        with naming(path):
            self.path = resolved(path)
            self._opened, self.generation = open_file(self.path, create=create), 0

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read."""
        return self._opened.read_only

    @property
    def is_there(self) -> bool:
        """Whether there is a file of the store's name."""
        return os.path.lexists(self.path)

    @property
    def may_be_writable(self) -> bool:
        """Whether a store that could only be read should be opened again."""
        opened = self._opened
        return opened.read_only and (is_writable(self.path) or identity(self.path) != opened.identity)

    @property
    def is_current(self) -> bool:
        """Whether the opened files are still there under their names. Takes a few µs."""
        return self._opened.read_only or identity(self.path) == self._opened.identity

    @property
    def has_index(self) -> bool:
        """Whether the index of the log is still there; if not, other processes may begin another one."""
        return self._opened.read_only or file_id(f"{self.path}-shm") == self._opened.log_index

    def refuse_outdated(self) -> None:
        """Raise StoreReadOnlyError for a store of an older PlantDesk that cannot be updated: no query fits it."""
        if self.read_only:
            with translate_errors(), contextlib.closing(self.connect()) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version < SCHEMA_VERSION:
                raise StoreReadOnlyError(named(self.path))

    def check(self) -> None:
        """Raise StoreMovedError unless `is_current`."""
        if not self.is_current:
            raise StoreMovedError

    def connect(self) -> sqlite3.Connection:
        """Open a connection to the file that was checked, for any one thread at a time; the caller closes it.

        Waits up to a second for the writer to `reopen` a file that was replaced. Raises StoreMovedError and
        sqlite3.Error.
        """
        until = time.monotonic() + HOLDER_TIMEOUT
        while not self.is_current and time.monotonic() < until:
            time.sleep(_RETRY_DELAY)
        self.check()
        opened = self._opened
        connection = connect_for_reading(self.path) if opened.read_only else connect(self.path)
        if file_id(self.path) != opened.identity.database:  # nothing was read yet: no log was touched
            connection.close()
            raise StoreMovedError
        configure(connection)
        if not self.is_current:  # SQLite may have begun a new log instead of one that was deleted
            connection.close()
            raise StoreMovedError
        return connection

    def checkpoint(self) -> bool:
        """Copy what readers allow from the log into the file; return whether that was all.

        On the thread that may `reopen`. Raises sqlite3.Error.
        """
        if not self.is_current:  # the log of a replaced file is nobody's to copy
            return False
        is_busy, pages, copied = self._opened.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return not is_busy and pages == copied

    @property
    def last_written(self) -> tuple[int, int]:
        """Time (ns) and size of the file without its log, which checkpoints change; zeros if it is gone."""
        with contextlib.suppress(OSError):
            status = self.path.stat()
            return status.st_mtime_ns, status.st_size
        return 0, 0

    @property
    def has_name(self) -> bool:
        """Whether the opened database is still under its name, whatever its content is."""
        return file_id(self.path) == self._opened.identity.database

    def reopen(self) -> None:
        """Open what is under the name now, after it was replaced or has become writable. Raises StoreError.

        The files of before must be of no use to anyone any more: a log of theirs that is in the way is quarantined.
        """
        with naming(self.path):
            if not self.is_there:
                raise StoreMovedError
            old = self._opened
            if not (old.read_only or is_writable(self.path)):
                # Connections for reading would keep the log's index of the file before, also for later writes.
                raise StoreReadOnlyError
            try:
                self._opened = open_file(self.path)
            except (ForeignFileError, StoreDamagedError):
                self._remove_log(old.identity)
                raise
            self.generation += 1
        old.connection.close()

    def _remove_log(self, used: FileIdentity) -> None:
        """Quarantine the log that was `used`, if it is beside another file now: SQLite would apply it to that."""
        with locked(self.path):
            if not self.has_name and file_id(f"{self.path}-wal") == used.wal:
                Backups(self.path).quarantine_log(self.path)

    def quarantine_log(self) -> None:
        """Put a copy of an overwritten file in its place, once it is written no more, and quarantine the log.

        SQLite moves no log into a file that has lost its name. Raises StoreError.
        """
        for _ in range(_MAX_SETTLING):
            written = self.last_written
            time.sleep(_SETTLED)
            if written == self.last_written:
                break
        with naming(self.path), locked(self.path), replaced_file(self.path) as temporary:
            shutil.copyfile(self.path, temporary)
            Backups(self.path).quarantine_log(self.path)

    def rebuild(self, connection: sqlite3.Connection) -> None:
        """Replace the file, after its log or index was deleted while in use, by a copy of what `connection` sees.

        Another log for the same file would not know of this one, and SQLite keeps the index while any connection of
        this process is open. Does nothing if the file was replaced. Raises OSError and StoreError.
        """
        with locked(self.path) as lock:
            now, known = identity(self.path), self._opened.identity
            is_ours = lock.noted.used in {known, FileIdentity()} and now.database == known.database
            if is_ours and not (now.wal == known.wal and self.has_index):
                # Commits by the same index wait, and are refused if the file is replaced.
                with translate_errors(), transaction(self._opened.connection), replaced_file(self.path) as temporary:
                    fill_copy(connection, temporary)
                    Backups(self.path).quarantine_log(self.path)

    def close(self) -> None:
        """Close the connection that keeps the log. May be called again."""
        with contextlib.suppress(OSError, StoreError):
            if not self._opened.read_only:
                self._close_and_note()
        self._opened.connection.close()

    def _close_and_note(self) -> None:
        """Note that SQLite has deleted the log, as it does for the last process; else the log would count as lost."""
        opened = self._opened
        with locked(self.path) as lock:
            is_whole = lock.noted.used == opened.identity == identity(self.path)
            opened.connection.close()
            if is_whole and not os.path.lexists(f"{self.path}-wal"):
                lock.note(FileIdentity(opened.identity.database), lock.noted.store)
