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
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> UndoDriver:
    """Plants 1 to 200, the newest on top."""
    add(*(f"Plant {number:03}" for number in range(1, 201)))
    bare.set_up()
    bare.set_store(store)
    user = UndoDriver(qtbot, bare.window())
    user.until_rows(200)
    return user


@pytest.mark.parametrize("way", ["key", "button"])
def test_deleted_plants_are_selected_where_they_are_again(user: UndoDriver, way: str) -> None:
    user.delete(42, 41)
    user.table.jump_to_top()
    if way == "key":
        user.press(Qt.Key.Key_Z, CONTROL)
    else:
        user.until(lambda: "Deleted" in user.toast.text)
        QTest.mouseClick(user.button("Undo"), Qt.MouseButton.LeftButton)
    user.until_selected(42, 41)
    assert user.table.hasFocus()


def test_without_a_change_of_this_window_undo_leads_to_the_history(user: UndoDriver, store: SqliteStore) -> None:
    store.apply([SetTag(Selection(ids=[7]), "hall")], FORM).result(SECONDS)
    user.table.setFocus()
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: "nothing to undo here" in user.toast.text)
    QTest.mouseClick(user.button("History…"), Qt.MouseButton.LeftButton)
    user.until(lambda: any(dialog.isVisible() for dialog in user.widget.findChildren(HistoryDialog)))
    user.the(HistoryDialog).close()


def test_a_double_click_on_undo_does_not_press_redo(user: UndoDriver) -> None:
    user.delete(42)
    user.until(lambda: "Deleted" in user.toast.text)
    QTest.mouseClick(user.button("Undo"), Qt.MouseButton.LeftButton)
    user.until(lambda: "Undone" in user.toast.text)
    redo = user.button("Redo")
    user.press_again(redo, redo.rect().center())
    user.until_rows(200)
    assert "Undone" in user.toast.text


def test_in_another_order_an_edited_plant_is_followed_to_its_place(user: UndoDriver) -> None:
    user.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    user.go_to(100)
    user.press(Qt.Key.Key_F2)
    user.until(user.table.editor.hasFocus)
    user.type(user.table.editor, "Aloe")
    user.press(Qt.Key.Key_Return)
    user.until(lambda: user.table.model().index(0, Column.NAME).data() == "Aloe")
    user.until_selected(100)
    user.go_to(7)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_selected(100)
    user.table.jump_to_top()
    user.press(Qt.Key.Key_Z, CONTROL | SHIFT)
    user.until(lambda: user.table.model().index(0, Column.NAME).data() == "Aloe")
    user.until_selected(100)


def test_what_the_search_hides_changes_no_selection_also_later(user: UndoDriver) -> None:
    user.delete(42, 41)
    user.type(user.search, '"Plant 19"')
    user.until_rows(10)
    user.go_to(195)
    user.until(lambda: "10 of 198" in user.texts())
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: "10 of 200" in user.texts())
    user.press(Qt.Key.Key_Escape)
    user.until_rows(200)
    assert user.selected() == [195]


def test_undo_brings_back_all_that_a_search_has_found(user: UndoDriver) -> None:
    user.type(user.search, '"Plant 19"')
    user.until_rows(10)
    user.table.setFocus()
    user.press(Qt.Key.Key_A, CONTROL)
    user.press(Qt.Key.Key_Delete)
    user.until_rows(0)
    user.until(user.search.hasFocus)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_selected(*range(199, 189, -1))
    assert user.search.text() == '"Plant 19"'


def test_steps_that_are_requested_at_once_are_made_one_after_the_other(user: UndoDriver) -> None:
    for plant_id in (42, 30, 20):
        user.go_to(plant_id)
        user.press(Qt.Key.Key_Delete)
    user.until_rows(197)
    for _ in range(3):
        user.press(Qt.Key.Key_Z, CONTROL)
    user.until_rows(200)
    user.until(lambda: "Undone" in user.toast.text)
    for _ in range(2):
        user.press(Qt.Key.Key_Y, CONTROL)
    user.until_rows(198)


def test_what_an_undo_has_left_is_shown(user: UndoDriver, store: SqliteStore) -> None:
    user.delete(42, 41)
    store.add(new_plant({"id": 42, "name": "Plant 042"}), FORM).result()  # is there again
    user.until_rows(199)
    user.go_to(7)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: "Show" in user.buttons())
    user.button("Show").click()
    user.until_selected(42)


def test_a_plant_whose_id_is_in_use_is_back_under_the_next_one_and_selected(
    user: UndoDriver, store: SqliteStore
) -> None:
    user.delete(200)
    store.add(new_plant({"id": 200, "name": "Another"}), FORM).result()
    user.until_rows(200)
    user.go_to(7)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_selected(201)
    user.until(lambda: "since its own is in use: 200 → 201." in user.toast.text)
    user.press(Qt.Key.Key_Y, CONTROL)
    user.until_rows(200)
    with closing(store.reader()) as reader:
        assert {plant_id: row.name for plant_id, row in reader.rows([200, 201]).items()} == {200: "Another"}


def test_many_plants_leave_the_selection_as_it_is(user: UndoDriver) -> None:
    user.go_to(200)
    for _ in range(120):
        user.press(Qt.Key.Key_Down, SHIFT)
    user.press(Qt.Key.Key_Delete)
    user.until_rows(79)
    user.go_to(7)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_rows(200)
    assert user.selected() == [7]


@pytest.mark.parametrize("label", ["Name", "Search by name, tag or ID"])
def test_undo_takes_back_a_change_and_not_what_was_erased_in_the_focused_field(user: UndoDriver, label: str) -> None:
    user.go_to(42)
    user.press(Qt.Key.Key_Delete)
    field = user.name if label == "Name" else user.field(label)
    field.setFocus()
    QTest.keyClicks(field, "fern")
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    user.until_rows(199)
    user.until(lambda: "Deleted" in user.toast.text)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_rows(200)
    assert field.text() == ""
