"""The key of a commit: what identifies the state of a store's file, and which state came before it.

It is renewed in the first transaction after a checkpoint, and in each that does more than add plants. So it is in the
first commit of a new write-ahead log, which thereby names the state of the file that it continues: SQLite itself
applies any log to any file beside it (https://sqlite.org/howtocorrupt.html, section 1.4). `files/log_origin` compares.

Kept in `store.other_commits`, from the highest bit: 20 bits of a digest of the key before; 8 of the schema cookie,
which VACUUM and each way to copy a database into a new file change, with the places of the pages; 20 random ones; 15
that count the commits which did more than add plants. Versions before counted the last in the whole number.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreDamagedError

if TYPE_CHECKING:
    import sqlite3

_COUNT_BITS, _PART_BITS, _COOKIE_BITS = 15, 20, 8
_COUNT_MASK = (1 << _COUNT_BITS) - 1
_PART_MASK = (1 << _PART_BITS) - 1
_COOKIE_AT = _COUNT_BITS + _PART_BITS
_BEFORE_AT = _COOKIE_AT + _COOKIE_BITS
_COOKIES = (1 << _COOKIE_BITS) - 1

#: The key. `last_seq` grows where plants are removed.
COUNTERS = "SELECT last_seq, other_commits FROM store"


def renew(connection: sqlite3.Connection, *, adds_only: bool = False) -> int:
    """Give the store a new key within the caller's transaction, and return it.

    Raises StoreDamagedError and sqlite3.Error.
    """
    (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
    row = connection.execute("SELECT other_commits FROM store").fetchone()
    if row is None:
        raise StoreDamagedError
    (before,) = row
    count = before + (not adds_only) & _COUNT_MASK
    high = _digest(before) << _BEFORE_AT | reduced(cookie) << _COOKIE_AT
    key = int(high | (int.from_bytes(os.urandom(8)) & _PART_MASK) << _COUNT_BITS | count)
    connection.execute("UPDATE store SET other_commits = ?", (key,))
    return key


def detach(copy: sqlite3.Connection) -> None:
    """Give a copy of a store, of any version, a key that no log continues. Raises sqlite3.Error."""
    if copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'store'").fetchone() is not None:
        with contextlib.suppress(StoreDamagedError):
            renew(copy)


def token_state(counters: tuple[int, int]) -> tuple[int, int]:
    """Return the part of `COUNTERS` that each commit changes which revokes a token or removes plants."""
    last_seq, key = counters
    return last_seq, key & _COUNT_MASK


def follows(key: int, before: int) -> bool:
    """Whether `key` was made from the state with the key `before`."""
    return key >> _BEFORE_AT == _digest(before)


def cookie_of(key: int) -> int:
    """Return the schema cookie at the commit with `key`, `reduced`; 0 where it is a mere counter."""
    return key >> _COOKIE_AT & _COOKIES


def reduced(cookie: int) -> int:
    """Return as much of a schema cookie as a key holds, from 1 on."""
    return cookie % _COOKIES + 1


def _digest(key: int) -> int:
    return (key ^ key >> _COUNT_BITS) & _PART_MASK
