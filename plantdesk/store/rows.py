"""Reads plants, recent changes, sources and the next free id; adds sources. Raises the driver's errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from plantdesk.domain.folding import fold
from plantdesk.domain.records import LARGEST_ID, Changes, PlantRow, Source, SourceKind
from plantdesk.store.database import VERSION, Runner
from plantdesk.store.models import BEFORE_IMAGE, PLANT, SOURCE

#: The number of plants that are read together.
PAGE_SIZE = 5_000
#: The most plants of each kind that `read_changes_since` lists; listeners reload all if there are more.
_MAX_LISTED = 1000
_TOUCHED_IDS = sa.select(BEFORE_IMAGE.c.plant_id).where(BEFORE_IMAGE.c.change > sa.bindparam("change")).distinct()
_TOUCHED_ID = _TOUCHED_IDS.limit(_MAX_LISTED + 1).subquery("touched").c.plant_id
#: Ids from here on, which only users choose, do not count as the largest one: they would leave no room for others.
FIRST_UNCOUNTED_ID = 2**62


def read_rows(runner: Runner, ids: Iterable[int]) -> dict[int, PlantRow]:
    """Return the plants of `ids` that exist, in their order."""
    return _fetch_rows(runner, _PLANTS, [*ids])


def read_row(runner: Runner, plant_id: int) -> PlantRow | None:
    """Return the plant with this id; None if there is none."""
    row = runner.run(_PLANT, plant_id=plant_id).first()
    return None if row is None else row_of(row)


def read_shortened_rows(runner: Runner, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
    """Return the plants of `ids` without notes; cut texts of over 4 × `longest` bytes to `longest` characters."""

    def cut(text: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        is_long = runner.database.bytes_of(text) > 4 * longest
        return sa.case((is_long, sa.func.substr(text, 1, longest)), else_=text)

    return _fetch_rows(runner, _rows_statement(cut(PLANT.c.name), cut(PLANT.c.tag), sa.null()), ids)


def rows_after(*conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Return the SELECT of the plants with a `seq` above the parameter `after`: `seq`, then the columns of `row_of`."""
    rows = _rows_statement(PLANT.c.name, PLANT.c.tag, PLANT.c.note, PLANT.c.seq)
    return rows.where(PLANT.c.seq > sa.bindparam("after"), *conditions).order_by(PLANT.c.seq)


def read_changes_since(runner: Runner, seq: int, change: int) -> Changes:
    """Return the plants that were added after `seq`, and those that changes after `change` have touched.

    Of the flags only `needs_reload` is set: if there are too many plants to list.
    """
    added = [row_of(row[1:]) for row in runner.run(_FIRST_ADDED, after=seq)]
    touched = runner.run(_TOUCHED, change=change).all()
    if len(added) > _MAX_LISTED or len(touched) > _MAX_LISTED:
        return Changes(tuple(added[:_MAX_LISTED]), needs_reload=True)
    ids = {row.id for row in added}
    updated = tuple(row_of(row) for _, *row in touched if row[0] is not None and row[0] not in ids)
    removed = tuple(plant_id for plant_id, existing_id, *_ in touched if existing_id is None)
    return Changes(tuple(added), updated, removed)


def row_of(values: Sequence[Any]) -> PlantRow:
    """Return the plant with these columns: id, name, tag, time, id, kind and label of the source, version, note."""
    plant_id, name, tag, added_at, source_id, kind, label, version, note = values
    return PlantRow(plant_id, name, tag, added_at, source_of(source_id, kind, label), note, version)


@lru_cache  # an import gives all its plants the same
def source_of(source_id: int, kind: str, label: str) -> Source:
    """Return the source with these values of its columns."""
    return Source(source_id, SourceKind(kind), label)


def source_columns(source: sa.FromClause = SOURCE) -> tuple[sa.ColumnElement[str], sa.ColumnElement[str]]:
    """Return kind and label of a joined source; empty texts for one that another program has removed."""
    return sa.func.coalesce(source.c.kind, ""), sa.func.coalesce(source.c.label, "")


def read_sources(runner: Runner, *conditions: sa.ColumnElement[bool]) -> list[Source]:
    """Return the sources for which all conditions hold, sorted by id."""
    rows = runner.run(sa.select(SOURCE.c.id, SOURCE.c.kind, SOURCE.c.label).where(*conditions).order_by(SOURCE.c.id))
    return [source_of(*row) for row in rows]


def _rows_statement(
    name: sa.ColumnElement[Any], tag: sa.ColumnElement[Any], note: sa.ColumnElement[Any], *before: sa.ColumnElement[Any]
) -> sa.Select[Any]:
    """Return the SELECT of plants with the columns `before`, then those of `row_of`."""
    columns = (*before, PLANT.c.id, name, tag, PLANT.c.added_at, PLANT.c.source_id, *source_columns(), VERSION, note)
    return sa.select(*columns).outerjoin_from(PLANT, SOURCE)


def _fetch_rows(runner: Runner, rows: sa.Select[Any], ids: Sequence[int]) -> dict[int, PlantRow]:
    plants = {row[0]: row_of(row) for row in runner.run(rows.where(runner.database.is_one_of(PLANT.c.id, ids)))}
    return {plant_id: plants[plant_id] for plant_id in ids if plant_id in plants}


def ensure_source(runner: Runner, source: Source) -> Source:
    """Return a source with the id of its row, which is found or added within the caller's transaction."""
    if source.id:
        return source
    is_same = sa.and_(SOURCE.c.kind == str(source.kind), SOURCE.c.label == source.label)
    source_id = runner.run(sa.select(sa.func.max(SOURCE.c.id)).where(is_same)).scalar_one()
    return add_source(runner, source.kind, source.label) if source_id is None else source._replace(id=source_id)


def add_source(runner: Runner, kind: SourceKind, label: str) -> Source:
    """Add a source within the caller's transaction; return it with its new id."""
    values = {"kind": str(kind), "label": label, "searched_label": fold(label)}
    return Source(runner.run(sa.insert(SOURCE).values(values).returning(SOURCE.c.id)).scalar_one(), kind, label)


_PLANTS = _rows_statement(PLANT.c.name, PLANT.c.tag, PLANT.c.note)
_PLANT = _PLANTS.where(PLANT.c.id == sa.bindparam("plant_id"))
_FIRST_ADDED = rows_after().limit(_MAX_LISTED + 1)
_TOUCHED = sa.select(_TOUCHED_ID, *_PLANTS.selected_columns).select_from(
    _TOUCHED_ID.table.outerjoin(PLANT, PLANT.c.id == _TOUCHED_ID).outerjoin(SOURCE)
)


# --- the next id: larger than all that its plants ever had, so that none is given twice ---


def find_first_new_id(runner: Runner, count: int = 1, *other_tables: sa.Table) -> int:
    """Return the first of `count` consecutive ids that no plant ever had, and no row of the tables `other_tables` has.

    It follows the largest id that was ever used or, if that leaves no room, the start of the first gap of that size.
    """
    ids = [table.c.id for table in (PLANT, *other_tables)]
    largest_ids = (sa.select(sa.func.max(c).label("id")).where(c < FIRST_UNCOUNTED_ID) for c in ids)
    largest = sa.func.max(sa.union_all(runner.database.last_id, *largest_ids).subquery("used").c.id)
    last_id = runner.run(sa.select(sa.func.coalesce(largest, 0))).scalar_one()
    if last_id + count < FIRST_UNCOUNTED_ID:
        return max(int(last_id), 0) + 1
    id_columns = [*ids, BEFORE_IMAGE.c.plant_id]
    zero = sa.select(sa.literal(0, PLANT.c.id.type).label("id"))
    number = sa.union(zero, *(sa.select(c).where(c > 0) for c in id_columns)).subquery("used").c.id
    last = sa.func.coalesce(sa.func.lead(number).over(order_by=number) - 1, LARGEST_ID).label("last")
    gap = sa.select(number.label("id"), last).subquery("gap").c
    last_id = runner.run(sa.select(sa.func.min(gap.id)).where(gap.last - gap.id >= count)).scalar_one()
    return int(last_id) + 1
