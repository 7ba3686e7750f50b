"""The layout of the table is remembered for each store."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from plantdesk.domain.errors import StoreReadOnlyError
from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform.unsaved_file import STORED_NAMES
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.plants.feature import PlantsFeature
from plantdesk.ui.plants.form import DRAFT_DELAY_MS
from plantdesk.ui.plants.form_fields import NameField
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.preferences import Preferences
from tests.ui.conftest import Adder, PlantsDriver

BARCODES = ("Dill", "Mint", "Rose", "Sage")


class LayoutDriver(PlantsDriver):
    """A window that opens one store after the other."""

    def __init__(self, qtbot: QtBot, context: WindowContext) -> None:
        super().__init__(qtbot, context.page.window())
        self.context = context
        self.window.resize(1400, 760)
        self.plants = PlantsFeature(context)
        self.plants.set_up()
        self.queries: StoreQueries | None = None

    def open(self, store: SqliteStore) -> None:
        self.close()
        self.queries = StoreQueries(self.context.bridge.short_tasks, store)
        self.context.location = location_of(store.path)
        self.plants.set_store(OpenStore(store, self.queries))
        self.count(store)

    def count(self, store: SqliteStore) -> None:
        """Count the plants, as the sidebar does."""
        with closing(store.reader()) as reader:
            self.plants.show_counts(reader.counts(), [])

    def close(self) -> None:
        if self.queries is not None:
            self.plants.release_store()
            self.queries.close()
            self.queries = None

    def drag_edge(self, column: Column, pixels: int) -> None:
        """Drag the right edge of a heading."""
        header = self.table.horizontalHeader()
        edge = header.sectionViewportPosition(column) + header.sectionSize(column) - 1
        start, end = QPoint(edge, header.height() // 2), QPoint(edge + pixels, header.height() // 2)
        QTest.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(header.viewport(), end)
        QTest.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=end)


def kept(store: SqliteStore) -> Mapping[str, Any]:
    """Return what the settings file has of a store."""
    return Preferences(store.path.with_name("settings.json")).of_store(location_of(store.path).key)


@pytest.fixture
def user(qtbot: QtBot, context: WindowContext, store: SqliteStore, add: Adder) -> Iterator[LayoutDriver]:
    """Aloe, Cactus and Basil, the newest on top."""
    add("Basil", "Cactus", "Aloe")
    user = LayoutDriver(qtbot, context)
    user.open(store)
    user.expect_names("Aloe", "Cactus", "Basil")
    yield user
    user.close()


@pytest.fixture
def other_store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "other.db")
    yield store
    store.close()


def test_order_columns_and_density_are_those_of_the_store(
    user: LayoutDriver, store: SqliteStore, other_store: SqliteStore
) -> None:
    user.action("By name").trigger()
    user.action("Compact rows").trigger()
    user.action("From").trigger()
    height = user.table.rowHeight(0)
    for source in (FORM, COMMAND):
        other_store.add(new_plant({"id": source.id, "name": "Dill"}), source).result()
    user.open(other_store)
    user.qtbot.waitUntil(lambda: not user.table.isColumnHidden(Column.SOURCE))
    assert [user.action(text).isChecked() for text in ("Newest first", "Compact rows", "From")] == [True, False, True]
    user.open(store)
    user.expect_names("Aloe", "Basil", "Cactus")
    assert (user.table.rowHeight(0), user.table.isColumnHidden(Column.SOURCE)) == (height, True)
    assert [user.action(text).isChecked() for text in ("By name", "Compact rows", "From")] == [True, True, False]


def test_a_search_typed_before_the_store_is_open_stays(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, other_store: SqliteStore, add: Adder
) -> None:
    add("Basil", "Aloe")
    user = LayoutDriver(qtbot, context)
    user.type(user.search, "aloe")
    user.open(store)
    user.expect_names("Aloe")
    user.open(other_store)
    assert user.search.text() == ""
    user.close()


def test_typing_replaces_the_last_search_that_find_selects_before_the_store_is_open(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, add: Adder
) -> None:
    add("Basil", "Aloe")
    context.location = location_of(store.path)
    context.preferences.change_store(context.location.key, search="opuntia")
    user = LayoutDriver(qtbot, context)
    user.action("Find").trigger()
    user.open(store)
    assert user.search.selectedText() == "opuntia"
    user.hit(*"aloe")
    user.expect_names("Aloe")
    user.close()


def test_a_chosen_width_is_remembered(user: LayoutDriver, store: SqliteStore, other_store: SqliteStore) -> None:
    usual = user.table.columnWidth(Column.TAG)
    user.drag_edge(Column.TAG, 80)
    chosen = user.table.columnWidth(Column.TAG)
    assert chosen == usual + 80
    user.open(other_store)
    assert user.table.columnWidth(Column.TAG) == usual
    user.open(store)
    assert user.table.columnWidth(Column.TAG) == pytest.approx(chosen, abs=1)


def test_a_second_source_moves_no_column_until_the_columns_are_set_anew(user: LayoutDriver, store: SqliteStore) -> None:
    before = user.table.columnViewportPosition(Column.TAG)
    store.add(new_plant({"id": 7, "name": "Dill"}), COMMAND).result()
    user.until(lambda: "Dill" in user.names())
    user.count(store)
    assert user.table.columnViewportPosition(Column.TAG) == before
    user.window.resize(1401, 760)
    user.until(lambda: not user.table.isColumnHidden(Column.SOURCE))


def test_what_is_typed_is_remembered_until_it_is_removed_or_added(user: LayoutDriver, store: SqliteStore) -> None:
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        user.type(user.the(NameField), "Dill")
        user.qtbot.waitUntil(lambda: kept(store).get("draft") == ["", "Dill", ""])
        QTest.keyClick(user.the(NameField), key)
        if key is Qt.Key.Key_Escape:
            user.qtbot.waitUntil(lambda: kept(store).get("draft") is None)
    user.qtbot.waitUntil(lambda: user.message.text.startswith("Added"))
    assert not kept(store).keys() & STORED_NAMES, "as soon as the user sees that it was added"


def test_a_plant_that_waits_is_remembered_at_once_and_while_the_next_one_is_typed(
    user: LayoutDriver, store: SqliteStore
) -> None:
    user.close()
    user.type(user.the(NameField), "Dill")
    QTest.keyClick(user.the(NameField), Qt.Key.Key_Return)
    assert [submission["texts"][1] for submission in kept(store)["unsaved"]] == ["Dill"], "before the store is open"
    user.plants.show_no_store(StoreReadOnlyError())
    user.type(user.the(NameField), "Mint")
    QTest.keyClick(user.the(NameField), Qt.Key.Key_Return)
    user.type(user.the(NameField), "Ros")
    saved = [(submission["texts"][1], submission["waits"]) for submission in kept(store)["unsaved"]]
    assert saved == [("Dill", True), ("Mint", True)]


def test_plants_that_a_locked_store_does_not_take_are_remembered_with_one_write_each(
    user: LayoutDriver, store: SqliteStore, other_program: sqlite3.Connection
) -> None:
    def names() -> list[str]:
        return [submission["texts"][1] for submission in kept(store).get("unsaved", [])]

    other_program.execute("BEGIN IMMEDIATE")
    for count, name in enumerate(BARCODES):
        user.type(user.the(NameField), name)
        QTest.keyClick(user.the(NameField), Qt.Key.Key_Return)
        if count:
            assert names() == list(BARCODES[: count + 1]), "a kill loses none, however fast they are typed"
    other_program.rollback()
    user.qtbot.waitUntil(lambda: user.names()[: len(BARCODES)] == [*reversed(BARCODES)])
    user.qtbot.waitUntil(lambda: not names())


def test_a_waiting_plant_whose_draft_is_remembered_is_remembered_at_once(
    user: LayoutDriver, store: SqliteStore, other_program: sqlite3.Connection
) -> None:
    other_program.execute("BEGIN IMMEDIATE")
    user.type(user.the(NameField), "Dill")
    QTest.keyClick(user.the(NameField), Qt.Key.Key_Return)
    user.type(user.the(NameField), "Mi")
    user.qtbot.waitUntil(lambda: kept(store).get("draft") == ["", "Mi", ""])
    QTest.keyClicks(user.the(NameField), "nt")
    QTest.keyClick(user.the(NameField), Qt.Key.Key_Return)
    assert [submission["texts"][1] for submission in kept(store)["unsaved"]] == ["Dill", "Mint"]
    assert not kept(store).get("draft")
    other_program.rollback()


def test_one_plant_that_a_locked_store_does_not_take_is_remembered_by_itself(
    user: LayoutDriver, store: SqliteStore, other_program: sqlite3.Connection
) -> None:
    other_program.execute("BEGIN IMMEDIATE")
    user.type(user.the(NameField), "Dill")
    QTest.keyClick(user.the(NameField), Qt.Key.Key_Return)
    user.qtbot.waitUntil(lambda: bool(kept(store).get("unsaved")))
    other_program.rollback()


def test_what_is_typed_without_a_pause_is_remembered_too(user: LayoutDriver, store: SqliteStore) -> None:
    """Each key a quarter of the delay after the one before."""
    keys = QTimer(user.window, interval=DRAFT_DELAY_MS // 4)
    keys.timeout.connect(lambda: QTest.keyClick(user.the(NameField), Qt.Key.Key_A))
    user.the(NameField).setFocus()
    keys.start()
    user.qtbot.waitUntil(lambda: bool(kept(store).get("draft")))
    keys.stop()


def test_typed_text_goes_along_to_another_store_whose_draft_is_put_aside(
    user: LayoutDriver, store: SqliteStore, other_store: SqliteStore, context: WindowContext
) -> None:
    keys = [location_of(each.path).key for each in (store, other_store)]
    context.preferences.change_store(keys[1], draft=["", "Basil", "hall"])
    user.type(user.the(NameField), "Dill")
    user.open(other_store)
    assert user.the(NameField).text() == "Dill"
    assert "Basil" in user.unsaved()
    assert [context.preferences.of_store(key)["draft"] for key in keys] == [[], ["", "Dill", ""]]
