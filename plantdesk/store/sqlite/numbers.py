"""The numbers that a store has used last: of arrivals, ids, changes and commits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreDamagedError

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


def last_number(connection: sqlite3.Connection) -> int:
    """Return the largest number of a change, 0 where there is none. Raises StoreDamagedError and sqlite3.Error."""
    sql = """SELECT max(0, (SELECT coalesce(max(number), 0) FROM change),
                           (SELECT coalesce(max(change), 0) FROM before_image))"""
    (number,) = connection.execute(sql).fetchone()
    if number > MAX_NUMBER:
        raise StoreDamagedError
    return int(number)


# --- the number of the last commit that did more than add plants: `store.other_commits` ---

#: What each commit changes that makes a token invalid or removes plants; `last_seq` grows where plants are removed.
COUNTERS = "SELECT last_seq, other_commits FROM store"
#: The lower bits of the number count the commits; the others are random and the same for all commits of a log.
_COUNT_BITS = 32


def count_commit(connection: sqlite3.Connection) -> None:
    """Count a commit, within the caller's transaction. Raises sqlite3.Error."""
    connection.execute("UPDATE store SET other_commits = other_commits + 1")


def begin_log(connection: sqlite3.Connection) -> None:
    """Give the first commit of a new log, or a copy of a store, a number that none had before.

    Within the caller's transaction, which thereby writes the page with SQLite's schema version as well. Raises
    sqlite3.Error.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("UPDATE store SET other_commits = ?", (int.from_bytes(os.urandom(4)) >> 1 << _COUNT_BITS,))


def is_same_log(number: int, other: int) -> bool:
    """Whether two commits with a number are of the same log."""
    return number >> _COUNT_BITS == other >> _COUNT_BITS
