"""Reads plants by their ids or in the order of their arrival. The functions raise the driver's errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, func, null, select

from plantdesk.domain.records import PlantRow, Source, SourceKind
from plantdesk.store.database import VERSION
from plantdesk.store.models import PLANT, SOURCE

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

    from plantdesk.store.database import Runner

#: Plants that are read together.
PAGE = 5_000


def rows_by_id(runner: Runner, ids: Iterable[int]) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist, in their order."""
    return _found(runner, _select(PLANT.c.name, PLANT.c.tag, PLANT.c.note), [*ids])


def rows_cut(runner: Runner, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist; texts over 4 × `longest` bytes are cut to `longest` characters.

    Notes are left out.
    """

    def cut(text: ColumnElement[Any]) -> ColumnElement[Any]:
        is_long = runner.database.bytes_of(text) > 4 * longest
        return case((is_long, func.substr(text, 1, longest)), else_=text)

    return _found(runner, _select(cut(PLANT.c.name), cut(PLANT.c.tag), null()), ids)


def rows_since(runner: Runner, seq: int, limit: int) -> list[PlantRow]:
    """Return at most `limit` plants added after `seq`, in insertion order."""
    return [row_of(row[1:]) for row in runner.run(rows_in_order().limit(limit), after=seq)]


def rows_in_order(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the statement of the plants behind the `seq` of parameter `after`: `seq`, then what `row_of` needs."""
    rows = _select(PLANT.c.name, PLANT.c.tag, PLANT.c.note, PLANT.c.seq)
    return rows.where(PLANT.c.seq > bindparam("after"), *conditions).order_by(PLANT.c.seq)


def row_of(values: Sequence[Any]) -> PlantRow:
    """Return a plant of: id, name, tag, time, id, kind and label of the source, version, note."""
    plant_id, name, tag, added_at, source_id, kind, label, version, note = values
    return PlantRow(plant_id, name, tag, added_at, _source(source_id, kind, label), note, version)


@lru_cache  # an import gives all its plants the same
def _source(source_id: int, kind: str, label: str) -> Source:
    return Source(source_id, SourceKind(kind), label)


def _select(
    name: ColumnElement[Any], tag: ColumnElement[Any], note: ColumnElement[Any], *before: ColumnElement[Any]
) -> Select[Any]:
    """Return the statement of what `row_of` needs; a source that another program has removed is without a name."""
    source = (func.coalesce(SOURCE.c.kind, ""), func.coalesce(SOURCE.c.label, ""))
    columns = (*before, PLANT.c.id, name, tag, PLANT.c.added_at, PLANT.c.source_id, *source, VERSION, note)
    return select(*columns).outerjoin_from(PLANT, SOURCE)


def _found(runner: Runner, rows: Select[Any], ids: Sequence[int]) -> dict[int, PlantRow]:
    found = {row[0]: row_of(row) for row in runner.run(rows.where(runner.database.among(PLANT.c.id, ids)))}
    return {plant_id: found[plant_id] for plant_id in ids if plant_id in found}
