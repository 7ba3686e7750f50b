"""Reads plants by id, or in insertion order.

Plain SQL on the driver's connection: the writer uses it in every transaction, and SQLAlchemy would double the cost.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.records import LARGEST_ID, PlantRow, Source, SourceKind

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

_Item = TypeVar("_Item")

#: Above it a sequence number, or the number of a change, was not written by PlantDesk.
MAX_NUMBER = 2**62 - 2**32

#: Items in one statement. Even with 7 values for each this is far below SQLite's limit of 32,766 variables.
CHUNK = 500

#: The version of a plant: the last change that touched it, or its negative sequence number.
VERSION = "CASE WHEN plant.change > 0 THEN plant.change ELSE -plant.seq END"

#: The largest sequence number that was ever used.
LAST_SEQ = "SELECT max(last_seq, (SELECT coalesce(max(seq), 0) FROM plant)) FROM store"

_FROM = f"""added_at, source_id, coalesce(kind, ''), coalesce(label, ''), {VERSION}, {{note}}
            FROM plant LEFT JOIN source ON source.id = source_id"""
_SELECT = f"SELECT plant.id, name, tag, {_FROM.format(note='note')}"
_CUT = "CASE WHEN length(CAST({0} AS BLOB)) > 4 * :longest THEN substr({0}, 1, :longest) ELSE {0} END"
_SELECT_CUT = f"SELECT plant.id, {_CUT.format('name')}, {_CUT.format('tag')}, {_FROM.format(note='NULL')}"


def rows_by_id(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist. Raises sqlite3.Error."""
    found: dict[int, PlantRow] = {}
    for chunk in chunks(list(ids)):
        cursor = connection.execute(_select_listed(len(chunk)), chunk)
        found.update((values[0], row_of(values)) for values in cursor.fetchall())
    return found


def rows_cut(connection: sqlite3.Connection, ids: Iterable[int], longest: int) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist; texts over 4 × `longest` bytes are cut to `longest` characters.

    Notes are left out. For SQLite's substr() a text ends at a NUL as well. Raises sqlite3.Error.
    """
    statement = f"{_SELECT_CUT} WHERE plant.id = :id"
    found = (connection.execute(statement, {"id": plant_id, "longest": longest}).fetchone() for plant_id in ids)
    return {values[0]: row_of(values) for values in found if values is not None}


def rows_since(connection: sqlite3.Connection, seq: int, limit: int) -> list[PlantRow]:
    """Return at most `limit` plants added after `seq`, in insertion order. Raises sqlite3.Error."""
    cursor = connection.execute(f"{_SELECT} WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit))
    return [row_of(values) for values in cursor.fetchall()]


def last_seq(connection: sqlite3.Connection) -> int:
    """Return the largest `seq` ever used, 0 in a new store. Raises StoreDamagedError and sqlite3.Error."""
    row = connection.execute(LAST_SEQ).fetchone()
    if row is None or row[0] > MAX_NUMBER:
        raise StoreDamagedError
    return int(row[0])


def next_free_id(connection: sqlite3.Connection) -> int:
    """Return the id after the largest one; the smallest free positive id when there is nothing after it."""
    (largest,) = connection.execute("SELECT coalesce(max(id), 0) FROM plant").fetchone()
    if largest < LARGEST_ID:
        return max(int(largest), 0) + 1
    sql = """SELECT min(id) + 1 FROM (SELECT 0 AS id UNION ALL SELECT id FROM plant WHERE id > 0) AS taken
             WHERE NOT EXISTS (SELECT 1 FROM plant WHERE plant.id = taken.id + 1)"""
    (gap,) = connection.execute(sql).fetchone()
    return int(gap)


def chunks(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """Split `items` into parts that fit into one statement."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def row_of(values: tuple[int, str, str | None, int, int, str, str, int, str | None]) -> PlantRow:
    """Return a plant of: id, name, tag, time, id, kind and label of the source, version, note."""
    plant_id, name, tag, added_at, source_id, kind, label, version, note = values
    return PlantRow(plant_id, name, tag, added_at, Source(source_id, SourceKind(kind), label), note, version)


@lru_cache(maxsize=CHUNK)  # one text for each number, so that sqlite3 finds the prepared statement again
def _select_listed(count: int) -> str:
    return f"{_SELECT} WHERE plant.id IN ({','.join('?' * count)})"
