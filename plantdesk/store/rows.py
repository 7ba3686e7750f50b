"""Reads plants by their ids or in the order of their arrival. The functions raise the driver's errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, null, select

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
    rows = _select(PLANT.c.name, PLANT.c.tag, PLANT.c.note)
    return [row_of(row) for row in runner.run(rows.where(PLANT.c.seq > seq).order_by(PLANT.c.seq).limit(limit))]


def row_of(values: Sequence[Any]) -> PlantRow:
    """Return a plant of: id, name, tag, time, id, kind and label of the source, version, note."""
    plant_id, name, tag, added_at, source_id, kind, label, version, note = values
    return PlantRow(plant_id, name, tag, added_at, Source(source_id, SourceKind(kind), label), note, version)


def _select(name: ColumnElement[Any], tag: ColumnElement[Any], note: ColumnElement[Any]) -> Select[Any]:
    """Return the statement of what `row_of` needs; a source that another program has removed is without a name."""
    source = (func.coalesce(SOURCE.c.kind, ""), func.coalesce(SOURCE.c.label, ""))
    columns = (PLANT.c.id, name, tag, PLANT.c.added_at, PLANT.c.source_id, *source, VERSION, note)
    return select(*columns).outerjoin_from(PLANT, SOURCE)


def _found(runner: Runner, rows: Select[Any], ids: Sequence[int]) -> dict[int, PlantRow]:
    found = {row[0]: row_of(row) for row in runner.run(rows.where(runner.database.among(PLANT.c.id, ids)))}
    return {plant_id: found[plant_id] for plant_id in ids if plant_id in found}
