"""Before-images, rows and entry of one change, in an open transaction."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    Insert,
    ScalarSelect,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    update,
)
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
    """The plants of a change, the bytes of their before-images, the growth in plants, and a plant's name."""

    plants: int
    size: int
    growth: int = 0
    name: str | None = None


def is_in(table: Table) -> ColumnElement[bool]:
    """Return the condition that the id of a plant is in a table."""
    return PLANT.c.id.in_(select(table.c.id))


class ChangeWriter(ABC):
    """One change of the next number, in an open transaction of the caller. The methods raise the driver's errors."""

    #: The desk of a shared store.
    desk = ""

    def __init__(self, runner: Runner, number: int) -> None:
        self.runner, self.database, self.number = runner, runner.database, number

    @property
    @abstractmethod
    def last_seq(self) -> int:
        """The largest sequence number ever used."""

    @abstractmethod
    def next_seq(self, count: int = 1) -> int:
        """Return the first of so many new sequence numbers."""

    @abstractmethod
    def complete(self, extent: ChangeSize, largest_id: ScalarSelect[int]) -> Update:
        """Note that the change is complete; return what keeps ids up to `largest_id` (may be NULL) from being given."""

    def add_to_plant_count(self, plants: int) -> None:  # noqa: B027  a file counts its plants itself
        """Note by how many plants the store grows."""

    def allow_long_statements(self) -> None:  # noqa: B027  nothing as a rule
        """Let each of the following statements take long: they may change millions of plants."""

    def bulk_planning(self, plants: int) -> AbstractContextManager[object]:  # noqa: ARG002  others need it
        """Return a context in which the database plans the statements that undo a change of so many plants."""
        return nullcontext()

    def prepare_restoring(self, undone: int, back: Select[Any]) -> None:  # noqa: B027  nothing as a rule
        """Prepare for the return of plants that the change `undone` has deleted; `back` selects before-images."""

    # --- plants ---

    def collect(self, condition: ColumnElement[bool]) -> Table:
        """Return a table with the ids of the plants of a condition, until the next call."""
        self.database.prepare_table(self.runner, _CHOSEN)
        self.runner.run(insert(_CHOSEN).from_select(["id"], select(PLANT.c.id).where(condition)))
        self.database.analyze(self.runner, _CHOSEN)
        return _CHOSEN

    def materialized(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Return a condition of the same plants, for statements that find them once."""
        return is_in(self.collect(condition))

    def images(self, condition: ColumnElement[bool], *, deletes: bool = False) -> Insert:
        """Return the insert of images of the plants that meet a condition; those that the change has already stay."""
        number = literal(self.number, NUMBER)
        plants = select(number, PLANT.c.id, null() if deletes else number, *(PLANT.c[each] for each in SHARED_COLUMNS))
        images = self.database.insert(BEFORE_IMAGE)
        return _keep_first(images.from_select(IMAGE_COLUMNS, plants.add_columns(PLANT.c.change).where(condition)))

    def change(self, condition: ColumnElement[bool], values: dict[str, Any]) -> None:
        """Give the plants of a condition, which may join a table, other values."""
        changed = update(PLANT).where(condition).values(**values, change=self.number)
        self.runner.run_all(self.database.combined(self.images(condition), changed))

    def delete(self, condition: ColumnElement[bool]) -> None:
        """Delete the plants of a condition."""
        images = self.images(condition, deletes=True)
        self.runner.run_all(self.database.combined(images, delete(PLANT).where(condition)))

    def record_new_plants(self, condition: ColumnElement[bool]) -> None:
        """Store that the plants of a condition did not exist before the change, but for those with a before-image."""
        number = literal(self.number, NUMBER)
        new = select(number, PLANT.c.id, number).where(condition).order_by(PLANT.c.id)
        images = self.database.insert(BEFORE_IMAGE).from_select(["change", "plant_id", "after"], new)
        self.runner.run(_keep_first(images))

    def add(self, plant_id: int, values: dict[str, Any]) -> None:
        """Add a plant; `values` are its texts and its source."""
        added = {"plant": plant_id, "sequence": self.next_seq(), "number": self.number}
        self.runner.run_all(_added(self.database), **added, **{f"new_{name}": each for name, each in values.items()})

    # --- the entry ---

    def extent(self) -> ChangeSize:
        """Return the extent of the change, by its before-images."""
        image = BEFORE_IMAGE.c
        is_of_change = image.change == self.number
        named = select(func.coalesce(image.name, PLANT.c.name, "")).where(is_of_change).limit(1)
        named = named.outerjoin_from(BEFORE_IMAGE, PLANT, PLANT.c.id == image.plant_id)
        texts = (func.coalesce(self.database.bytes_of(image[each]), 0) for each in TEXTS)
        size = func.coalesce(func.sum(sum(texts, start=literal(_IMAGE_SIZE))), 0)
        growth = func.count(image.after) - func.count(image.seq)
        facts = select(func.count(), size, growth, named.correlate(None).scalar_subquery()).where(is_of_change)
        return ChangeSize(*self.runner.run(facts).one())

    def record(
        self,
        source: Source,
        kind: ChangeKind,
        parameters: dict[str, Any],
        undoes: int | None = None,
        extent: ChangeSize | None = None,
    ) -> Change:
        """Add the entry of the change and return it. The before-images must be complete."""
        extent, image = extent or self.extent(), BEFORE_IMAGE.c
        of_desk = {DESK: self.desk} if self.desk else {}
        values = {"number": self.number, "made_at": self.database.now(), "source_id": source.id, "kind": str(kind)}
        values |= {"parameters": json.dumps(parameters | of_desk | {LAST_SEQ: self.last_seq})}
        values |= {"plants": extent.plants, "undoes": undoes, "undone": 0, "size": extent.size}
        largest = select(func.max(image.plant_id)).where(
            image.change == self.number, image.plant_id < FIRST_UNCOUNTED_ID
        )
        completed = self.complete(extent, largest.scalar_subquery())
        inserted = insert(CHANGE).values(values).returning(CHANGE.c.made_at)
        made_at = self.runner.run_all(self.database.combined(completed, inserted)).scalar_one()
        facts = json.loads(json.dumps(parameters))  # as it will be read: tuples become lists
        by = source.without_token()
        return Change(self.number, made_at, by, kind, facts, extent.plants, undoes, desk=self.desk)


@cache
def _added(database: Database) -> Sequence[Executable]:
    plant: BindParameter[int] = bindparam("plant")
    number: BindParameter[int] = bindparam("number")
    image = database.insert(BEFORE_IMAGE).values(change=number, plant_id=plant, after=number)
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in (*TEXTS, "source_id")}
    values |= {"id": plant, "seq": bindparam("sequence"), "added_at": database.now(), "change": number}
    return database.combined(_keep_first(image), insert(PLANT).values(values))


def _keep_first(images: sqlite.Insert | postgresql.Insert) -> Insert:
    after = {"after": images.excluded.after}
    return images.on_conflict_do_update(index_elements=["change", "plant_id"], set_=after)
