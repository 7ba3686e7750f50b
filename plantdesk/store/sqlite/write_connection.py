"""The writer's connection: its checkpoints, what other processes commit, and the change to a file that replaced it.

Belongs to the writer thread.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import (
    BackupFolderError,
    StoreDamagedError,
    StoreError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.domain.records import Changes
from plantdesk.store.sqlite import commit_key
from plantdesk.store.sqlite.backups.folder import BackupKind, Backups
from plantdesk.store.sqlite.connections import snapshot, transaction, translate_errors
from plantdesk.store.sqlite.engines import driver_connection, make_engine
from plantdesk.store.sqlite.files.log_origin import log_header
from plantdesk.store.sqlite.history import changed_since, last_number
from plantdesk.store.sqlite.inserts import GroupInserter
from plantdesk.store.sqlite.row_reads import last_seq, rows_by_id, rows_since

if TYPE_CHECKING:
    from plantdesk.store.sqlite.files.file_lock import FileIdentity
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

    @property
    def is_due(self) -> bool:
        """Whether so much was committed that the log should be moved now."""
        return self._commits >= _MAX_COMMITS

    def committed(self, weight: int = 1) -> None:
        """Note a commit; `weight` is the number of small commits that write about as much."""
        self._commits += weight

    def run(self) -> None:
        """Checkpoint what can be. A fault loses nothing, as the log keeps the commits: the next write reports it."""
        self._commits = 0
        with contextlib.suppress(sqlite3.Error):
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                self._file.checkpoint()
            finally:
                self._writing.execute("ROLLBACK")


class _State(NamedTuple):
    """How far a file was read: the newest plant and change, and the key of the last commit that has one."""

    seq: int
    change: int
    key: int


class ChangeDetector:
    """Finds what was committed to the file since the last call, mostly by other processes.

    `PRAGMA data_version`, read on the writer's own connection, changes exactly when another connection has committed
    (https://sqlite.org/pragma.html#pragma_data_version); within a process only the writer commits.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._data_version()
        self._state = self._pending = self._read_state()
        self._renewed: int | None = None

    def poll(self) -> Changes:
        """Return what others committed since the last call, mostly nothing. Cheap when nothing was.

        All is read in one snapshot, the caller's transaction or one of its own: two commits close together would
        otherwise hide each other. Raises sqlite3.Error.
        """
        if self._connection.in_transaction:
            return self._poll()
        if self._data_version() == self._version:
            return Changes()
        before = (self._version, self._state)
        with snapshot(self._connection):
            changes = self._poll()
        if changes.unrecorded and is_locked(self._connection):
            # A transaction that begins a new log changes the version as well, before its commit. Poll again then.
            self._version, self._state = before
            return Changes()
        return changes

    def own_changes(self) -> Changes:
        """Return what the present transaction of the writer has changed. `note_commit` must follow its commit."""
        changes, self._pending = self._since(self._state)
        return changes

    def note_commit(self, changes: Changes) -> None:
        """Record that the writer has committed `changes`: of `own_changes`, or plants added and nothing else."""
        seq, change, key = self._state
        if changes.history:
            self._state = self._pending
        else:
            self._state = _State(seq + len(changes.added), change, self._renewed or key)
        self._renewed = None

    def renew_key(self, *, adds_only: bool) -> None:
        """Give the present transaction of the writer a key of its own. `note_commit` must follow its commit."""
        self._renewed = commit_key.renew(self._connection, adds_only=adds_only)

    def _poll(self) -> Changes:
        # In a transaction the version is that of its snapshot, after something was read; each write comes through here.
        self._connection.execute("SELECT 1 FROM store").fetchone()
        version = self._data_version()
        if version == self._version:
            return Changes()
        known = self._state
        changes, state = self._since(known)
        self._version, self._state = version, state
        # Else by a program that renews no key, such as sqlite3.
        has_grown = state.seq > known.seq or state.change > known.change
        is_explained = has_grown or state.key != known.key
        needs_reload = changes.needs_reload or not is_explained
        return changes._replace(needs_reload=needs_reload, tokens=True, unrecorded=not is_explained)

    def _since(self, known: _State) -> tuple[Changes, _State]:
        state = self._read_state()
        added = rows_since(self._connection, known.seq, _MAX_LISTED + 1)
        touched = changed_since(self._connection, known.change, _MAX_LISTED + 1) if state.change > known.change else []
        if len(added) > _MAX_LISTED or len(touched) > _MAX_LISTED:
            return Changes(tuple(added[:_MAX_LISTED]), needs_reload=True, history=state.change > known.change), state
        rows = rows_by_id(self._connection, touched)
        new = {row.id for row in added}
        updated = tuple(row for plant_id, row in rows.items() if plant_id not in new)
        removed = tuple(plant_id for plant_id in touched if plant_id not in rows)
        return Changes(tuple(added), updated, removed, history=state.change > known.change), state

    def _read_state(self) -> _State:
        seq, change = last_seq(self._connection), last_number(self._connection)
        (key,) = self._connection.execute("SELECT other_commits FROM store").fetchone()
        return _State(seq, change, key)

    def _data_version(self) -> int:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)


def is_locked(connection: sqlite3.Connection) -> bool:
    """Whether another connection writes now, or whatever else keeps this one from writing."""
    (timeout,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        with transaction(connection):
            return False
    except sqlite3.Error:
        return True
    finally:
        connection.execute(f"PRAGMA busy_timeout = {timeout}")


class WriteConnection:
    """A connection for writing to one file, with its checkpoints and the detection of changes."""

    def __init__(self, file: StoreFile) -> None:
        """Open the connection. Raises StoreMovedError, sqlite3.Error and SQLAlchemy's DBAPIError."""
        self.connection = make_engine(file.connect).connect()
        self.raw = driver_connection(self.connection)
        self.raw.execute("PRAGMA cache_size = -32768")  # 32 MiB, as a change may touch all pages
        self.checkpointer = Checkpointer(file, self.raw)
        self._path = file.path
        self._log = b""
        try:
            self.detector = ChangeDetector(self.raw)
            self.inserter = GroupInserter(self.raw)
        except StoreDamagedError:
            self.close()
            raise

    def has_new_log(self) -> bool:
        """Whether a log was begun since the last call: by the last commit, after another program's checkpoint."""
        before, self._log = self._log, log_header(self._path)
        return self._log != before

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
        if self._open is not None and self._file.is_current and self._file.has_index:
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
        self._identity: FileIdentity = file.identity_now
        self._until = time.monotonic() + _RETRY_DELAY

    def is_recent(self, file: StoreFile) -> bool:
        return time.monotonic() < self._until and file.identity_now == self._identity
