"""The largest numbers that a store has used: of arrivals, ids and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.store.sql import id_before_new

if TYPE_CHECKING:
    import sqlite3

#: Above it a sequence number, or the number of a change, was not written by PlantDesk.
MAX_NUMBER = 2**62 - 2**32

#: The largest sequence number that was ever used.
LAST_SEQ = "SELECT max(last_seq, (SELECT coalesce(max(seq), 0) FROM plant)) FROM store"


def last_seq(connection: sqlite3.Connection) -> int:
    """Return the largest `seq` ever used, 0 in a new store. Raises StoreDamagedError and sqlite3.Error."""
    row = connection.execute(LAST_SEQ).fetchone()
    if row is None or row[0] > MAX_NUMBER:
        raise StoreDamagedError
    return int(row[0])


def last_id(connection: sqlite3.Connection, count: int = 1, *others: str) -> int:
    """Return the id behind which `count` new ones follow, as `id_before_new` does. Raises sqlite3.Error."""
    return id_before_new(connection.execute, "SELECT last_id FROM store", count, others)


def last_number(connection: sqlite3.Connection) -> int:
    """Return the largest number of a change, 0 where there is none. Raises StoreDamagedError and sqlite3.Error."""
    sql = """SELECT max(0, (SELECT coalesce(max(number), 0) FROM change),
                           (SELECT coalesce(max(change), 0) FROM before_image))"""
    (number,) = connection.execute(sql).fetchone()
    if number > MAX_NUMBER:
        raise StoreDamagedError
    return int(number)
