"""Durable transactions in the file at the store's path, checkpoints, and polls for commits of other processes.

`SqliteTransactions` opens a new `WriteConnection` when another file has replaced the one of the old connection. Both
belong to the writer thread, as does the health of the store: whether the last attempt to write succeeded.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import (
    BackupFolderError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.domain.records import Changes
from plantdesk.domain.texts import Text
from plantdesk.store.base import WriteHealth
from plantdesk.store.history import is_prunable, prune
from plantdesk.store.rows import read_changes_since
from plantdesk.store.sqlite.connections import snapshot, transaction, translate_errors
from plantdesk.store.sqlite.counters import FileState, begin_log, count_commit, read_counters
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files.backup_folder import BackupFolder
from plantdesk.store.sqlite.files.disk import max_log_size
from plantdesk.store.sqlite.files.file_lock import StoreFiles, files_at
from plantdesk.store.sqlite.files.open_checks import attach_for_reading, has_store_header, log_size, state_without_log
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.migrations import check_schema

_log = logging.getLogger(__name__)

#: Seconds after which a file that could not be opened is tried again, if it is still the same.
_REOPEN_DELAY = 2.0
#: Seconds between two polls for commits of other processes, to notice them within 100 ms. A poll takes 0.1 ms.
POLL_INTERVAL = 0.08
#: Polls without a job, about a second, after which a checkpoint runs.
_QUIET_POLLS = 12
#: Polls between two releases of the connection's cache: about ten seconds.
_RELEASE_POLLS = 125
#: Polls after which a store that cannot be written to is tried again: about two seconds.
_RETRY_POLLS = 25
#: Estimated bytes of the log for a small commit (most take fewer, so that the log is seldom cut), and the rows that
#: write about as much.
_COMMIT_BYTES = 32_000
_COMMIT_ROWS = 20


class WriteConnection:
    """A connection for writing to one file: finds what others commit, and runs checkpoints.

    Invariants, which tests/store/test_tracker_model.py checks beside other writers and failing commits:

    1. `counters` is the state after the last commit that this connection has read or made, even if that commit counts
       as failed because its file was moved. Nothing of an open or failed transaction is in it.
    2. A commit of another connection changes `PRAGMA data_version`, a commit of this one does not
       (https://sqlite.org/pragma.html#pragma_data_version). So `poll` finds all that others commit. It misses only a
       commit of a program that records nothing, such as sqlite3, if PlantDesk commits between the same polls. A
       transaction of others that begins a new log changes the version as well, before its commit: then all is read
       again once too often.
    3. Each commit counts itself, so that a log has a number of its own (`files/open_checks`): the first commit after a
       checkpoint of this process gives it one.

    A checkpoint is safe from the WAL-reset bug of SQLite before 3.51.3. That needs a write at the very moment of
    another connection's checkpoint. Holding the write lock on this connection while a second one runs the checkpoint
    excludes it, between processes as well. Only a passive checkpoint is used: it waits for nobody, and what readers
    still need stays for the next time.
    """

    def __init__(self, file: StoreFile) -> None:
        """Open the connection and read the present state. Raises StoreMovedError and sqlite3.Error."""
        self._file = file
        self._max_log_bytes = max_log_size(file.path.parent)
        self.sqlite = file.connect()
        self.sqlite.execute("PRAGMA cache_size = -32768")  # 32 MiB, as a change may touch all pages
        self.sqlite.execute(f"PRAGMA journal_size_limit = {self._max_log_bytes}")
        #: Commits in the log, and rows that had been written before them.
        self._commits = 0
        self._rows = self.sqlite.total_changes
        #: Whether the next commit may begin a log, as after a checkpoint.
        self._begins_log = True
        #: Time and size of the file when it was checked last, and when another content was found in it.
        self._checked_stamp = self._foreign_stamp = (0, 0)
        #: The state of the file without its log at the last check.
        self._checked_state: FileState | None = None
        try:
            self._version = self._data_version()
            self._schema = self._schema_version()
            #: The state after the last commit that was read or made.
            self.counters = read_counters(self.sqlite)
        except BaseException:
            self.sqlite.close()
            raise

    @contextlib.contextmanager
    def write_transaction(self, publish: Callable[[Changes], None]) -> Iterator[None]:
        """Publish what others committed, then commit what a block writes. Raises StoreDamagedError, sqlite3.Error."""
        with transaction(self.sqlite):
            publish(self.poll())
            yield
            base = state_without_log(self._file.path) if self._begins_log else None  # the lock excludes checkpoints
            counters = count_commit(self.sqlite) if base is None else begin_log(self.sqlite, base)
        self.counters = counters
        self._begins_log = False
        self._checked_state = base or self._checked_state
        self._commits += 1

    def poll(self) -> Changes:
        """Return what others have committed since the last call; this is fast if they have not.

        All is read in one snapshot, that of the caller's transaction or its own: else two commits close together could
        hide each other. Raises StoreDamagedError and sqlite3.Error.
        """
        if self.sqlite.in_transaction:
            return self._poll()
        if self._data_version() == self._version:
            return Changes()
        with snapshot(self.sqlite):
            return self._poll()

    def _poll(self) -> Changes:
        """Return what others have committed since `counters`, and update these; called in an open transaction."""
        # In a transaction the version is that of its snapshot, after something was read; each write comes through here.
        self.sqlite.execute("SELECT 1 FROM store").fetchone()
        version = self._data_version()
        if version == self._version:
            return Changes()
        if (schema := self._schema_version()) != self._schema:  # a trigger of another program would be executed
            check_schema(self.sqlite, *self.sqlite.execute("PRAGMA user_version").fetchone())
            self._schema = schema
        before = self.counters
        counters = read_counters(self.sqlite)
        changes = read_changes_since(runner_of(self.sqlite), before.seq, before.change)
        self._version = version
        self.counters = counters
        self._commits += 1  # whoever wrote it may be gone before its log is due
        # Else by a program that does not count its commits, such as sqlite3, or not yet.
        is_recorded = counters.seq > before.seq or counters.change > before.change or counters.commits != before.commits
        needs_reload = changes.needs_reload or not is_recorded
        return changes._replace(
            history_changed=counters.change > before.change, needs_reload=needs_reload, tokens_changed=True
        )

    def _data_version(self) -> int:
        (version,) = self.sqlite.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _schema_version(self) -> int:
        (version,) = self.sqlite.execute("PRAGMA schema_version").fetchone()
        return int(version)

    def is_overwritten(self) -> bool:
        """Return whether another program has overwritten the content of the file, as `cp` does, and note its state.

        A damaged store is found when it is read. Takes a few µs, and a millisecond after a checkpoint. Raises
        sqlite3.Error.
        """
        stamp = self._file.write_stamp
        if stamp == self._checked_stamp or not self._file.is_at_its_path:
            return False
        if stamp == self._foreign_stamp:
            return True
        base = state_without_log(self._file.path)
        if (base is None and has_store_header(self._file.path)) or self._data_version() != self._version:
            return False  # a checkpoint runs, or others have committed
        if base is not None and (
            self._checked_state is None or base.follows(self._checked_state, self.counters.commits)
        ):
            self._checked_stamp = stamp
            self._checked_state = base
            return False
        self._foreign_stamp = stamp
        return True

    @property
    def has_pending_commits(self) -> bool:
        """Whether the log has commits that are not in the file yet."""
        return self._commits > 0

    @property
    def is_checkpoint_due(self) -> bool:
        """Whether so much was committed that a checkpoint should run now, to keep the log within `max_log_size`."""
        rows = self.sqlite.total_changes - self._rows
        return (self._commits + rows // _COMMIT_ROWS) * _COMMIT_BYTES >= self._max_log_bytes

    def checkpoint(self) -> bool:
        """Run a checkpoint; return whether it is complete, and the log too long, so that it should begin anew.

        An error loses nothing, as the log keeps the commits: the next write reports it.
        """
        is_whole = False
        with contextlib.suppress(sqlite3.Error):
            self.sqlite.execute("BEGIN IMMEDIATE")
            try:
                is_whole = not self.is_overwritten() and self._file.checkpoint()
                self.is_overwritten()  # notes the new state
            finally:
                self.sqlite.execute("ROLLBACK")
        self._commits = 0 if is_whole else 1  # tried again when idle
        self._rows = self.sqlite.total_changes
        self._begins_log = True
        return is_whole and log_size(self._file.path) > self._max_log_bytes

    def is_locked(self) -> bool:
        """Try to take the write lock for a moment, without waiting for it; return whether that fails, for any cause."""
        (timeout,) = self.sqlite.execute("PRAGMA busy_timeout").fetchone()
        self.sqlite.execute("PRAGMA busy_timeout = 0")
        try:
            with transaction(self.sqlite):
                return False
        except sqlite3.Error:
            return True
        finally:
            self.sqlite.execute(f"PRAGMA busy_timeout = {timeout}")


class UnsavedError(StoreError):
    """Something that was committed is no longer in any file."""

    text = Text("The database was moved, replaced or deleted just after something was saved, which is lost. {reason}")


class SqliteTransactions:
    """Begins transactions, publishes what others commit, and keeps the store's health up to date.

    The content of a replaced or removed file is first saved as a backup, once, from the connection that is still open
    to it. An overwritten file has lost its content: its log is quarantined when the file is opened again.
    """

    def __init__(self, file: StoreFile, publish: Callable[[Changes], None], health: WriteHealth) -> None:
        """Connect, unless the file can only be read. Raises StoreError."""
        self._file = file
        self._publish = publish
        self._health = health
        #: The connection that was used last; its file may have been replaced meanwhile.
        self._current: WriteConnection | None = None
        #: Whether the content of a replaced file is in a backup, and whether listeners must be told of another file.
        self._is_old_file_saved = self._must_announce_file = False
        #: Why the file could not be opened, which files these were, and the time (monotonic) of the next attempt.
        self._failure: tuple[StoreError, StoreFiles, float] | None = None
        if file.read_only:
            health.record(StoreReadOnlyError())
        else:
            with translate_errors():
                self._current = WriteConnection(file)

    @property
    def _is_damaged(self) -> bool:
        """Whether SQLite found the file malformed; a successful write does not end that, only another file."""
        return isinstance(self._health.error, StoreDamagedError)

    def close(self) -> None:
        """Close the connection; save the content of a file that was replaced or removed. Raises UnsavedError."""
        connection = self._current
        self._current = None
        if connection is None:
            return
        try:
            with translate_errors():
                if connection.is_overwritten():
                    self._file.replace_overwritten()
                    raise StoreMovedError
                if not self._file.is_current:
                    self._save_old_file(connection.sqlite)
        except StoreError as error:
            raise UnsavedError(reason=error.text) from error
        finally:
            connection.sqlite.close()

    def open_connection(self) -> WriteConnection:
        """Return the connection to the file now at the path; tell listeners if it is a new file. Raises StoreError."""
        if self._current is not None and self._is_usable(self._current):
            self._is_old_file_saved = False  # any process may write to it from now on
            connection = self._current
        else:
            connection = self._current = self._reopen_after_delay()
        if self._must_announce_file:
            self._must_announce_file = False
            self._health.record(None)
            self._publish(Changes(needs_reload=True, tokens_changed=True))
        return connection

    def _is_usable(self, connection: WriteConnection) -> bool:
        return self._file.is_current and self._file.has_index and not connection.is_overwritten()

    def _reopen_after_delay(self) -> WriteConnection:
        """Reopen the file; soon after a failure, raise that failure again."""
        if self._failure is not None:
            error, files, retry_at = self._failure
            if time.monotonic() < retry_at and files == files_at(self._file.path):
                raise error
        try:
            connection = self._reopen()
        except StoreError as error:
            self._failure = error, files_at(self._file.path), time.monotonic() + _REOPEN_DELAY
            raise
        self._failure = None
        self._is_old_file_saved = False
        self._must_announce_file = True
        return connection

    def _reopen(self) -> WriteConnection:
        """Save what must be saved of the old file, and open the file that has the name now. Raises StoreError."""
        if self._file.read_only and not self._file.may_be_writable:
            raise StoreReadOnlyError
        if self._current is not None:
            self._leave_file(self._current)
        elif not self._file.is_current or self._file.read_only:
            self._file.reopen()
        if self._file.read_only:
            raise StoreReadOnlyError
        with translate_errors():
            return WriteConnection(self._file)

    def _leave_file(self, connection: WriteConnection) -> None:
        """Save the content of the replaced file, or quarantine the log of an overwritten one; open the new file."""
        if connection.is_overwritten():
            _, size = self._file.write_stamp
            if not size:  # emptied: what fills it is opened, or a backup is restored
                raise StoreMovedError
            self._file.replace_overwritten()
            self._is_old_file_saved = True
        try:
            self._save_old_file(connection.sqlite)
        except (BackupFolderError, StoreBusyError, StoreFullError, StoreReadOnlyError) as error:
            if not os.path.lexists(self._file.path):  # the first thing to know
                raise StoreMovedError from error
            raise
        except StoreError as error:  # it may have been replaced for that
            _log.error("What the replaced file held cannot be read: %s", error)
            self._is_old_file_saved = True
        try:
            self._file.rebuild(connection.sqlite)
        except OSError as error:
            raise StoreUnreachableError from error
        self._file.reopen()
        connection.sqlite.close()
        self._current = None
        _log.warning("Opened the file that has taken the place of %s", self._file.path.name)

    def _save_old_file(self, connection: sqlite3.Connection) -> None:
        if not self._is_old_file_saved:
            backup = BackupFolder(self._file.path).make_from(connection, BackupKind.REPLACED)
            _log.warning("The file was replaced or removed; what it held is saved as %s", backup.path.name)
            self._is_old_file_saved = True

    def poll(self) -> None:
        """Publish what others have committed; open a file that has replaced the present one. Record errors only."""
        try:
            with translate_errors():
                connection = self.open_connection()
                changes = connection.poll()
        except StoreError as error:
            self._health.record(error)
            return
        self._publish(changes)

    @contextlib.contextmanager
    def durable_transaction(self) -> Iterator[WriteConnection]:
        """Commit what a block writes, durably, to the file now at the path; record the health. Raises StoreError."""
        try:
            with translate_errors():
                connection = self.open_connection()
                with connection.write_transaction(self._publish):
                    yield connection
                self._file.raise_if_moved()
                if connection.is_overwritten():
                    raise StoreMovedError
        except StoreError as error:
            if isinstance(error, StoreMovedError):
                self._must_announce_file = True  # if the file returns, what was committed to it is published
            self._health.record(error)
            raise
        if not self._is_damaged:
            self._health.record(None)

    def checkpoint_if_due(self) -> None:
        """Run a checkpoint if much was committed since the last one."""
        if self._current is not None and self._current.is_checkpoint_due:
            self._checkpoint(self._current)

    def _checkpoint(self, connection: WriteConnection) -> None:
        if connection.checkpoint():
            with contextlib.suppress(StoreError), self.durable_transaction():
                pass  # it begins a new log, which SQLite cuts

    @contextlib.contextmanager
    def attached_file(self, file: Path | None) -> Iterator[None]:
        """Attach a file of SQLite, unless it is None, as `other` for a block. Raises StoreError."""
        if file is None:
            yield
            return
        with translate_errors(), attach_for_reading(connection := self.open_connection().sqlite, file):
            connection.execute("PRAGMA foreign_keys = OFF")  # plants get a source of the same transaction
            try:
                yield
            finally:
                connection.execute("PRAGMA foreign_keys = ON")

    def work_idly(self, polls: int, is_idle: Callable[[], bool]) -> None:
        """Poll for commits of others; now and then run a checkpoint, prune, and try a store that could not be written.

        `polls` is the number of polls since the last job; `is_idle` returns whether nothing is queued.
        """
        self.poll()
        if polls % _QUIET_POLLS == 0:
            self._checkpoint_and_prune(is_idle)
        if polls % _RELEASE_POLLS == 0 and self._current is not None:
            self._current.sqlite.execute("PRAGMA shrink_memory")  # up to 36 MB of pages after an import
        if polls % _RETRY_POLLS == 0 and self._health.error is not None and not self._is_damaged:
            with contextlib.suppress(StoreError), self.durable_transaction():
                pass  # the count of such commits is written

    def _checkpoint_and_prune(self, is_idle: Callable[[], bool]) -> None:
        connection = self._current
        if connection is not None and connection.has_pending_commits and not connection.is_locked():
            self._checkpoint(connection)
            self._prune(is_idle)

    def _prune(self, is_idle: Callable[[], bool]) -> None:
        """Remove outdated before-images, a few at a time, so that a plant waits for milliseconds only."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            while is_idle() and self._current is not None and is_prunable(runner_of(self._current.sqlite)):
                if self._current.is_locked():  # a wait would delay the notice of what another process commits
                    return
                with self.durable_transaction() as connection:
                    prune(runner_of(connection.sqlite))
