"""What tells two stores apart, asked of SQLite with one of them attached to a connection of the other."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.store.engine import connect, told_plainly

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

#: Plants of each kind that a difference names.
_NAMED = 5

_RETURNING = "FROM other.plant AS b WHERE NOT EXISTS (SELECT 1 FROM main.plant AS p WHERE p.id = b.id)"
_LEAVING = "FROM main.plant AS b WHERE NOT EXISTS (SELECT 1 FROM other.plant AS p WHERE p.id = b.id)"
_CHANGING = """FROM other.plant AS b JOIN main.plant AS p ON p.id = b.id
               WHERE p.name IS NOT b.name OR p.tag IS NOT b.tag"""
_DIFFERS = """SELECT EXISTS (SELECT 1 FROM other.plant AS b LEFT JOIN main.plant AS p ON p.id = b.id
                             WHERE p.id IS NULL OR p.name IS NOT b.name OR p.tag IS NOT b.tag OR p.seq IS NOT b.seq)
              OR (SELECT count(*) FROM main.plant) <> (SELECT count(*) FROM other.plant)
              OR EXISTS (SELECT digest, name, revoked_at, expires_at FROM main.token EXCEPT
                         SELECT digest, name, revoked_at, expires_at FROM other.token)"""


class Group(NamedTuple):
    """Some plants of a difference: how many, and the newest of them by id and name."""

    size: int
    newest: tuple[tuple[int, str], ...]


class Difference(NamedTuple):
    """What becomes of the plants that are there when another store's take their place."""

    returning: Group
    leaving: Group
    changing: Group

    def __bool__(self) -> bool:
        """Whether there is any."""
        return any(group.size for group in self)


@contextlib.contextmanager
def attached(path: Path, other: Path) -> Iterator[sqlite3.Connection]:
    """Open the store at `path` with `other`, which is only read, attached as `other`. Raises StoreError."""
    with told_plainly(), contextlib.closing(connect(path)) as connection:
        connection.execute("ATTACH ? AS other", (f"{other.absolute().as_uri()}?mode=ro",))
        yield connection


def difference(connection: sqlite3.Connection) -> Difference:
    """Compare the plants of an `attached` pair. Raises sqlite3.Error."""
    return Difference(*(_group(connection, which) for which in (_RETURNING, _LEAVING, _CHANGING)))


def same(connection: sqlite3.Connection) -> bool:
    """Whether an `attached` pair has the same plants in the same order, and the same tokens. Raises sqlite3.Error."""
    (differs,) = connection.execute(_DIFFERS).fetchone()
    return not differs


def _group(connection: sqlite3.Connection, which: str) -> Group:
    (count,) = connection.execute(f"SELECT count(*) {which}").fetchone()
    newest = connection.execute(f"SELECT b.id, b.name {which} ORDER BY b.seq DESC LIMIT {_NAMED}").fetchall()
    return Group(count, tuple(newest))
