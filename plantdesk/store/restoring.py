"""Replaces the plants of a store with those of a backup, from temporary tables. Raises the driver's errors."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from plantdesk.domain.backups import Difference, PlantGroup
from plantdesk.domain.history import Change, ChangeKind, shorten_parameter
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.change_writer import ChangeWriter, is_plant_in
from plantdesk.store.database import Runner
from plantdesk.store.models import NUMBER, PLANT, SHARED_COLUMNS, SOURCE, STRING, temporary_table
from plantdesk.store.rows import add_source

#: The most plants of each kind that a difference names.
_MAX_NAMED = 5

#: The plants of the backup and their sources.
RESTORED = temporary_table("restored", id=NUMBER, **{column: PLANT.c[column].type for column in SHARED_COLUMNS})
RESTORED_SOURCE = temporary_table("restored_source", id=NUMBER, kind=STRING, label=STRING)
#: The source of the store for each source of the backup: the same row if the store has it.
_ORIGIN = temporary_table("origin", id=NUMBER, ours=NUMBER)
_TEXTS = ("name", "tag", "note")
_COMPARED = (*_TEXTS, "seq", "added_at")


def create_restore_tables(runner: Runner) -> None:
    """Make the temporary tables for the plants of a backup and their sources."""
    for table in (RESTORED, RESTORED_SOURCE, _ORIGIN):
        runner.run(CreateTable(table))


def compare_plants(runner: Runner) -> Difference:
    """Return how the plants of the store differ from those of the backup, which are in the temporary tables."""
    is_same_plant = PLANT.c.id == RESTORED.c.id
    differs = sa.or_(*(PLANT.c[column].is_distinct_from(RESTORED.c[column]) for column in _TEXTS))
    return Difference(
        _read_group(runner, RESTORED, RESTORED, ~sa.exists().where(is_same_plant)),
        _read_group(runner, PLANT, PLANT, ~sa.exists().where(is_same_plant)),
        _read_group(runner, RESTORED, RESTORED.join(PLANT, is_same_plant), differs),
    )


def replace_plants(writer: ChangeWriter, source: Source, backup: str) -> Change:
    """Replace the plants of the store with those of the backup, as one change; the history shows the name `backup`."""
    _map_sources(writer.runner)
    is_same = [RESTORED.c[column].is_not_distinct_from(PLANT.c[column]) for column in _COMPARED]
    is_same += [RESTORED.c.id == PLANT.c.id, _ORIGIN.c.id == RESTORED.c.source_id, _ORIGIN.c.ours == PLANT.c.source_id]
    writer.delete(is_plant_in(writer.collect(~sa.exists().where(*is_same))))
    _add_missing(writer.runner, writer.number)
    writer.record_new_plants(PLANT.c.change == writer.number)
    return writer.record(source, ChangeKind.RESTORE, {"backup": shorten_parameter(backup)})


def add_to_new_store(runner: Runner) -> None:
    """Add the plants of the backup to a new store, without a change."""
    _map_sources(runner)
    _add_missing(runner, 0)


def _add_missing(runner: Runner, number: int) -> None:
    ours = [_ORIGIN.c.ours if column == "source_id" else RESTORED.c[column] for column in SHARED_COLUMNS]
    plants = sa.select(RESTORED.c.id, *ours, sa.literal(number, NUMBER)).join(
        _ORIGIN, _ORIGIN.c.id == RESTORED.c.source_id
    )
    missing = plants.where(RESTORED.c.id.not_in(sa.select(PLANT.c.id)))
    runner.run(sa.insert(PLANT).from_select(["id", *SHARED_COLUMNS, "change"], missing))


def _map_sources(runner: Runner) -> None:
    """Fill `_ORIGIN`: find the source of the store for each source of the backup, or add it."""
    own_sources = {tuple(row) for row in runner.run(sa.select(SOURCE.c.id, SOURCE.c.kind, SOURCE.c.label))}
    numbers = {(kind, label): number for number, kind, label in sorted(own_sources, reverse=True)}
    columns = RESTORED_SOURCE.c
    for number, kind, label in runner.run(sa.select(columns.id, columns.kind, columns.label)).all():
        ours = number if (number, kind, label) in own_sources else numbers.get((kind, label))
        if ours is None:
            ours = numbers[kind, label] = add_source(runner, SourceKind(kind), label).id
        runner.run(sa.insert(_ORIGIN).values(id=number, ours=ours))


def _read_group(runner: Runner, table: sa.Table, rows: sa.FromClause, condition: sa.ColumnElement[bool]) -> PlantGroup:
    count = runner.run(sa.select(sa.func.count()).select_from(rows).where(condition)).scalar_one()
    plants = sa.select(table.c.id, table.c.name).select_from(rows).where(condition)
    newest = runner.run(plants.order_by(table.c.seq.desc()).limit(_MAX_NAMED))
    return PlantGroup(count, tuple((plant_id, name) for plant_id, name in newest))
