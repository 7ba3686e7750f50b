"""Writes one change in an open transaction: plants as they were (before-images), their new rows, and the entry."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from plantdesk.domain.history import Change, ChangeKind
from plantdesk.domain.records import Source
from plantdesk.store.database import Database, Runner
from plantdesk.store.history import DESK, LAST_SEQ
from plantdesk.store.models import (
    BEFORE_IMAGE,
    CHANGE,
    IMAGE_COLUMNS,
    NUMBER,
    PLANT,
    SHARED_COLUMNS,
    TEXTS,
    temporary_table,
)
from plantdesk.store.rows import FIRST_UNCOUNTED_ID

#: The number of plants that makes a change large, and for which texts are computed together.
LARGE_CHANGE = 10_000
#: The approximate bytes of a before-image, without its texts.
_IMAGE_SIZE = 50
_CHOSEN = temporary_table("chosen", id=NUMBER)


class ChangeSize(NamedTuple):
    """The size of a change: plants, bytes of before-images, growth of the store in plants, and one plant's name."""

    plants: int
    size: int
    growth: int = 0
    name: str | None = None


def is_plant_in(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return the condition that the id of a plant is in the column `id` of a table."""
    return PLANT.c.id.in_(sa.select(table.c.id))


class ChangeWriter(ABC):
    """Writes one change, with the next number, in a transaction of the caller. Raises the driver's errors."""

    #: The desk of a shared store.
    desk = ""

    def __init__(self, runner: Runner, number: int) -> None:
        self.runner = runner
        self.database = runner.database
        self.number = number

    @property
    @abstractmethod
    def last_seq(self) -> int:
        """The largest sequence number ever used."""

    @abstractmethod
    def reserve_seqs(self, count: int = 1) -> int:
        """Reserve `count` sequence numbers and return the first."""

    @abstractmethod
    def finish_and_reserve_ids(self, size: ChangeSize, largest_id: sa.ScalarSelect[int]) -> sa.Update:
        """Note that all before-images are written; return the UPDATE that reserves the ids up to `largest_id`.

        `largest_id` may be NULL: then no id is reserved.
        """

    def add_to_plant_count(self, plants: int) -> None:  # noqa: B027  a file counts its plants itself
        """Add to the number of plants that a shared store keeps in `state`."""

    def allow_long_statements(self) -> None:  # noqa: B027  nothing as a rule
        """Let each of the following statements take long: they may change millions of plants."""

    def bulk_planning(self, plants: int) -> AbstractContextManager[object]:  # noqa: ARG002  others need it
        """Return a context for the statements that undo a change of `plants` plants; it may set planner options."""
        return nullcontext()

    def prepare_restoring(self, undone: int, revived: sa.Select[Any]) -> None:  # noqa: B027  nothing as a rule
        """Prepare to add plants again that the change `undone` deleted; `revived` selects their before-images."""

    # --- plants ---

    def collect(self, condition: sa.ColumnElement[bool]) -> sa.Table:
        """Fill a temporary table with the ids of plants that meet a condition; return it. The next call refills it."""
        self.database.prepare_table(self.runner, _CHOSEN)
        self.runner.run(sa.insert(_CHOSEN).from_select(["id"], sa.select(PLANT.c.id).where(condition)))
        self.database.analyze(self.runner, _CHOSEN)
        return _CHOSEN

    def images_insert(self, condition: sa.ColumnElement[bool], *, deletes: bool = False) -> sa.Insert:
        """Return the INSERT of before-images of the plants that meet a condition; images that exist stay."""
        number = sa.literal(self.number, NUMBER)
        plants = sa.select(
            number, PLANT.c.id, sa.null() if deletes else number, *(PLANT.c[column] for column in SHARED_COLUMNS)
        )
        images = self.database.insert(BEFORE_IMAGE)
        return _keep_existing(images.from_select(IMAGE_COLUMNS, plants.add_columns(PLANT.c.change).where(condition)))

    def change(self, condition: sa.ColumnElement[bool], values: dict[str, Any]) -> None:
        """Set columns of the plants that meet a condition. It may refer to another table (UPDATE … FROM)."""
        changed = sa.update(PLANT).where(condition).values(**values, change=self.number)
        self.runner.run_all(self.database.combine(self.images_insert(condition), changed))

    def delete(self, condition: sa.ColumnElement[bool]) -> None:
        """Delete the plants that meet a condition."""
        images = self.images_insert(condition, deletes=True)
        self.runner.run_all(self.database.combine(images, sa.delete(PLANT).where(condition)))

    def record_new_plants(self, condition: sa.ColumnElement[bool]) -> None:
        """Write empty before-images for new plants, those that meet a condition; before-images that exist stay."""
        number = sa.literal(self.number, NUMBER)
        new = sa.select(number, PLANT.c.id, number).where(condition).order_by(PLANT.c.id)
        images = self.database.insert(BEFORE_IMAGE).from_select(["change", "plant_id", "after"], new)
        self.runner.run(_keep_existing(images))

    def add(self, plant_id: int, values: dict[str, Any]) -> None:
        """Add a plant; `values` are its texts and its source."""
        parameters: dict[str, Any] = {"plant": plant_id, "sequence": self.reserve_seqs(), "number": self.number}
        parameters |= {f"new_{name}": value for name, value in values.items()}
        self.runner.run_all(_add_statements(self.database), **parameters)

    # --- the entry ---

    def measure(self) -> ChangeSize:
        """Return the size of the change, from its before-images."""
        image = BEFORE_IMAGE.c
        is_of_change = image.change == self.number
        name = sa.select(sa.func.coalesce(image.name, PLANT.c.name, "")).where(is_of_change).limit(1)
        name = name.outerjoin_from(BEFORE_IMAGE, PLANT, PLANT.c.id == image.plant_id)
        texts = (sa.func.coalesce(self.database.bytes_of(image[column]), 0) for column in TEXTS)
        size = sa.func.coalesce(sa.func.sum(sum(texts, start=sa.literal(_IMAGE_SIZE))), 0)
        growth = sa.func.count(image.after) - sa.func.count(image.seq)
        totals = sa.select(sa.func.count(), size, growth, name.correlate(None).scalar_subquery()).where(is_of_change)
        return ChangeSize(*self.runner.run(totals).one())

    def record(
        self,
        source: Source,
        kind: ChangeKind,
        parameters: dict[str, Any],
        undoes: int | None = None,
        size: ChangeSize | None = None,
    ) -> Change:
        """Add the entry of the change and return it. The before-images must be complete."""
        size = size or self.measure()
        image = BEFORE_IMAGE.c
        desk_parameter = {DESK: self.desk} if self.desk else {}
        values = {"number": self.number, "made_at": self.database.now(), "source_id": source.id, "kind": str(kind)}
        values |= {"parameters": json.dumps(parameters | desk_parameter | {LAST_SEQ: self.last_seq})}
        values |= {"plants": size.plants, "undoes": undoes, "undone": 0, "size": size.size}
        largest = sa.select(sa.func.max(image.plant_id)).where(
            image.change == self.number, image.plant_id < FIRST_UNCOUNTED_ID
        )
        finish = self.finish_and_reserve_ids(size, largest.scalar_subquery())
        inserted = sa.insert(CHANGE).values(values).returning(CHANGE.c.made_at)
        made_at = self.runner.run_all(self.database.combine(finish, inserted)).scalar_one()
        stored_parameters = json.loads(json.dumps(parameters))  # as they will be read: tuples become lists
        stored_source = source.without_token()
        return Change(self.number, made_at, stored_source, kind, stored_parameters, size.plants, undoes, desk=self.desk)


@cache
def _add_statements(database: Database) -> Sequence[sa.Executable]:
    """Return the statements that add a plant in a change; its values are parameters."""
    plant: sa.BindParameter[int] = sa.bindparam("plant")
    number: sa.BindParameter[int] = sa.bindparam("number")
    image = database.insert(BEFORE_IMAGE).values(change=number, plant_id=plant, after=number)
    values: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in (*TEXTS, "source_id")}
    values |= {"id": plant, "seq": sa.bindparam("sequence"), "added_at": database.now(), "change": number}
    return database.combine(_keep_existing(image), sa.insert(PLANT).values(values))


def _keep_existing(images: sqlite.Insert | postgresql.Insert) -> sa.Insert:
    """Return the INSERT extended: before-images that exist stay, except that `after` gets the new version."""
    return images.on_conflict_do_update(index_elements=["change", "plant_id"], set_={"after": images.excluded.after})
