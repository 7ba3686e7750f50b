"""Exchanges the plants of a store for those of a backup, which were copied into temporary tables of its connection.

The functions raise the driver's errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, Table, case, delete, exists, func, insert, literal, null, or_, select
from sqlalchemy.schema import CreateTable

from plantdesk.domain.backups import Difference, Group
from plantdesk.domain.records import SourceKind
from plantdesk.store.models import BEFORE_IMAGE, EACH, PLANT, SOURCE
from plantdesk.store.rows import add_source

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause

    from plantdesk.store.database import Runner

#: Plants of each kind that a difference names.
_NAMED = 5
_METADATA = MetaData()
_NUMBER = PLANT.c.id.type


def _temporary(name: str, *columns: Column[object]) -> Table:
    return Table(name, _METADATA, Column("id", _NUMBER, primary_key=True), *columns, prefixes=["TEMPORARY"])


#: The plants of the backup and their sources.
RESTORED = _temporary("restored", *(Column(each, PLANT.c[each].type) for each in EACH))
RESTORED_SOURCE = _temporary("restored_source", *(Column(each, SOURCE.c[each].type) for each in ("kind", "label")))
#: The source of the store for each source of the backup: the same row if the store has it.
_ORIGIN = _temporary("origin", Column("ours", _NUMBER))
#: The plants that a restore adds, removes or changes.
_DIFFERING = _temporary("differing")
_TEXTS = ("name", "tag", "note")
_COMPARED = (*_TEXTS, "seq", "added_at")


def create_tables(runner: Runner) -> None:
    """Make the temporary tables for the plants of a backup and their sources."""
    for table in (RESTORED, RESTORED_SOURCE):
        runner.run(CreateTable(table))


def difference(runner: Runner) -> Difference:
    """Compare the plants of a store with those of the backup."""
    is_same_plant = PLANT.c.id == RESTORED.c.id
    differs = or_(*(PLANT.c[each].is_distinct_from(RESTORED.c[each]) for each in _TEXTS))
    return Difference(
        _group(runner, RESTORED, RESTORED, ~exists().where(is_same_plant)),
        _group(runner, PLANT, PLANT, ~exists().where(is_same_plant)),
        _group(runner, RESTORED, RESTORED.join(PLANT, is_same_plant), differs),
    )


def exchange(runner: Runner, number: int, *, with_history: bool = True) -> None:
    """Make the plants of the backup those of the store, as the change of this number, unless there is no history."""
    for table in (_ORIGIN, _DIFFERING):
        runner.run(CreateTable(table))
    _map_sources(runner)
    same = [RESTORED.c[each].is_not_distinct_from(PLANT.c[each]) for each in _COMPARED]
    same += [RESTORED.c.id == PLANT.c.id, _ORIGIN.c.id == RESTORED.c.source_id, _ORIGIN.c.ours == PLANT.c.source_id]
    runner.run(insert(_DIFFERING).from_select(["id"], select(PLANT.c.id).where(~exists().where(*same))))
    added = select(RESTORED.c.id).where(RESTORED.c.id.not_in(select(PLANT.c.id)))
    runner.run(insert(_DIFFERING).from_select(["id"], added))
    differing = select(_DIFFERING.c.id)
    if with_history:
        after = case((RESTORED.c.id.is_(None), null()), else_=literal(number, _NUMBER))
        present = select(
            literal(number, _NUMBER), _DIFFERING.c.id, after, *(PLANT.c[each] for each in EACH), PLANT.c.change
        )
        images = present.select_from(_DIFFERING.outerjoin(PLANT, PLANT.c.id == _DIFFERING.c.id)).outerjoin(
            RESTORED, RESTORED.c.id == _DIFFERING.c.id
        )
        columns = ["change", "plant_id", "after", *EACH, "plant_change"]
        runner.run(insert(BEFORE_IMAGE).from_select(columns, images, include_defaults=False))
    runner.run(delete(PLANT).where(PLANT.c.id.in_(differing)))
    ours = [_ORIGIN.c.ours if each == "source_id" else RESTORED.c[each] for each in EACH]
    plants = select(RESTORED.c.id, *ours, literal(number if with_history else 0, _NUMBER))
    plants = plants.join(_ORIGIN, _ORIGIN.c.id == RESTORED.c.source_id).where(RESTORED.c.id.in_(differing))
    runner.run(insert(PLANT).from_select(["id", *EACH, "change"], plants, include_defaults=False))


def _map_sources(runner: Runner) -> None:
    present = [tuple(row) for row in runner.run(select(SOURCE.c.id, SOURCE.c.kind, SOURCE.c.label))]
    known = {(kind, label): number for number, kind, label in sorted(present, reverse=True)}
    columns = RESTORED_SOURCE.c
    for number, kind, label in runner.run(select(columns.id, columns.kind, columns.label)).fetchall():
        ours = number if (number, kind, label) in present else known.get((kind, label))
        if ours is None:
            ours = known[kind, label] = add_source(runner, SourceKind(kind), label).id
        runner.run(insert(_ORIGIN).values(id=number, ours=ours))


def _group(runner: Runner, table: Table, rows: FromClause, condition: ColumnElement[bool]) -> Group:
    (count,) = runner.run(select(func.count()).select_from(rows).where(condition)).fetchone()
    plants = select(table.c.id, table.c.name).select_from(rows).where(condition)
    newest = runner.run(plants.order_by(table.c.seq.desc()).limit(_NAMED)).fetchall()
    return Group(count, tuple((plant_id, name) for plant_id, name in newest))
