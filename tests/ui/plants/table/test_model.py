import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import Delete, DeleteAll, Edit, edited
from plantdesk.domain.records import FORM, Changes
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PLANT_ROLE, PlantModel
from plantdesk.ui.plants.table.row_order import Query
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


def shown(qtbot: QtBot, model: PlantModel, store: Store) -> None:
    model.set_store(store)
    qtbot.waitUntil(lambda: model.complete and not model.busy)


def asked(qtbot: QtBot, model: PlantModel, query: Query) -> None:
    with qtbot.waitSignal(model.rows_replaced):
        model.show(query)
    qtbot.waitUntil(lambda: model.complete)


def changed(store: Store, *edits: Edit) -> None:
    store.apply(edits, FORM).result(SECONDS)


@pytest.mark.parametrize("query", [Query(), Query(column=Column.ID), Query(column=Column.NAME), Query("a")], ids=str)
def test_edits_deletions_and_undo_are_shown_in_every_order(
    qtbot: QtBot, live: PlantModel, store: Store, add: Adder, query: Query
) -> None:
    aloe, basil, cactus = add("Aloe", "Basil", "Cactus")
    live.show(query)
    shown(qtbot, live, store)
    before = names(live)
    changed(store, edited(basil, name="A new name"), Delete(aloe.id, aloe.version, aloe.name))
    after = (
        ["A new name", "Cactus"] if query.column is Column.NAME and not query.descending else ["Cactus", "A new name"]
    )
    await_names(qtbot, live, after)
    qtbot.waitUntil(lambda: live.total == 2)
    store.undo(None, FORM).result(SECONDS)
    await_names(qtbot, live, before)
    qtbot.waitUntil(lambda: live.total == 3)
    changed(store, DeleteAll(Selection(ids=[cactus.id])))
    qtbot.waitUntil(lambda: names(live) == [name for name in before if name != "Cactus"])


def test_reading_a_cell_never_waits_for_the_store(
    qtbot: QtBot, unread_model: PlantModel, store: Store, add: Adder
) -> None:
    model = unread_model
    add("Aloe", tag="office")
    shown(qtbot, model, store)
    assert [model.index(0, column).data() for column in Column] == ["…"] * len(Column)
    assert model.index(0, 0).data(PLANT_ROLE) is None
    await_names(qtbot, model, ["Aloe"])
    assert model.index(0, Column.TAG).data() == "office"


def test_a_plant_that_comes_joins_on_top_without_a_reset(
    qtbot: QtBot, live: PlantModel, store: Store, add: Adder
) -> None:
    add("Aloe")
    shown(qtbot, live, store)
    aloe = QPersistentModelIndex(live.index(0, Column.NAME))
    with qtbot.assertNotEmitted(live.modelReset):
        add("Basil", "Cactus")
        await_names(qtbot, live, ["Cactus", "Basil", "Aloe"])
    assert (aloe.row(), live.total) == (2, 3)


def test_plants_that_come_while_rows_load_are_shown_once(
    qtbot: QtBot, live: PlantModel, store: Store, add: Adder
) -> None:
    add(*(f"Fern {number}" for number in range(2000)))
    live.set_store(store)
    add("Aloe")
    qtbot.waitUntil(lambda: live.complete and live.rowCount() == 2001)
    ids = list(live.ids_between(0, 2001))
    assert ids == sorted(ids, reverse=True)
    assert len(set(ids)) == 2001


def test_plants_reported_late_are_in_the_order_of_the_store(
    qtbot: QtBot, model: PlantModel, store: Store, add: Adder
) -> None:
    rows = add(*(f"Fern {number}" for number in range(2000)))

    def report_late() -> None:
        model.apply(Changes(tuple(rows[:900])))

    model.rows_replaced.connect(report_late)  # only the 512 newest rows are here then
    shown(qtbot, model, store)
    assert list(model.ids_between(0, 1999)) == list(range(2000, 0, -1))


def test_the_rows_before_stay_until_those_of_a_search_are_there(
    qtbot: QtBot, model: PlantModel, store: Store, add: Adder
) -> None:
    add("Aloe", "Basil")
    shown(qtbot, model, store)
    await_names(qtbot, model, ["Basil", "Aloe"])
    model.show(Query("aloe"))
    assert model.busy
    assert names(model) == ["Basil", "Aloe"]
    await_names(qtbot, model, ["Aloe"])
    assert not model.busy


def test_of_several_searches_the_last_one_counts(qtbot: QtBot, model: PlantModel, store: Store, add: Adder) -> None:
    add("Aloe", "Basil", "Cactus")
    shown(qtbot, model, store)
    for text in ("a", "al", "b", "bas"):
        model.show(Query(text))
    await_names(qtbot, model, ["Basil"])


def test_a_search_takes_in_only_those_new_plants_that_it_finds(
    qtbot: QtBot, live: PlantModel, store: Store, add: Adder
) -> None:
    add("Aloe vera")
    shown(qtbot, live, store)
    asked(qtbot, live, Query("aloe"))
    add("Basil", "Aloe ferox")
    await_names(qtbot, live, ["Aloe ferox", "Aloe vera"])
    qtbot.waitUntil(lambda: live.total == 3)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query(column=Column.NAME, descending=False), ["Aloe", "Basil", "Cactus"]),
        (Query(column=Column.NAME, descending=True), ["Cactus", "Basil", "Aloe"]),
        (Query(column=Column.ID, descending=False), ["Basil", "Cactus", "Aloe"]),
        (Query(column=Column.ADDED, descending=False), ["Basil", "Cactus", "Aloe"]),
    ],
)
def test_a_new_plant_finds_its_place_in_every_order(
    qtbot: QtBot, live: PlantModel, store: Store, add: Adder, query: Query, expected: list[str]
) -> None:
    add("Basil")
    shown(qtbot, live, store)
    asked(qtbot, live, query)
    basil = QPersistentModelIndex(live.index(0, 0))
    with qtbot.assertNotEmitted(live.modelReset):
        add("Cactus")
        await_names(qtbot, live, [name for name in expected if name != "Aloe"])
        add("Aloe")
        await_names(qtbot, live, expected)
    assert basil.row() == expected.index("Basil")


def test_what_another_program_changed_is_read_again(
    qtbot: QtBot, model: PlantModel, store: Store, add: Adder, other_program: sqlite3.Connection
) -> None:
    add("Aloe", "Basil", "Cactus")
    shown(qtbot, model, store)
    await_names(qtbot, model, ["Cactus", "Basil", "Aloe"])
    cactus = QPersistentModelIndex(model.index(0, 0))
    with other_program, qtbot.assertNotEmitted(model.modelReset):
        other_program.execute("DELETE FROM plant WHERE name = 'Basil'")
        other_program.execute("UPDATE plant SET name = 'Cactus two' WHERE name = 'Cactus'")
        other_program.commit()
        model.apply(Changes(needs_reload=True))
        await_names(qtbot, model, ["Cactus two", "Aloe"])
    assert cactus.row() == 0
    assert model.total == 2


def test_when_everything_changed_the_rows_are_exchanged_at_once(
    qtbot: QtBot, model: PlantModel, store: Store, add: Adder, other_program: sqlite3.Connection
) -> None:
    add(*(f"Fern {number}" for number in range(400)))
    shown(qtbot, model, store)
    with qtbot.waitSignal(model.rows_replaced) as rows_replaced:
        other_program.execute("UPDATE plant SET seq = 10000 - seq")
        other_program.commit()
        model.apply(Changes(needs_reload=True))
    assert rows_replaced.args == [True]
    assert model.id_at(0) == 1


def test_a_plant_that_is_gone_is_not_asked_for_for_ever(
    qtbot: QtBot, unread_model: PlantModel, store: Store, add: Adder, other_program: sqlite3.Connection
) -> None:
    model = unread_model
    add("Aloe")
    shown(qtbot, model, store)
    other_program.execute("DELETE FROM plant")
    other_program.commit()
    assert names(model) == ["…"]
    with qtbot.waitSignal(model.dataChanged):
        pass
    with qtbot.assertNotEmitted(model.dataChanged, wait=100):
        assert names(model) == ["…"]


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot move an open file")
def test_a_failure_of_the_store_is_reported_and_can_be_retried(
    qtbot: QtBot, model: PlantModel, store: Store, add: Adder
) -> None:
    add("Aloe")
    moved = store.path.with_name("away")
    store.path.rename(moved)
    store.path.mkdir()
    with qtbot.waitSignal(model.failed) as failed:
        model.set_store(store)
    assert str(failed.args[0])
    assert not model.busy
    store.path.rmdir()
    moved.rename(store.path)
    model.retry()
    await_names(qtbot, model, ["Aloe"])


def test_listeners_hear_words_for_what_is_not_there_and_nothing_twice(
    qtbot: QtBot, model: PlantModel, store: Store, add: Adder
) -> None:
    add("Aloe")
    shown(qtbot, model, store)
    await_names(qtbot, model, ["Aloe"])
    assert model.index(0, Column.TAG).data(Qt.ItemDataRole.AccessibleTextRole) == "no tag"
    assert not model.index(0, Column.NAME).data(Qt.ItemDataRole.AccessibleDescriptionRole)


@pytest.mark.parametrize("query", [Query(), Query("a")], ids=str)
def test_a_plant_added_and_deleted_between_two_signals_is_not_counted_away(
    qtbot: QtBot, live: PlantModel, store: Store, add: Adder, query: Query
) -> None:
    add("Aloe", "Basil")
    shown(qtbot, live, store)
    if query.text:
        asked(qtbot, live, query)
    [row] = add("Ivy")
    changed(store, Delete(row.id, row.version, row.name))
    [last] = add("Last")
    qtbot.waitUntil(lambda: live.total == 3)
    with closing(store.reader()) as reader:
        assert last.id in reader.rows([last.id])
    qtbot.waitUntil(lambda: live.is_current and live.total == 3)
