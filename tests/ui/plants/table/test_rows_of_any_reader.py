"""Whichever query fails: the rows are those of the store in the end, each once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest
from pytestqt.qtbot import QtBot
from typing_extensions import override

from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.errors import NothingToUndoError, StoreBusyError, UndoConflictError
from plantdesk.domain.records import FORM, Changes
from plantdesk.domain.selections import Selection, View
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite import reader as sqlite_reader
from plantdesk.store.sqlite.reader import SqliteReader
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table import model as model_module
from plantdesk.ui.plants.table import row_order
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PlantModel
from plantdesk.ui.plants.table.row_order import TableQuery
from tests.support.adding import add_each
from tests.support.cases import number
from tests.support.waiting import SECONDS
from tests.ui.conftest import Adder

Hook = Callable[[str], object]


def _answer(_query: str) -> None:
    """Let a query be answered."""


class _HookedReader(SqliteReader):
    hook: Hook

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        for chunk in super().ids(view):
            self.hook("ids")
            yield chunk
        self.hook("ids")

    @override
    def count(self) -> int:
        self.hook("count")
        return super().count()


class _HookedStore(SqliteStore):
    hook: Hook = staticmethod(_answer)

    @override
    def reader(self) -> SqliteReader:
        reader = _HookedReader(self.file)
        reader.hook = self._call_hook
        return reader

    def _call_hook(self, query: str) -> None:
        self.hook(query)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[_HookedStore]:
    with closing(_HookedStore(tmp_path / "plants.db")) as store:
        yield store


@pytest.fixture
def model(bridge: Bridge) -> Iterator[PlantModel]:
    with closing(PlantModel(bridge)) as model:
        bridge.changed.connect(model.apply)
        yield model


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few plants do what many do, and repeat queries at once."""
    monkeypatch.setattr(sqlite_reader, "FIRST_CHUNK", 4)
    monkeypatch.setattr(sqlite_reader, "CHUNK", 8)
    monkeypatch.setattr(row_order, "_MAX_OVERLAP_ROWS", 10)
    monkeypatch.setattr(row_order, "_MAX_SEARCHED_REMOVALS", 2)
    monkeypatch.setattr(model_module, "_MIN_PAUSE_MS", 1)
    monkeypatch.setattr(model_module, "_RETRY_DELAY_MS", 1)


def ids_of(model: PlantModel) -> list[int]:
    return model.rows.ids.tolist()


def stored(store: SqliteStore, query: TableQuery) -> list[int]:
    with closing(SqliteReader(store.file)) as reader:
        return [plant_id for chunk in reader.ids(query.view) for plant_id in chunk]


@pytest.mark.parametrize("descending", [False, True])
def test_plants_that_are_deleted_and_added_again_at_once_are_listed_as_the_newest(
    qtbot: QtBot, store: _HookedStore, model: PlantModel, add: Adder, *, descending: bool
) -> None:
    add(*(f"Fern {number}" for number in range(30)))
    model.show(TableQuery(descending=descending))
    model.set_store(store)
    qtbot.waitUntil(lambda: model.rows.is_current)
    store.apply([DeleteAll(Selection(ids=[7]))], FORM).result(SECONDS)
    add("Late")
    add_each(store, [(new_plant({"id": 7, "name": "Again"}), FORM)])
    qtbot.waitUntil(lambda: model.rows.is_current and ids_of(model) == stored(store, model.query))


#: By time of adding most often: the rows are then prepended without a query.
_COLUMNS = [Column.ADDED, Column.ADDED, *Column]


class _TableDriver:
    """Random changes of a store, and of what the table shows of it."""

    def __init__(self, qtbot: QtBot, store: _HookedStore, model: PlantModel, seed: int) -> None:
        self.qtbot, self.store, self.model = qtbot, store, model
        self.chance, self._failures = Random(seed), Random(seed)
        self._queries = 0

    def add(self) -> None:
        ids = self.chance.sample(range(1, 41), self.chance.choice([1, 1, 3, 6]))
        plants = [new_plant({"id": plant_id, "name": f"{self.chance.choice('abc')} {plant_id}"}) for plant_id in ids]
        add_each(self.store, [(plant, FORM) for plant in plants])

    def delete(self) -> None:
        self._apply(DeleteAll(self._some()))

    def tag(self) -> None:
        self._apply(SetTag(self._some(), self.chance.choice("abc")))

    def undo(self) -> None:
        with suppress(NothingToUndoError, UndoConflictError):
            self.store.undo(None, FORM).result(SECONDS)

    def show(self) -> None:
        self.model.show(
            TableQuery(self.chance.choice(["", "", "a"]), self.chance.choice(_COLUMNS), self.chance.random() < 0.5)
        )

    def compare(self) -> None:
        self.model.apply(Changes(needs_reload=True))

    def look(self) -> None:
        """Take what is there, or wait for some queries; no plant is listed twice meanwhile."""
        until = self._queries + self.chance.choice([0, 0, 1, 2, 5])
        self.qtbot.waitUntil(lambda: self._lists_each_once() and (self._queries >= until or self.model.rows.is_current))

    def settle(self) -> None:
        self.qtbot.waitUntil(
            lambda: self.model.rows.is_current and ids_of(self.model) == stored(self.store, self.model.query)
        )

    def fail(self, _query: str) -> None:
        self._queries += 1
        if self._failures.random() < 0.3:
            raise StoreBusyError

    def _lists_each_once(self) -> bool:
        ids = ids_of(self.model)
        assert len(ids) == len(set(ids))
        return True

    def _some(self) -> Selection:
        return Selection(ids=self.chance.sample(range(1, 41), self.chance.choice([1, 2, 9])))

    def _apply(self, edit: DeleteAll | SetTag) -> None:
        self.store.apply([edit], FORM).result(SECONDS)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(number(12)))
def test_the_rows_are_those_of_the_store_after_any_failures(
    qtbot: QtBot, store: _HookedStore, model: PlantModel, seed: int
) -> None:
    user = _TableDriver(qtbot, store, model, seed)
    user.add()
    model.set_store(store)
    for _ in range(8):
        store.hook = user.fail
        for _ in range(12):
            user.chance.choice([user.add, user.add, user.delete, user.tag, user.undo, user.show, user.compare])()
            user.look()
        store.hook = _answer
        user.settle()
        user.add()
        user.settle()
