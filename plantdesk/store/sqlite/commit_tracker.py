"""What the writer knows about the commits in its file: the one owner of each counter that it compares with the file.

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

import sqlite3
from typing import TYPE_CHECKING

from plantdesk.domain.records import Changes
from plantdesk.store.rows import changes_since
from plantdesk.store.sqlite.connections import snapshot, transaction
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.numbers import begin_log, count_commit, position

if TYPE_CHECKING:
    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.sqlite.numbers import Position


class CommitTracker:
    """Finds what others commit, and knows where the writer's next commit begins."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read the present state. Raises StoreDamagedError and sqlite3.Error."""
        self._connection = connection
        self._version = self._data_version()
        #: The state after the last commit that was read or made.
        self.position = position(connection)
        #: Whether the next commit may begin a log, as after a checkpoint.
        self.begins_log = True

    def count(self, file: StoreFile) -> Position:
        """Count the present write transaction, which keeps others from checkpoints; return the state at its end.

        Raises StoreDamagedError and sqlite3.Error.
        """
        base = file.state_without_log if self.begins_log else None
        return count_commit(self._connection) if base is None else begin_log(self._connection, base)

    def poll(self) -> Changes:
        """Return what others committed since the last call, mostly nothing. Cheap when nothing was.

        All is read in one snapshot, the caller's transaction or one of its own: two commits close together would
        otherwise hide each other. Raises sqlite3.Error.
        """
        if self._connection.in_transaction:
            return self._poll()
        if self._data_version() == self._version:
            return Changes()
        with snapshot(self._connection):
            return self._poll()

    def committed(self, now: Position) -> None:
        """Adopt the position that was read at the end of a transaction that is durable now."""
        self.position, self.begins_log = now, False

    def _poll(self) -> Changes:
        # In a transaction the version is that of its snapshot, after something was read; each write comes through here.
        self._connection.execute("SELECT 1 FROM store").fetchone()
        version = self._data_version()
        if version == self._version:
            return Changes()
        known, now = self.position, position(self._connection)
        changes = changes_since(runner(self._connection), known.seq, known.change)()
        self._version, self.position = version, now
        # Else by a program that does not count its commits, such as sqlite3, or not yet.
        is_recorded = now.seq > known.seq or now.change > known.change or now.commits != known.commits
        needs_reload = changes.needs_reload or not is_recorded
        return changes._replace(history=now.change > known.change, needs_reload=needs_reload, tokens=True)

    def _data_version(self) -> int:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)


def is_locked(connection: sqlite3.Connection) -> bool:
    """Return whether another connection writes now, or something else keeps this one from writing."""
    (timeout,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        with transaction(connection):
            return False
    except sqlite3.Error:
        return True
    finally:
        connection.execute(f"PRAGMA busy_timeout = {timeout}")
