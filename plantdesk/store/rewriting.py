"""Edits with texts that Python computes, since databases have no folding: rewriting a set of plants, and merges.

The functions raise the driver's errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, or_, select

from plantdesk.domain.duplicates import merged
from plantdesk.domain.rewriting import rewritten
from plantdesk.store.change_writer import PAGE, is_in, working_table
from plantdesk.store.conditions import condition_of
from plantdesk.store.events import Position
from plantdesk.store.models import BEFORE_IMAGE, PLANT, TEXTS, text_columns
from plantdesk.store.rows import rows_by_id

if TYPE_CHECKING:
    from sqlalchemy import Table

    from plantdesk.domain.edits import MergePlants, Rewrite
    from plantdesk.domain.rewriting import Rewritten
    from plantdesk.store.change_writer import ChangeWriter

_REWRITTEN, _DELETED = working_table("rewritten", *TEXTS), working_table("deleted")


def rewrite(writer: ChangeWriter, edit: Rewrite) -> set[int]:
    """Give a set of plants other texts, and return those that stay since others have changed them.

    Raises InvalidPlantError, InvalidPatternError, UnknownPositionError and NulRefusedError.
    """
    since = None if edit.since is None else Position.parse(edit.since)
    writer.database.clear(writer.runner, _REWRITTEN)
    for page in _pages(writer, writer.collect(condition_of(edit.plants, writer.database))):
        _add(writer, list(rewritten(edit.rule, page, edit.leave)))
    skipped = set[int]() if since is None else _leave_changed(writer, since)
    _write(writer)
    return skipped


def merge(writer: ChangeWriter, edit: MergePlants) -> None:
    """Give the plants that stay the notes of those that are deleted. Raises as `duplicates.merged` does."""
    for table in (_REWRITTEN, _DELETED):
        writer.database.clear(writer.runner, table)
    for deleted, kept in merged(*edit, partial(rows_by_id, writer.runner)):
        writer.database.fill(writer.runner, _DELETED, ((each,) for each in deleted))
        _add(writer, kept)
    _write(writer)
    writer.database.analyze(writer.runner, _DELETED)
    writer.delete(is_in(_DELETED))


def _pages(writer: ChangeWriter, table: Table) -> Iterator[list[Any]]:
    """Yield id, name, tag and note of the plants that have their ids in a table."""
    columns, chosen = PLANT.c, table.c.id
    plants = select(columns.id, columns.name, columns.tag, columns.note).join(table, chosen == columns.id)
    plants = plants.order_by(chosen).limit(PAGE)
    page = writer.runner.run(plants).fetchall()
    while page:
        yield page
        page = writer.runner.run(plants.where(chosen > page[-1][0])).fetchall()


def _add(writer: ChangeWriter, found: Sequence[Rewritten]) -> None:
    writer.database.check_storable(*(text for _, *texts in found for text in texts))
    rows = ((plant_id, *text_columns(name, tag, note)) for plant_id, name, tag, note in found)
    writer.database.fill(writer.runner, _REWRITTEN, rows)


def _leave_changed(writer: ChangeWriter, since: Position) -> set[int]:
    """Leave the plants that others have added or changed since a position; return those that were changed."""
    image, ids = BEFORE_IMAGE.c, _REWRITTEN.c.id
    is_changed = ids.in_(select(image.plant_id).where(image.change > since.change, image.change != writer.number))
    changed = {plant_id for (plant_id,) in writer.runner.run(select(ids).where(is_changed)).fetchall()}
    is_added = ids.in_(select(PLANT.c.id).where(PLANT.c.seq > since.seq))
    writer.runner.run(delete(_REWRITTEN).where(or_(is_changed, is_added)))
    return changed


def _write(writer: ChangeWriter) -> None:
    writer.database.analyze(writer.runner, _REWRITTEN)
    new = _REWRITTEN.c
    writer.change(PLANT.c.id == new.id, {each: new[each] for each in TEXTS})
