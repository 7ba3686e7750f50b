"""The number of plants that each token has added: kept in the token's row, without a write for each plant.

A token's row counts its plants up to the sequence number `store.counted_seq`; later ones are counted on request, and
from time to time for all tokens together. Nothing is kept in memory, so nothing is lost by a kill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plantdesk.store.sqlite.numbers import LAST_SEQ

if TYPE_CHECKING:
    import sqlite3

#: Plants that may wait for `count` while more are added: it empties the cache of tokens. A list counts them in 20 ms.
MAX_UNCOUNTED = 20_000
_UNCOUNTED = """SELECT source_id, count(*) AS plants, max(added_at) AS used_at FROM plant
                WHERE seq > (SELECT counted_seq FROM store) GROUP BY source_id"""
_LAST = f"({LAST_SEQ})"


class Uncounted(NamedTuple):
    """Plants that a token's row does not count yet, and when the newest of them was added."""

    plants: int
    used_at: int


def uncounted(connection: sqlite3.Connection) -> dict[int, Uncounted]:
    """Return what the rows of the tokens do not count yet, by the id of the source. Raises sqlite3.Error."""
    return {source_id: Uncounted(plants, used_at) for source_id, plants, used_at in connection.execute(_UNCOUNTED)}


def is_behind(connection: sqlite3.Connection, plants: int) -> bool:
    """Return whether more than so many plants were added since the last `count`. Raises sqlite3.Error."""
    (behind,) = connection.execute(f"SELECT counted_seq + ? < {_LAST} FROM store", (plants,)).fetchone() or (False,)
    return bool(behind)


def count(connection: sqlite3.Connection) -> None:
    """Count all plants for their tokens, within the caller's transaction.

    Must come before a write that removes plants or renumbers their `seq`, and `skip` after it. Raises sqlite3.Error.
    """
    connection.execute(
        f"""UPDATE token SET plants_added = plants_added + new.plants, last_used_at = new.used_at
            FROM ({_UNCOUNTED}) AS new WHERE new.source_id = token.source_id"""
    )
    skip(connection)


def skip(connection: sqlite3.Connection) -> None:
    """Note that all plants are counted, within the caller's transaction. Raises sqlite3.Error."""
    connection.execute(f"UPDATE store SET counted_seq = {_LAST} WHERE counted_seq < {_LAST}")
