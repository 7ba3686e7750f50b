"""Noticing what other processes wrote to the same file.

SQLite's `PRAGMA data_version`, asked on the writer's own connection, changes exactly when another connection has
committed (https://sqlite.org/pragma.html#pragma_data_version); within a process only the writer commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plantdesk.records import Changes
from plantdesk.store.rows import last_seq, rows_since

if TYPE_CHECKING:
    import sqlite3

#: More new plants than this are not listed: a listener reads them again.
_MAX_LISTED = 1000


class _Counters(NamedTuple):
    rewritten: int
    other_commits: int


class Watch:
    """Knows up to where the writer has seen the file. Belongs to the writer thread."""

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

    def own_commit(self, added: int) -> None:
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
