"""The writer's connection: its checkpoints, what other processes commit, and the change to a file that replaced it.

Belongs to the writer thread.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.errors import (
    BackupFolderError,
    StoreDamagedError,
    StoreError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.records import Changes
from plantdesk.store.sqlite.backups.folder import BackupKind, Backups
from plantdesk.store.sqlite.connections import driver_connection, make_engine, translate_errors
from plantdesk.store.sqlite.row_reads import last_seq, rows_since

if TYPE_CHECKING:
    from plantdesk.store.sqlite.files.file_lock import Identity
    from plantdesk.store.sqlite.files.store_file import StoreFile

_log = logging.getLogger(__name__)

#: Seconds after which a file that could not be opened is tried again, if it is still the same.
_RETRY_DELAY = 2.0
#: Commits after which a checkpoint runs even while more are waiting; about 10 MB of log.
_MAX_COMMITS = 500
#: More new plants of other processes than this are not listed: listeners reload.
_MAX_LISTED = 1000


class Checkpointer:
    """Counts commits and runs a checkpoint when due, safe from the WAL-reset bug of SQLite before 3.51.3.

    That needs a write at the very moment of another connection's checkpoint. Holding the write lock on the writer's
    connection while a second connection runs the checkpoint excludes it, between processes as well. Only a passive
    checkpoint is used: it waits for nobody, and what readers still need stays for the next time.
    """

    def __init__(self, file: StoreFile, writing: sqlite3.Connection) -> None:
        self._file = file
        self._writing = writing
        self._commits = 0

    @property
    def pending(self) -> bool:
        """Whether anything was committed since the last checkpoint."""
        return self._commits > 0

    def committed(self, weight: int = 1) -> None:
        """Note a commit; `weight` is the number of small commits that write about as much."""
        self._commits += weight
        if self._commits >= _MAX_COMMITS:
            self.run()

    def run(self) -> None:
        """Checkpoint what can be. A fault loses nothing, as the log keeps the commits: the next write reports it."""
        self._commits = 0
        with contextlib.suppress(sqlite3.Error):
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                self._file.checkpoint()
            finally:
                self._writing.execute("ROLLBACK")


class _Counters(NamedTuple):
    rewritten: int
    other_commits: int


class ChangeDetector:
    """Finds what other processes committed to the same file.

    `PRAGMA data_version`, read on the writer's own connection, changes exactly when another connection has committed
    (https://sqlite.org/pragma.html#pragma_data_version); within a process only the writer commits.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._data_version()
        self._seq = last_seq(connection)
        self._counters = self._read_counters()

    def poll(self) -> Changes:
        """Return what others committed since the last call, mostly nothing. Cheap when nothing was.

        All is read in one snapshot, the caller's transaction or one of its own: two commits close together would
        otherwise hide each other. Raises sqlite3.Error.
        """
        if self._connection.in_transaction:
            return self._poll()
        if self._data_version() == self._version:
            return Changes()
        self._connection.execute("BEGIN")
        try:
            return self._poll()
        finally:
            self._connection.execute("ROLLBACK")

    def note_commit(self, added: int) -> None:
        """Note that the writer itself has committed so many new plants, or (0) counted a commit of another kind."""
        self._seq += added
        if not added:
            self._counters = self._counters._replace(other_commits=self._counters.other_commits + 1)

    def _poll(self) -> Changes:
        # In a transaction the version is that of its snapshot, as soon as something was read.
        seq, counters = last_seq(self._connection), self._read_counters()
        version = self._data_version()
        if version == self._version:
            return Changes()
        known_seq, known, self._version = self._seq, self._counters, version
        self._seq, self._counters = seq, counters
        rows = rows_since(self._connection, known_seq, _MAX_LISTED + 1)
        is_explained = bool(rows) or counters != known  # else: a program that does not count, such as sqlite3
        needs_reload = not is_explained or len(rows) > _MAX_LISTED or counters.rewritten != known.rewritten
        return Changes(tuple(rows[:_MAX_LISTED]), needs_reload=needs_reload, tokens=True)

    @staticmethod
    def count(connection: sqlite3.Connection) -> None:
        """Count a commit that adds no plant, within its transaction, so that others need not read all plants again."""
        connection.execute("UPDATE store SET other_commits = other_commits + 1")

    def _read_counters(self) -> _Counters:
        return _Counters(*self._connection.execute("SELECT rewritten, other_commits FROM store").fetchone())

    def _data_version(self) -> int:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)


class WriteConnection:
    """A connection for writing to one file, with its checkpoints and the detection of changes."""

    def __init__(self, file: StoreFile) -> None:
        """Open the connection. Raises StoreMovedError, sqlite3.Error and SQLAlchemy's DBAPIError."""
        self.connection = make_engine(file.connect).connect()
        self.raw = driver_connection(self.connection)
        self.checkpointer = Checkpointer(file, self.raw)
        self.detector = ChangeDetector(self.raw)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


class CurrentConnection:
    """The write connection to the file that is at the store's path.

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
            with contextlib.suppress(StoreError):
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
