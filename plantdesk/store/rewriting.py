"""Edits whose texts Python computes, since databases have no folding; in a file, others write meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, exists, insert, not_, or_, select, union

from plantdesk.domain.duplicates import merged
from plantdesk.domain.edits import Rewrite
from plantdesk.domain.rewriting import rewritten
from plantdesk.store.change_writer import PAGE, is_in, working_table
from plantdesk.store.conditions import condition_of
from plantdesk.store.events import Position
from plantdesk.store.models import BEFORE_IMAGE, PLANT, TEXTS, text_columns
from plantdesk.store.rows import rows_by_id

if TYPE_CHECKING:
    from sqlalchemy import Table

    from plantdesk.domain.edits import MergePlants
    from plantdesk.domain.rewriting import Rewritten
    from plantdesk.store.change_writer import ChangeWriter

_TOUCHED = working_table("touched")


class ComputedEdit:
    """The plants that get other texts, and those that are deleted, in tables. The methods raise the driver's errors."""

    def __init__(self, edit: Rewrite | MergePlants, schema: str | None = None) -> None:
        """`schema` is that of an attached file; by default the tables are temporary."""
        self._edit = edit
        self._since = edit.since if isinstance(edit, Rewrite) else None
        self._rewritten = working_table("rewritten", *TEXTS, schema=schema)
        self._deleted = working_table("deleted", schema=schema)
        #: Plants that were changed after the position since which they are to stay.
        self.skipped: set[int] = set()

    def compute(self, writer: ChangeWriter) -> bool:
        """Compute what `write` writes, in one snapshot of the caller; return whether that is anything.

        Raises InvalidPlantError, InvalidPatternError, UnknownPositionError and NulRefusedError.
        """
        runner, database = writer.runner, writer.database
        _, *self._state = database.state(runner)
        for table in (self._rewritten, self._deleted):
            database.clear(runner, table)
        if isinstance(self._edit, Rewrite):
            for page in _pages(writer, writer.collect(condition_of(self._edit.plants, database))):
                self._add(writer, list(rewritten(self._edit.rule, page, self._edit.leave)))
        else:
            for deleted, kept in merged(*self._edit, partial(rows_by_id, runner)):
                database.fill(runner, self._deleted, ((each,) for each in deleted))
                self._add(writer, kept)
        if self._since is not None:
            position = Position.parse(self._since)
            self._find_touched(writer, position.seq, position.change)
            runner.run(delete(self._rewritten).where(self._rewritten.c.id.in_(select(_TOUCHED.c.id))))
        has_rows = (exists(select(each.c.id)) for each in (self._rewritten, self._deleted))
        return bool(runner.run(select(or_(*has_rows))).fetchone()[0])

    def _add(self, writer: ChangeWriter, found: Sequence[Rewritten]) -> None:
        writer.database.check_storable(*(text for _, *texts in found for text in texts))
        rows = ((plant_id, *text_columns(name, tag, note)) for plant_id, name, tag, note in found)
        writer.database.fill(writer.runner, self._rewritten, rows)

    def _find_touched(self, writer: ChangeWriter, seq: int, change: int) -> None:
        """Find which plants others have added or changed since a state."""
        image, run = BEFORE_IMAGE.c, writer.runner.run
        writer.database.clear(writer.runner, _TOUCHED)
        changed = select(image.plant_id).where(image.change > change)
        touched = union(select(PLANT.c.id).where(PLANT.c.seq > seq), changed.where(image.change != writer.number))
        if run(insert(_TOUCHED).from_select(["id"], touched)).rowcount and self._since is not None:
            ids = self._rewritten.c.id
            skipped = select(ids).where(ids.in_(select(_TOUCHED.c.id)), ids.in_(changed))  # not those that were added
            self.skipped |= {plant_id for (plant_id,) in run(skipped).fetchall()}

    def touched(self, writer: ChangeWriter) -> set[int]:
        """Return the plants that others have added or changed since the computation."""
        self._find_touched(writer, *self._state)
        return {plant_id for (plant_id,) in writer.runner.run(select(_TOUCHED.c.id)).fetchall()}

    def write(self, writer: ChangeWriter) -> set[int]:
        """Write what was computed, but for plants that others have added or changed since.

        Return those of them that are still to be looked at.
        """
        touched = self.touched(writer)
        new, is_untouched = self._rewritten.c, not_(exists().where(_TOUCHED.c.id == PLANT.c.id))
        writer.change(and_(PLANT.c.id == new.id, is_untouched), {each: new[each] for each in TEXTS})
        writer.delete(is_in(self._deleted))
        return touched if isinstance(self._edit, Rewrite) and self._since is None else set()


def _pages(writer: ChangeWriter, table: Table) -> Iterator[list[Any]]:
    """Yield id, name, tag and note of the plants whose ids are in a table."""
    columns, chosen = PLANT.c, table.c.id
    plants = select(columns.id, columns.name, columns.tag, columns.note).join(table, chosen == columns.id)
    plants = plants.order_by(chosen).limit(PAGE)
    page = writer.runner.run(plants).fetchall()
    while page:
        yield page
        page = writer.runner.run(plants.where(chosen > page[-1][0])).fetchall()
