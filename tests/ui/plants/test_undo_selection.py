"""After an undo the plants concerned are selected and visible, as far as the list shows them."""

from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import SetTag
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.history.feature import HistoryDialog
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import SECONDS
from tests.ui.conftest import Adder, PlantsDriver

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class UndoDriver(PlantsDriver):
    """A window with many plants."""

    def go_to(self, *plant_ids: int) -> None:
        """Select neighbouring plants, the first by clicking its row."""
        self.window.activateWindow()
        self.table.setFocus()
        self.table.keeper.go_to_plant(plant_ids[0])
        for _ in plant_ids[1:]:
            self.press(Qt.Key.Key_Down, SHIFT)
        assert self.selected() == list(plant_ids)

    def delete(self, *plant_ids: int) -> None:
        """Delete neighbouring plants by the key, and wait until they are gone."""
        rows = self.table.model().rowCount()
        self.go_to(*plant_ids)
        self.press(Qt.Key.Key_Delete)
        self.until_rows(rows - len(plant_ids))

    def selected(self) -> list[int]:
        return list(self.table.selected_ids())

    def until_selected(self, *plant_ids: int) -> None:
        self.qtbot.waitUntil(lambda: self.selected() == list(plant_ids))
        assert self.table.current_id() == plant_ids[0]
        assert self.table.viewport().rect().contains(self.table.visualRect(self.table.currentIndex()))


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> UndoDriver:
    """Plants 1 to 200, the newest on top."""
    add(*(f"Plant {number:03}" for number in range(1, 201)))
    bare.set_up()
    bare.set_store(store)
    desk = UndoDriver(qtbot, bare.window())
    desk.until_rows(200)
    return desk


@pytest.mark.parametrize("way", ["key", "button"])
def test_deleted_plants_are_selected_where_they_are_again(desk: UndoDriver, way: str) -> None:
    desk.delete(42, 41)
    desk.table.jump_to_top()
    if way == "key":
        desk.press(Qt.Key.Key_Z, CONTROL)
    else:
        desk.until(lambda: "Deleted" in desk.toast.text)
        QTest.mouseClick(desk.button("Undo"), Qt.MouseButton.LeftButton)
    desk.until_selected(42, 41)
    assert desk.table.hasFocus()


def test_without_a_change_of_this_window_undo_leads_to_the_history(desk: UndoDriver, store: SqliteStore) -> None:
    store.apply([SetTag(Selection(ids=[7]), "hall")], FORM).result(SECONDS)
    desk.table.setFocus()
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: "nothing to undo here" in desk.toast.text)
    QTest.mouseClick(desk.button("History…"), Qt.MouseButton.LeftButton)
    desk.until(lambda: any(each.isVisible() for each in desk.widget.findChildren(HistoryDialog)))
    desk.the(HistoryDialog).close()


def test_a_double_click_on_undo_does_not_press_redo(desk: UndoDriver) -> None:
    desk.delete(42)
    desk.until(lambda: "Deleted" in desk.toast.text)
    QTest.mouseClick(desk.button("Undo"), Qt.MouseButton.LeftButton)
    desk.until(lambda: "Undone" in desk.toast.text)
    redo = desk.button("Redo")
    desk.press_again(redo, redo.rect().center())
    desk.until_rows(200)
    assert "Undone" in desk.toast.text


def test_in_another_order_an_edited_plant_is_followed_to_its_place(desk: UndoDriver) -> None:
    desk.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    desk.go_to(100)
    desk.press(Qt.Key.Key_F2)
    desk.until(desk.table.editor.hasFocus)
    desk.type(desk.table.editor, "Aloe")
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.table.model().index(0, Column.NAME).data() == "Aloe")
    desk.until_selected(100)
    desk.go_to(7)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_selected(100)
    desk.table.jump_to_top()
    desk.press(Qt.Key.Key_Z, CONTROL | SHIFT)
    desk.until(lambda: desk.table.model().index(0, Column.NAME).data() == "Aloe")
    desk.until_selected(100)


def test_what_the_search_hides_changes_no_selection_also_later(desk: UndoDriver) -> None:
    desk.delete(42, 41)
    desk.type(desk.search, '"Plant 19"')
    desk.until_rows(10)
    desk.go_to(195)
    desk.until(lambda: "10 of 198" in desk.texts())
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: "10 of 200" in desk.texts())
    desk.press(Qt.Key.Key_Escape)
    desk.until_rows(200)
    assert desk.selected() == [195]


def test_undo_brings_back_all_that_a_search_has_found(desk: UndoDriver) -> None:
    desk.type(desk.search, '"Plant 19"')
    desk.until_rows(10)
    desk.table.setFocus()
    desk.press(Qt.Key.Key_A, CONTROL)
    desk.press(Qt.Key.Key_Delete)
    desk.until_rows(0)
    desk.until(desk.search.hasFocus)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_selected(*range(199, 189, -1))
    assert desk.search.text() == '"Plant 19"'


def test_steps_that_are_requested_at_once_are_made_one_after_the_other(desk: UndoDriver) -> None:
    for plant_id in (42, 30, 20):
        desk.go_to(plant_id)
        desk.press(Qt.Key.Key_Delete)
    desk.until_rows(197)
    for _ in range(3):
        desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_rows(200)
    desk.until(lambda: "Undone" in desk.toast.text)
    for _ in range(2):
        desk.press(Qt.Key.Key_Y, CONTROL)
    desk.until_rows(198)


def test_what_an_undo_has_left_is_shown(desk: UndoDriver, store: SqliteStore) -> None:
    desk.delete(42, 41)
    store.add(new_plant({"id": 42, "name": "Plant 042"}), FORM).result()  # is there again
    desk.until_rows(199)
    desk.go_to(7)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: "Show" in desk.buttons())
    desk.button("Show").click()
    desk.until_selected(42)


def test_a_plant_whose_id_is_in_use_is_back_under_the_next_one_and_selected(
    desk: UndoDriver, store: SqliteStore
) -> None:
    desk.delete(200)
    store.add(new_plant({"id": 200, "name": "Another"}), FORM).result()
    desk.until_rows(200)
    desk.go_to(7)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_selected(201)
    desk.until(lambda: "since its own is in use: 200 → 201." in desk.toast.text)
    desk.press(Qt.Key.Key_Y, CONTROL)
    desk.until_rows(200)
    with closing(store.reader()) as reader:
        assert {each: row.name for each, row in reader.rows([200, 201]).items()} == {200: "Another"}


def test_many_plants_leave_the_selection_as_it_is(desk: UndoDriver) -> None:
    desk.go_to(200)
    for _ in range(120):
        desk.press(Qt.Key.Key_Down, SHIFT)
    desk.press(Qt.Key.Key_Delete)
    desk.until_rows(79)
    desk.go_to(7)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_rows(200)
    assert desk.selected() == [7]


@pytest.mark.parametrize("label", ["Name", "Search by name, tag or ID"])
def test_undo_takes_back_a_change_and_not_what_was_erased_in_the_focused_field(desk: UndoDriver, label: str) -> None:
    desk.go_to(42)
    desk.press(Qt.Key.Key_Delete)
    field = desk.name if label == "Name" else desk.field(label)
    field.setFocus()
    QTest.keyClicks(field, "fern")
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    desk.until_rows(199)
    desk.until(lambda: "Deleted" in desk.toast.text)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_rows(200)
    assert field.text() == ""
