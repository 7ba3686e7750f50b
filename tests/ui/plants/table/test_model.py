import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import Delete, Edit
from plantdesk.domain.records import FORM
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PLANT_ROLE, PlantModel
from plantdesk.ui.plants.table.row_order import TableQuery
from tests.support.waiting import SECONDS
from tests.ui.conftest import Adder


@pytest.fixture
def model(qtmodeltester: ModelTester, bridge: Bridge) -> Iterator[PlantModel]:
    """A model without a store, under Qt's own tester."""
    model = PlantModel(bridge)
    qtmodeltester.check(model)
    yield model
    model.close()


@pytest.fixture
def unread_model(bridge: Bridge) -> Iterator[PlantModel]:
    """A model that no tester reads."""
    model = PlantModel(bridge)
    yield model
    model.close()


@pytest.fixture
def live(model: PlantModel, bridge: Bridge) -> PlantModel:
    """The model, which gets the changes of the store."""
    bridge.changed.connect(model.apply)
    return model


def names(model: PlantModel) -> list[str]:
    return [model.index(row, Column.NAME).data() for row in range(model.rowCount())]


def await_names(qtbot: QtBot, model: PlantModel, expected: list[str]) -> None:
    qtbot.waitUntil(lambda: names(model) == expected)


def show_store(qtbot: QtBot, model: PlantModel, store: SqliteStore) -> None:
    model.set_store(store)
    qtbot.waitUntil(lambda: model.rows.is_complete)


def run_query(qtbot: QtBot, model: PlantModel, query: TableQuery) -> None:
    with qtbot.waitSignal(model.rows_replaced):
        model.show(query)
    qtbot.waitUntil(lambda: model.rows.is_complete)


def apply_edits(store: SqliteStore, *edits: Edit) -> None:
    store.apply(edits, FORM).result(SECONDS)


def test_reading_a_cell_never_waits_for_the_store(
    qtbot: QtBot, unread_model: PlantModel, store: SqliteStore, add: Adder
) -> None:
    model = unread_model
    add("Aloe", tag="office")
    show_store(qtbot, model, store)
    assert [model.index(0, column).data() for column in Column] == ["…"] * len(Column)
    assert model.index(0, 0).data(PLANT_ROLE) is None
    await_names(qtbot, model, ["Aloe"])
    assert model.index(0, Column.TAG).data() == "office"


def test_a_plant_that_comes_joins_on_top_without_a_reset(
    qtbot: QtBot, live: PlantModel, store: SqliteStore, add: Adder
) -> None:
    add("Aloe")
    show_store(qtbot, live, store)
    aloe = QPersistentModelIndex(live.index(0, Column.NAME))
    with qtbot.assertNotEmitted(live.modelReset):
        add("Basil", "Cactus")
        await_names(qtbot, live, ["Cactus", "Basil", "Aloe"])
    assert (aloe.row(), live.rows.total) == (2, 3)
    assert live.index(0, Column.TAG).data(Qt.ItemDataRole.AccessibleTextRole) == "no tag"
    assert not live.index(0, Column.NAME).data(Qt.ItemDataRole.AccessibleDescriptionRole), "nothing is heard twice"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (TableQuery(column=Column.NAME, descending=False), ["Aloe", "Basil", "Cactus"]),
        (TableQuery(column=Column.NAME, descending=True), ["Cactus", "Basil", "Aloe"]),
        (TableQuery(column=Column.ID, descending=False), ["Basil", "Cactus", "Aloe"]),
        (TableQuery(column=Column.ADDED, descending=False), ["Basil", "Cactus", "Aloe"]),
    ],
)
def test_a_new_plant_finds_its_place_in_every_order(
    qtbot: QtBot, live: PlantModel, store: SqliteStore, add: Adder, query: TableQuery, expected: list[str]
) -> None:
    add("Basil")
    show_store(qtbot, live, store)
    run_query(qtbot, live, query)
    basil = QPersistentModelIndex(live.index(0, 0))
    with qtbot.assertNotEmitted(live.modelReset):
        add("Cactus")
        await_names(qtbot, live, [name for name in expected if name != "Aloe"])
        add("Aloe")
        await_names(qtbot, live, expected)
    assert basil.row() == expected.index("Basil")


def test_a_plant_that_is_gone_is_not_asked_for_for_ever(
    qtbot: QtBot, unread_model: PlantModel, store: SqliteStore, add: Adder, other_program: sqlite3.Connection
) -> None:
    model = unread_model
    add("Aloe")
    show_store(qtbot, model, store)
    other_program.execute("DELETE FROM plant")
    other_program.commit()
    assert names(model) == ["…"]
    with qtbot.waitSignal(model.dataChanged):
        pass
    with qtbot.assertNotEmitted(model.dataChanged, wait=100):
        assert names(model) == ["…"]


@pytest.mark.parametrize("query", [TableQuery(), TableQuery("a")], ids=str)
def test_a_plant_added_and_deleted_between_two_signals_is_not_counted_away(
    qtbot: QtBot, live: PlantModel, store: SqliteStore, add: Adder, query: TableQuery
) -> None:
    add("Aloe", "Basil")
    show_store(qtbot, live, store)
    if query.text:
        run_query(qtbot, live, query)
    [row] = add("Ivy")
    apply_edits(store, Delete(row.id, row.version, row.name))
    [last] = add("Last")
    qtbot.waitUntil(lambda: live.rows.total == 3)
    with closing(store.reader()) as reader:
        assert last.id in reader.rows([last.id])
    qtbot.waitUntil(lambda: live.rows.is_current and live.rows.total == 3)
