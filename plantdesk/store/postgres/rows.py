"""Reads plants by id or in insertion order. The functions raise psycopg.Error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from plantdesk.domain.records import LARGEST_ID, PlantRow, Source, SourceKind
from plantdesk.store.postgres.connections import execute
from plantdesk.store.sql import VERSION

if TYPE_CHECKING:
    from plantdesk.store.postgres.connections import Connection

#: Plants that are read together.
PAGE = 5_000

_FROM = "FROM plant JOIN source ON source.id = plant.source_id"
#: What `row_of` needs.
COLUMNS = (
    f"plant.id, plant.name, plant.tag, plant.added_at, plant.source_id, source.kind, source.label, {VERSION}, note"
)
SELECT = f"SELECT {COLUMNS} {_FROM}"
_CUT = "CASE WHEN octet_length({0}) > 4 * %(longest)s THEN left({0}, %(longest)s) ELSE {0} END"
_SELECT_CUT = f"""SELECT plant.id, {_CUT.format("name")}, {_CUT.format("tag")}, plant.added_at, plant.source_id,
                         source.kind, source.label, {VERSION}, NULL {_FROM} WHERE plant.id = ANY(%(ids)s::bigint[])"""


def rows_by_id(connection: Connection, ids: Iterable[int]) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist, in their order."""
    listed = list(ids)
    found = execute(connection, f"{SELECT} WHERE plant.id = ANY(%s::bigint[])", (listed,)).fetchall()
    return _in_order(listed, found)


def rows_cut(connection: Connection, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist; texts over 4 × `longest` bytes are cut to `longest` characters."""
    found = execute(connection, _SELECT_CUT, {"ids": list(ids), "longest": longest}).fetchall()
    return _in_order(ids, found)


def rows_since(connection: Connection, seq: int, limit: int) -> list[PlantRow]:
    """Return at most `limit` plants added after `seq`, in insertion order."""
    cursor = execute(connection, f"{SELECT} WHERE plant.seq > %s ORDER BY plant.seq LIMIT %s", (seq, limit))
    return [row_of(values) for values in cursor]


def next_free_id(connection: Connection) -> int:
    """Return the id after the largest one; the smallest free positive id when there is nothing after it."""
    (largest,) = execute(connection, "SELECT coalesce(max(id), 0) FROM plant").fetchone() or (0,)
    if largest < LARGEST_ID:
        return max(int(largest), 0) + 1
    sql = """SELECT min(id) + 1 FROM (SELECT 0::bigint AS id UNION ALL SELECT id FROM plant WHERE id > 0) AS taken
             WHERE id < %s AND NOT EXISTS (SELECT FROM plant WHERE plant.id = taken.id + 1)"""
    (gap,) = execute(connection, sql, (LARGEST_ID,)).fetchone() or (1,)
    return int(gap)


def row_of(values: Sequence[Any]) -> PlantRow:
    """Return a plant of: id, name, tag, time, id, kind and label of the source, version, note."""
    plant_id, name, tag, added_at, source_id, kind, label, version, note = values
    return PlantRow(plant_id, name, tag, added_at, Source(source_id, SourceKind(kind), label), note, version)


def _in_order(ids: Iterable[int], rows: Iterable[Sequence[Any]]) -> dict[int, PlantRow]:
    found = {values[0]: row_of(values) for values in rows}
    return {plant_id: found[plant_id] for plant_id in ids if plant_id in found}
