"""What the writer knows about the commits in its file: the one owner of each counter that it compares with the file.

Invariants, which tests/store/test_commit_tracker.py checks beside other writers and failing commits:

1. `position` is what the last commit that this connection has read or made has left, also where that commit counts as
   failed because its file was moved. Nothing of an open or failed transaction is in it.
2. A commit of another connection changes `PRAGMA data_version`, a commit of this one does not
   (https://sqlite.org/pragma.html#pragma_data_version). So `poll` finds all that others commit, and nothing else, but
   for one of a program that records nothing, such as sqlite3, where PlantDesk commits as well between two polls.
3. Each plant takes the next `seq`, which is unique; each commit that does more than add plants changes the key, or
   `last_seq` where it deletes some. So a statement that adds plants from `position.seq` + 1 on, only `WHERE (COUNTERS)`
   is `position.counters`, either continues the known state or changes nothing.
4. The first commit of a new log has a key of its own (`commit_key`): another process may checkpoint at any time, and
   begins a log with it, so a key is due a second after the last one, and after a checkpoint of this process.

Belongs to the writer thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from plantdesk.domain.records import Changes, now_ms
from plantdesk.store.rows import changes_since
from plantdesk.store.sqlite import commit_key
from plantdesk.store.sqlite.connections import snapshot, transaction
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.numbers import last_number, last_seq

#: Milliseconds for which a key is good.
_KEY_TIME = 1000


class Position(NamedTuple):
    """A state of the file, as far as commits change it: the largest `seq`, the last change, and the `COUNTERS`."""

    seq: int
    change: int
    counters: tuple[int, int]


class CommitTracker:
    """Finds what others commit, and knows where the writer's next commit begins."""

    def __init__(self, connection: sqlite3.Connection, on_unrecorded: Callable[[], object] = int) -> None:
        """Read the present state. Raises StoreDamagedError and sqlite3.Error.

        `on_unrecorded` is called for a commit that neither history nor sequence numbers show, as of sqlite3.
        """
        self._connection = connection
        self._on_unrecorded = on_unrecorded
        self._version = self._data_version()
        #: The state after the last commit that was read or made.
        self.position = self.read_position()
        self._renewed_at: int | None = None

    @property
    def is_key_due(self) -> bool:
        """Whether the next transaction must renew the key."""
        return self._renewed_at is None or not 0 <= now_ms() - self._renewed_at <= _KEY_TIME

    def require_key(self) -> None:
        """Let the next transaction renew the key: after a checkpoint of this process, it may begin a new log."""
        self._renewed_at = None

    def poll(self) -> Changes:
        """Return what others committed since the last call, mostly nothing. Cheap when nothing was.

        All is read in one snapshot, the caller's transaction or one of its own: two commits close together would
        otherwise hide each other. Raises sqlite3.Error.
        """
        before = (self._version, self.position)
        if self._connection.in_transaction:
            changes, is_recorded = self._poll()
        elif self._data_version() == self._version:
            return Changes()
        else:
            with snapshot(self._connection):
                changes, is_recorded = self._poll()
            if not is_recorded and is_locked(self._connection):
                # A transaction that begins a new log changes the version as well, before its commit. Poll again then.
                self._version, self.position = before
                return Changes()
        if not is_recorded:
            self._on_unrecorded()
        return changes

    def own_changes(self) -> Changes:
        """Return what the present write transaction has changed. Raises sqlite3.Error."""
        return self._since(self.position)[0]

    def committed(self, position: Position) -> None:
        """Adopt the position that was read at the end of a transaction with a new key, which is durable now."""
        self.position, self._renewed_at = position, now_ms()

    def added(self, plants: int) -> None:
        """Note so many plants that were added behind `position`, and nothing else."""
        self.position = self.position._replace(seq=self.position.seq + plants)

    def read_position(self) -> Position:
        """Return the state that the connection sees. Raises StoreDamagedError and sqlite3.Error."""
        seq, change = last_seq(self._connection), last_number(self._connection)
        return Position(seq, change, self._connection.execute(commit_key.COUNTERS).fetchone())

    def _poll(self) -> tuple[Changes, bool]:
        """Return what others committed, and whether history or sequence numbers show it."""
        # In a transaction the version is that of its snapshot, after something was read; each write comes through here.
        self._connection.execute("SELECT 1 FROM store").fetchone()
        version = self._data_version()
        if version == self._version:
            return Changes(), True
        known = self.position
        changes, now = self._since(known)
        self._version, self.position = version, now
        # Else by a program that renews no key, such as sqlite3.
        is_recorded = now.seq > known.seq or now.change > known.change or now.counters[1] != known.counters[1]
        if not is_recorded:
            self.require_key()  # the next plants are added by reading: it may have changed tokens
        needs_reload = changes.needs_reload or not is_recorded
        return changes._replace(needs_reload=needs_reload, tokens=True), is_recorded

    def _since(self, known: Position) -> tuple[Changes, Position]:
        now = self.read_position()
        changes = changes_since(runner(self._connection), known.seq, known.change)()
        return changes._replace(history=now.change > known.change), now

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
