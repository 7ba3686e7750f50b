"""Comparing two files in SQL, with one of them attached to a connection of the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plantdesk.store.sqlite.files.log_origin import has_own_log

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_DIFFERS = """SELECT EXISTS (SELECT 1 FROM other.plant AS b LEFT JOIN main.plant AS p ON p.id = b.id
                             WHERE p.id IS NULL OR p.name IS NOT b.name OR p.tag IS NOT b.tag OR p.note IS NOT b.note
                                OR p.seq IS NOT b.seq)
              OR (SELECT count(*) FROM main.plant) <> (SELECT count(*) FROM other.plant)"""


@contextlib.contextmanager
def attached(connection: sqlite3.Connection, other: Path) -> Iterator[None]:
    """Attach, as `other`, a file with a checked schema; it is only read. Raises sqlite3.Error."""
    mode = "mode=ro" if has_own_log(other) else "mode=ro&immutable=1"
    connection.execute("ATTACH ? AS other", (f"{other.absolute().as_uri()}?{mode}",))
    try:
        yield
    finally:
        connection.execute("DETACH other")


def same(connection: sqlite3.Connection) -> bool:
    """Return whether both files of `attached` have the same plants in the same order. Raises sqlite3.Error."""
    (differs,) = connection.execute(_DIFFERS).fetchone()
    return not differs
