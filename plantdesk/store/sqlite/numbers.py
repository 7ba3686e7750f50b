"""The numbers that a store has used last: of arrivals, ids, changes and commits."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, NamedTuple

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
    """Return the largest number of a change; 0 if there is none. Raises StoreDamagedError and sqlite3.Error."""
    sql = """SELECT max(0, (SELECT coalesce(max(number), 0) FROM change),
                           (SELECT coalesce(max(change), 0) FROM before_image))"""
    (number,) = connection.execute(sql).fetchone()
    if number > MAX_NUMBER:
        raise StoreDamagedError
    return int(number)


# --- the plants of each token: its row counts those up to `store.counted_seq` ---


def count_plants(connection: sqlite3.Connection) -> None:
    """Count new plants for their tokens, within the caller's transaction. Raises sqlite3.Error.

    Must come before a write that removes plants or renumbers their `seq`, and `skip_plants` after it.
    """
    connection.execute(
        """UPDATE token SET plants_added = plants_added + new.plants, last_used_at = new.used_at
           FROM (SELECT source_id, count(*) AS plants, max(added_at) AS used_at FROM plant
                 WHERE seq > (SELECT counted_seq FROM store) GROUP BY source_id) AS new
           WHERE new.source_id = token.source_id"""
    )
    skip_plants(connection)


def skip_plants(connection: sqlite3.Connection) -> None:
    """Note that all plants are counted, within the caller's transaction. Raises sqlite3.Error."""
    connection.execute(f"UPDATE store SET counted_seq = ({LAST_SEQ})")


# --- the number of the last commit: `store.other_commits` ---

#: From the lowest bit: the number counts commits, then come random bits of the log, then a digest of what it continues.
_COUNT_BITS, _RANDOM_BITS, _DIGEST_BITS = 24, 19, 20


class FileState(NamedTuple):
    """What a database file says about itself.

    The identity of the store, the number of its last commit that has one, and SQLite's schema version; a file of
    PlantDesk 0.1.0 has neither identity nor number.
    """

    store: str = ""
    number: int = 0
    schema: int = 0

    def continues(self, base: FileState) -> bool | None:
        """Return whether the log of this state was begun for the file in the state `base`; None if that is unknown."""
        if self.number == base.number:
            return None
        if _log_of(self.number) == _log_of(base.number):  # another program has run a checkpoint since
            return base.number < self.number and base.schema <= self.schema
        return self.number >> _COUNT_BITS + _RANDOM_BITS == _digest(base)


def count_commit(connection: sqlite3.Connection) -> None:
    """Count a commit, within the caller's transaction. Raises sqlite3.Error."""
    connection.execute("UPDATE store SET other_commits = other_commits + 1")


def begin_log(connection: sqlite3.Connection, base: FileState) -> None:
    """Give a commit a number by which its log continues the file in the state `base`, which it has without the log.

    Within the caller's transaction, which thereby writes the page with SQLite's schema version as well. Raises
    sqlite3.Error.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")
    log = _digest(base) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    connection.execute("UPDATE store SET other_commits = ?", (log << _COUNT_BITS,))


def renumber(copy: sqlite3.Connection) -> None:
    """Give a copy of a store a number that no log continues. Raises sqlite3.Error."""
    begin_log(copy, FileState(number=secrets.randbits(62)))


def _log_of(number: int) -> int:
    return number >> _COUNT_BITS


def _digest(base: FileState) -> int:
    text = f"{base.store} {base.number} {base.schema}".encode("utf-8", "replace")
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest) >> 64 - _DIGEST_BITS
