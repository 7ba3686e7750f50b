"""Noticing what other processes wrote to the same file.

SQLite's `PRAGMA data_version`, asked on the writer's own connection, changes exactly when another connection has
committed (https://sqlite.org/pragma.html#pragma_data_version); within a process nobody but the writer commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.records import Changes
from plantdesk.store.rows import last_seq, rows_since

if TYPE_CHECKING:
    import sqlite3

#: More new plants than this are not listed: whoever shows plants reads them again.
_LISTED = 1000


class Watch:
    """Knows up to where the writer has seen the file. Belongs to the writer thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._data_version()
        self._seq = last_seq(connection)
        self._rewritten = self._revision()

    def look(self) -> Changes:
        """Return what others wrote since the last look, mostly nothing. Cheap when nothing was."""
        version = self._data_version()
        if version == self._version:
            return Changes()
        rows = rows_since(self._connection, self._seq, _LISTED + 1)
        rewritten = self._revision()
        beyond = not rows or len(rows) > _LISTED or rewritten != self._rewritten
        self._version, self._seq, self._rewritten = version, last_seq(self._connection), rewritten
        return Changes(tuple(rows[:_LISTED]), beyond=beyond, tokens=True)

    def passed(self, added: int) -> None:
        """Note that the writer itself added so many plants."""
        self._seq += added

    def _revision(self) -> int:
        (rewritten,) = self._connection.execute("SELECT rewritten FROM revision").fetchone()
        return int(rewritten)

    def _data_version(self) -> int:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)
