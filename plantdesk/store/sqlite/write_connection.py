"""The writer's connection to one file: where it is in the commits of all processes, and checkpoints when they are due.

Invariants, which tests/store/test_tracker_model.py checks beside other writers and failing commits:

1. `position` is the state after the last commit that this connection has read or made, even if that commit counts as
   failed because its file was moved. Nothing of an open or failed transaction is in it.
2. A commit of another connection changes `PRAGMA data_version`, a commit of this one does not
   (https://sqlite.org/pragma.html#pragma_data_version). So `poll` finds all that others commit. It misses only a commit
   of a program that records nothing, such as sqlite3, if PlantDesk commits between the same polls. A transaction of
   others that begins a new log changes the version as well, before its commit: then all is read again once too often.
3. Each commit counts itself, so that a log has a number of its own (`files/log_origin`): the first commit after a
   checkpoint of this process gives it one.

Belongs to the writer thread.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.records import Changes
from plantdesk.store.rows import changes_since
from plantdesk.store.sqlite.connections import snapshot, transaction
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files.disk import max_log_size
from plantdesk.store.sqlite.files.log_origin import state_without_log
from plantdesk.store.sqlite.files.open_checks import has_store_header, log_size
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.migrations import check_schema
from plantdesk.store.sqlite.numbers import FileState, begin_log, count_commit, position

#: Bytes of the log for a small commit, more than it takes as a rule, so that the log is seldom cut; and the number of
#: rows that write about as much.
_COMMIT_SIZE, _COMMIT_ROWS = 32_000, 20


class WriteConnection:
    """A connection for writing to one file: finds what others commit, and runs checkpoints.

    A checkpoint is safe from the WAL-reset bug of SQLite before 3.51.3. That needs a write at the very moment of
    another connection's checkpoint. Holding the write lock on this connection while a second one runs the checkpoint
    excludes it, between processes as well. Only a passive checkpoint is used: it waits for nobody, and what readers
    still need stays for the next time.
    """

    def __init__(self, file: StoreFile) -> None:
        """Open the connection and read the present state. Raises StoreMovedError and sqlite3.Error."""
        self._file, self._max_log = file, max_log_size(file.path.parent)
        self.sqlite = file.connect()
        self.sqlite.execute("PRAGMA cache_size = -32768")  # 32 MiB, as a change may touch all pages
        self.sqlite.execute(f"PRAGMA journal_size_limit = {self._max_log}")
        #: Commits in the log, and rows that had been written before them.
        self._commits, self._rows = 0, self.sqlite.total_changes
        #: Whether the next commit may begin a log, as after a checkpoint.
        self._begins_log = True
        #: Time and size of the file when it was checked last, and when another content was found in it.
        self._checked = self._foreign = (0, 0)
        #: The state of the file without its log at the last check.
        self._base: FileState | None = None
        try:
            self._version, self._schema = self._data_version(), self._schema_version()
            #: The state after the last commit that was read or made.
            self.position = position(self.sqlite)
        except StoreDamagedError:
            self.sqlite.close()
            raise

    @contextlib.contextmanager
    def transaction(self, publish: Callable[[Changes], None]) -> Iterator[None]:
        """Commit what a block writes, after what others have committed was passed to `publish`.

        Raises StoreDamagedError and sqlite3.Error.
        """
        with transaction(self.sqlite):
            publish(self.poll())
            yield
            base = state_without_log(self._file.path) if self._begins_log else None  # the lock excludes checkpoints
            now = count_commit(self.sqlite) if base is None else begin_log(self.sqlite, base)
        self.position, self._begins_log = now, False
        self._base = base or self._base
        self._commits += 1

    # --- commits of others ---

    def poll(self) -> Changes:
        """Return what others committed since the last call, mostly nothing. Cheap when nothing was.

        All is read in one snapshot, the caller's transaction or one of its own: two commits close together would
        otherwise hide each other. Raises StoreDamagedError and sqlite3.Error.
        """
        if self.sqlite.in_transaction:
            return self._poll()
        if self._data_version() == self._version:
            return Changes()
        with snapshot(self.sqlite):
            return self._poll()

    def _poll(self) -> Changes:
        # In a transaction the version is that of its snapshot, after something was read; each write comes through here.
        self.sqlite.execute("SELECT 1 FROM store").fetchone()
        version = self._data_version()
        if version == self._version:
            return Changes()
        if (schema := self._schema_version()) != self._schema:  # a trigger of another program would be executed
            check_schema(self.sqlite, *self.sqlite.execute("PRAGMA user_version").fetchone())
            self._schema = schema
        known, now = self.position, position(self.sqlite)
        changes = changes_since(runner_of(self.sqlite), known.seq, known.change)()
        self._version, self.position = version, now
        self._commits += 1  # whoever wrote it may be gone before its log is due
        # Else by a program that does not count its commits, such as sqlite3, or not yet.
        is_recorded = now.seq > known.seq or now.change > known.change or now.commits != known.commits
        needs_reload = changes.needs_reload or not is_recorded
        return changes._replace(history=now.change > known.change, needs_reload=needs_reload, tokens=True)

    def _data_version(self) -> int:
        (version,) = self.sqlite.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _schema_version(self) -> int:
        (version,) = self.sqlite.execute("PRAGMA schema_version").fetchone()
        return int(version)

    # --- the log ---

    def is_overwritten(self) -> bool:
        """Return whether another program has written something else into the file, as `cp` does, and note its state.

        What begins as a store but is damaged is found when it is read. Takes a few µs, and a millisecond after a
        checkpoint. Raises sqlite3.Error.
        """
        written = self._file.last_written
        if written == self._checked or not self._file.has_name:
            return False
        if written == self._foreign:
            return True
        base = state_without_log(self._file.path)
        if (base is None and has_store_header(self._file.path)) or self._data_version() != self._version:
            return False  # a checkpoint runs, or others have committed
        if base is not None and (self._base is None or base.follows(self._base, self.position.commits)):
            self._checked, self._base = written, base
            return False
        self._foreign = written
        return True

    @property
    def has_pending(self) -> bool:
        """Whether the log has commits that are not in the file yet."""
        return self._commits > 0

    @property
    def is_checkpoint_due(self) -> bool:
        """Whether so much was committed that the log should be moved now, to keep it within `max_log_size`."""
        rows = self.sqlite.total_changes - self._rows
        return (self._commits + rows // _COMMIT_ROWS) * _COMMIT_SIZE >= self._max_log

    def checkpoint(self) -> bool:
        """Checkpoint what can be; return whether the log is too long and nothing in it is needed any more.

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
        self._commits, self._rows = 0 if is_whole else 1, self.sqlite.total_changes  # to try again when idle
        self._begins_log = True
        return is_whole and log_size(self._file.path) > self._max_log

    def is_locked(self) -> bool:
        """Return whether another connection writes now, or something else keeps this one from writing."""
        (timeout,) = self.sqlite.execute("PRAGMA busy_timeout").fetchone()
        self.sqlite.execute("PRAGMA busy_timeout = 0")
        try:
            with transaction(self.sqlite):
                return False
        except sqlite3.Error:
            return True
        finally:
            self.sqlite.execute(f"PRAGMA busy_timeout = {timeout}")
