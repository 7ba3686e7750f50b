"""The counters of a store: the largest `seq`, the last change, and the number of the last commit."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from typing import NamedTuple

from plantdesk.domain.errors import StoreDamagedError

#: A larger sequence number, or number of a change, was not written by PlantDesk.
MAX_NUMBER = 2**62 - 2**32

_LAST_SEQ = "max(last_seq, (SELECT coalesce(max(seq), 0) FROM plant))"
_POSITION = f"""{_LAST_SEQ}, max(0, (SELECT coalesce(max(number), 0) FROM change),
                                    (SELECT coalesce(max(change), 0) FROM before_image)), other_commits"""
#: The bits of `other_commits`, from the lowest: a count of commits, random bits of the log, and a digest of the state
#: of the file that the log was begun for.
_COUNT_BITS = 24
_RANDOM_BITS = 19
_DIGEST_BITS = 20


class FileCounters(NamedTuple):
    """The counters that commits change: the largest `seq` ever, the last change, and the number of the last commit."""

    seq: int
    change: int
    commits: int


def read_counters(connection: sqlite3.Connection) -> FileCounters:
    """Return the counters that the connection sees. Raises StoreDamagedError and sqlite3.Error."""
    return _check_counters(connection.execute(f"SELECT {_POSITION} FROM store").fetchone())


def count_commit(connection: sqlite3.Connection, number: int | None = None) -> FileCounters:
    """Count a commit, by `number` or the next one, at the end of the caller's transaction; return the counters.

    `counted_seq` tells PlantDesk 1.0 that the tokens have counted all plants. Raises as `read_counters` does.
    """
    sql = f"""UPDATE store SET other_commits = coalesce(?, other_commits + 1), counted_seq = {_LAST_SEQ}
              RETURNING {_POSITION}"""
    return _check_counters(connection.execute(sql, (number,)).fetchone())


def _check_counters(row: tuple[int, int, int] | None) -> FileCounters:
    if row is None or max(row[:2]) > MAX_NUMBER:
        raise StoreDamagedError
    return FileCounters(*row)


# --- the number of the last commit: `store.other_commits` ---


class FileState(NamedTuple):
    """The state that a database file stores about itself.

    The identity of the store, the number of the last commit that was counted, and SQLite's schema version; a file of
    PlantDesk 0.1.0 has neither identity nor number.
    """

    store: str = ""
    number: int = 0
    schema: int = 0

    def continues(self, base: FileState) -> bool | None:
        """Return whether the log of this state was begun for a file in the state `base`; None if that is unknown."""
        if self.number == base.number:
            return None
        if self.number >> _COUNT_BITS == base.number >> _COUNT_BITS:  # another program has run a checkpoint since
            return base.number < self.number and base.schema <= self.schema
        return self.number >> _COUNT_BITS + _RANDOM_BITS == _digest_state(base)

    def follows(self, known: FileState, commits: int) -> bool:
        """Return whether checkpoints may have brought a file from the state `known` to this one.

        `commits` is the number of the last commit, which may be in the log alone.
        """
        if self == known or self.number == commits:
            return True
        is_whole = known.number == commits  # then checkpoints have nothing to move
        return not is_whole and self._replace(number=commits).continues(self) is True


def begin_log(connection: sqlite3.Connection, base: FileState) -> FileCounters:
    """Count the first commit of a log, by a number with a digest of `base`: the state of the file without the log.

    To be called at the end of the transaction; it also writes the page with SQLite's schema version. Raises as
    `read_counters` does.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")
    return count_commit(connection, _make_first_number(base))


def renumber(copy: sqlite3.Connection) -> None:
    """Give a copy of a store, of any version, a random commit number, so that no log fits it. Raises sqlite3.Error."""
    copy.execute("UPDATE store SET other_commits = ?", (_make_first_number(FileState(number=secrets.randbits(62))),))


def _make_first_number(base: FileState) -> int:
    return (_digest_state(base) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)) << _COUNT_BITS


def _digest_state(base: FileState) -> int:
    text = f"{base.store} {base.number} {base.schema}".encode("utf-8", "replace")
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest) >> 64 - _DIGEST_BITS
