"""Comparing two stores in SQL, with one of them attached to a connection of the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plantdesk.domain.backups import Difference, Group
from plantdesk.store.sqlite.files.log_origin import has_own_log

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

#: Plants of each kind that a difference names.
_NAMED = 5

_RETURNING = "FROM temp.restored AS b WHERE NOT EXISTS (SELECT 1 FROM main.plant AS p WHERE p.id = b.id)"
_LEAVING = "FROM main.plant AS b WHERE NOT EXISTS (SELECT 1 FROM temp.restored AS p WHERE p.id = b.id)"
_CHANGING = """FROM temp.restored AS b JOIN main.plant AS p ON p.id = b.id
               WHERE p.name IS NOT b.name OR p.tag IS NOT b.tag OR p.note IS NOT b.note"""
_DIFFERS = """SELECT EXISTS (SELECT 1 FROM other.plant AS b LEFT JOIN main.plant AS p ON p.id = b.id
                             WHERE p.id IS NULL OR p.name IS NOT b.name OR p.tag IS NOT b.tag OR p.note IS NOT b.note
                                OR p.seq IS NOT b.seq)
              OR (SELECT count(*) FROM main.plant) <> (SELECT count(*) FROM other.plant)"""


@contextlib.contextmanager
def attached(connection: sqlite3.Connection, other: Path) -> Iterator[None]:
    """Attach a file whose schema was checked as `other`; it is only read. Raises sqlite3.Error."""
    mode = "mode=ro" if has_own_log(other) else "mode=ro&immutable=1"
    connection.execute("ATTACH ? AS other", (f"{other.absolute().as_uri()}?{mode}",))
    try:
        yield
    finally:
        connection.execute("DETACH other")


def difference(connection: sqlite3.Connection) -> Difference:
    """Compare the plants of a store with those that were read into `temp.restored`. Raises sqlite3.Error."""
    return Difference(*(_group(connection, which) for which in (_RETURNING, _LEAVING, _CHANGING)))


def same(connection: sqlite3.Connection) -> bool:
    """Whether an `attached` pair has the same plants in the same order. Raises sqlite3.Error."""
    (differs,) = connection.execute(_DIFFERS).fetchone()
    return not differs


def _group(connection: sqlite3.Connection, which: str) -> Group:
    (count,) = connection.execute(f"SELECT count(*) {which}").fetchone()
    newest = connection.execute(f"SELECT b.id, b.name {which} ORDER BY b.seq DESC LIMIT {_NAMED}").fetchall()
    return Group(count, tuple(newest))
