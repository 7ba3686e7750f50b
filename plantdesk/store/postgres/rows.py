"""Reads plants by id or in insertion order. The functions raise psycopg.Error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from plantdesk.domain.records import PlantRow, Source, SourceKind
from plantdesk.store.postgres.connections import execute
from plantdesk.store.postgres.schema import LAST_ID
from plantdesk.store.sql import VERSION, id_before_new

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


def last_id(connection: Connection, count: int = 1, *others: str) -> int:
    """Return the id behind which `count` new ones follow, as `id_before_new` does."""
    return id_before_new(partial(execute, connection), f"SELECT {LAST_ID} FROM state", count, others)


def row_of(values: Sequence[Any]) -> PlantRow:
    """Return a plant of: id, name, tag, time, id, kind and label of the source, version, note."""
    plant_id, name, tag, added_at, source_id, kind, label, version, note = values
    return PlantRow(plant_id, name, tag, added_at, Source(source_id, SourceKind(kind), label), note, version)


def _in_order(ids: Iterable[int], rows: Iterable[Sequence[Any]]) -> dict[int, PlantRow]:
    found = {values[0]: row_of(values) for values in rows}
    return {plant_id: found[plant_id] for plant_id in ids if plant_id in found}
