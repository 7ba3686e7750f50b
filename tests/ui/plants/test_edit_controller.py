"""Editing in the cells of the table, by keys and clicks in a whole window."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot
from typing_extensions import override

from plantdesk.domain.edits import UNCHANGED, Delete, edited
from plantdesk.domain.records import COMMAND, Changes, PlantRow
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.plants.feature import PlantsFeature
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.window.commands import EditCommands
from tests.support.waiting import SECONDS
from tests.ui.conftest import Adder, PlantsDriver

CONTROL = Qt.KeyboardModifier.ControlModifier


class EditDriver(PlantsDriver):
    """The plants of a window and its Edit menu."""

    def __init__(self, qtbot: QtBot, context: WindowContext, store: SqliteStore) -> None:
        super().__init__(qtbot, context.page.window())
        self.store = store

    @property
    def editor(self) -> QLineEdit:
        return self.table.editor

    def plant(self, plant_id: int) -> PlantRow:
        with closing(self.store.reader()) as reader:
            row = reader.plant(plant_id)
        assert row is not None
        return row

    @override
    def choose(self, title: str, *commands: str) -> None:
        super().choose(title, *commands)
        self.window.activateWindow()
        self.qtbot.waitUntil(self.window.isActiveWindow)

    def select(self, plant_id: int) -> None:
        self.table.setFocus()
        self.table.keeper.go_to_plant(plant_id)

    def until_editing(self, plant_id: int, column: str = "Name") -> None:
        name = f"{column} of plant {plant_id}"
        self.qtbot.waitUntil(lambda: self.editor.hasFocus() and self.editor.accessibleName() == name)

    def edit(self, plant_id: int) -> None:
        """Select a plant and press F2."""
        self.select(plant_id)
        self.press(Qt.Key.Key_F2)
        self.until_editing(plant_id)

    def enter(self, text: str) -> None:
        self.type(self.editor, text)
        self.press(Qt.Key.Key_Return)

    def until_closed(self) -> None:
        self.qtbot.waitUntil(self.editor.isHidden)

    def delete_elsewhere(self, plant_id: int) -> None:
        """Delete a plant as another program does."""
        row = self.plant(plant_id)
        self.store.apply([Delete(plant_id, row.version, row.name)], COMMAND).result(SECONDS)

    def change_elsewhere(self, plant_id: int, *, name: str) -> None:
        """Rename a plant as another program does."""
        row = self.plant(plant_id)
        self.store.apply([edited(row, name=name, tag=UNCHANGED)], COMMAND).result(SECONDS)


@pytest.fixture
def desk(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[EditDriver]:
    """Basil, Aloe and Cactus, the newest on top."""
    add("Cactus", "Aloe", "Basil", tag="kitchen")
    features = [PlantsFeature(context), EditCommands(context)]
    for feature in features:
        feature.set_up()
        feature.set_store(OpenStore(store, queries))
    desk = EditDriver(qtbot, context, store)
    desk.expect_names("Basil", "Aloe", "Cactus")
    with qtbot.waitActive(desk.window):
        desk.window.activateWindow()
    yield desk
    for feature in features:
        feature.release_store()


# --- opening, saving, cancelling --------------------------------------------------------------------------------------


def test_undo_right_after_an_edit_takes_it_back(desk: EditDriver, other_program: sqlite3.Connection) -> None:
    """And not the edit before, while the store has not answered yet."""
    desk.edit(1)
    desk.enter("Agave")
    desk.until_closed()
    desk.edit(2)
    other_program.execute("BEGIN IMMEDIATE")
    desk.enter("Aloe vera")
    desk.press(Qt.Key.Key_Z, CONTROL)
    other_program.rollback()
    desk.expect_names("Basil", "Aloe", "Agave")


@pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_key_opens_the_name_with_all_of_it_selected_and_enter_saves(desk: EditDriver, key: Qt.Key) -> None:
    desk.select(2)
    desk.press(key)
    desk.until_editing(2)
    assert desk.editor.selectedText() == "Aloe"
    desk.qtbot.keyClicks(desk.editor, "Aloe vera")
    desk.press(Qt.Key.Key_Return)
    desk.expect_names("Basil", "Aloe vera", "Cactus")
    desk.until_closed()
    assert desk.toast.text == "Renamed “Aloe” to “Aloe vera”."
    assert (list(desk.table.selected_ids()), desk.table.hasFocus()) == ([2], True)


def test_a_double_click_edits_the_cell_under_it(desk: EditDriver) -> None:
    for column, name in ((Column.TAG, "Tag"), (Column.NAME, "Name")):
        place = desk.table.visualRect(desk.table.model().index(1, column)).center()
        QTest.mouseClick(desk.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        QTest.mouseDClick(desk.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        desk.until_editing(2, name)
        cell = desk.table.visualRect(desk.table.model().index(1, column))
        assert cell.contains(desk.editor.geometry())
        desk.press(Qt.Key.Key_Escape)
        assert desk.editor.isHidden()


def test_tab_moves_from_name_to_tag_and_enter_saves_both_as_one_change(desk: EditDriver) -> None:
    desk.edit(2)
    desk.type(desk.editor, "Aloe vera")
    desk.press(Qt.Key.Key_Tab)
    desk.until_editing(2, "Tag")
    assert desk.editor.text() == "kitchen"
    desk.enter("bath")
    desk.until_closed()
    desk.expect_names("Basil", "Aloe vera", "Cactus")
    row = desk.plant(2)
    assert (row.name, row.tag) == ("Aloe vera", "bath")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.expect_names("Basil", "Aloe", "Cactus")
    row = desk.plant(2)
    assert (row.name, row.tag) == ("Aloe", "kitchen")


def test_the_row_shows_what_was_typed_at_once_and_after_escape_what_is_stored(desk: EditDriver, bridge: Bridge) -> None:
    desk.edit(2)
    desk.type(desk.editor, "Aloe vera")
    desk.press(Qt.Key.Key_Tab)
    assert desk.names() == ["Basil", "Aloe vera", "Cactus"]
    assert desk.editor.text() == "kitchen"
    bridge.notify_changes(Changes(needs_reload=True))
    desk.press(Qt.Key.Key_Backtab)
    assert desk.editor.text() == "Aloe vera"
    desk.press(Qt.Key.Key_Escape)
    desk.expect_names("Basil", "Aloe", "Cactus")


def test_the_row_does_not_show_the_old_name_again_while_it_is_saved(desk: EditDriver) -> None:
    desk.edit(2)
    desk.enter("Aloe vera")
    seen: list[str] = []
    desk.table.model().dataChanged.connect(lambda: seen.append(desk.names()[1]))
    desk.until_closed()
    desk.until(lambda: len(seen) > 1)
    assert {desk.names()[1], *seen} == {"Aloe vera"}


def test_an_emptied_tag_is_none(desk: EditDriver) -> None:
    desk.select(2)
    desk.choose("Edit", "Edit tag")
    desk.until_editing(2, "Tag")
    desk.enter("")
    desk.until_closed()
    assert desk.plant(2).tag is None


def test_escape_and_an_unchanged_text_leave_the_plant_as_it_is(desk: EditDriver) -> None:
    before = desk.plant(2)
    desk.edit(2)
    desk.type(desk.editor, "Something")
    desk.press(Qt.Key.Key_Escape)
    assert desk.editor.isHidden()
    desk.edit(2)
    desk.press(Qt.Key.Key_Return)
    assert desk.editor.isHidden()
    assert desk.plant(2) == before
    assert "Undo" not in desk.enabled("Edit")


def test_what_is_edited_is_the_whole_text_with_its_line_break(desk: EditDriver, add: Adder) -> None:
    name = "long " * 400 + "\nend"
    (row,) = add(name, tag="kitchen")
    desk.qtbot.waitUntil(lambda: desk.table.model().rowCount() == 4)
    desk.edit(row.id)
    desk.press(Qt.Key.Key_Tab)
    desk.until_editing(row.id, "Tag")
    desk.enter("bath")
    desk.until_closed()
    now = desk.plant(row.id)
    assert (now.name, now.tag) == (name, "bath")


def test_a_click_elsewhere_saves(desk: EditDriver) -> None:
    desk.edit(2)
    desk.type(desk.editor, "Aloe vera")
    place = desk.table.visualRect(desk.table.model().index(0, Column.ADDED)).center()
    QTest.mouseClick(desk.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.expect_names("Basil", "Aloe vera", "Cactus")
    desk.until_closed()


@pytest.mark.parametrize("name", ["  ", "\u3000\u200b"])
def test_a_blank_name_is_refused_with_a_message(desk: EditDriver, name: str) -> None:
    desk.edit(2)
    desk.editor.setText(name)
    desk.press(Qt.Key.Key_Return)
    assert desk.toast.text == "The name is missing."
    assert desk.editor.hasFocus()
    desk.press(Qt.Key.Key_Tab)
    assert desk.editor.accessibleName() == "Name of plant 2"
    desk.enter("Aloe vera")
    desk.expect_names("Basil", "Aloe vera", "Cactus")


def test_arrows_do_not_leave_the_cell_and_the_menu_edits_what_is_typed(desk: EditDriver) -> None:
    desk.edit(2)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown):
        desk.press(key)
        assert desk.editor.hasFocus()
    desk.type(desk.editor, "typed")
    desk.press(Qt.Key.Key_Z, CONTROL)
    assert desk.editor.text() == "Aloe"
    desk.press(Qt.Key.Key_Delete)
    assert desk.table.model().rowCount() == 3


# --- order and scripts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["Newest first", "By name"])
def test_plants_of_scripts_move_the_editor_with_its_row_and_leave_what_is_typed(
    desk: EditDriver, add: Adder, order: str
) -> None:
    desk.action(order).trigger()
    desk.edit(2)
    desk.type(desk.editor, "half a na")
    for number, count in enumerate((7, 11, 15)):
        add(*(f"Aaa {number} {each}" for each in range(4)))
        desk.until_rows(count)
    assert (desk.editor.text(), desk.editor.hasFocus()) == ("half a na", True)
    row = next(row for row, name in enumerate(desk.names()) if name == "Aloe")
    cell = desk.table.visualRect(desk.table.model().index(row, Column.NAME))
    assert cell.contains(desk.editor.geometry())
    desk.press(Qt.Key.Key_Return)
    desk.qtbot.waitUntil(lambda: "half a na" in desk.names())


def test_the_editor_stays_open_when_all_rows_are_replaced(desk: EditDriver) -> None:
    desk.edit(2)
    desk.type(desk.editor, "half a na")
    desk.action("By ID").trigger()
    desk.expect_names("Basil", "Aloe", "Cactus")
    desk.action("By name").trigger()
    desk.expect_names("Aloe", "Basil", "Cactus")
    assert (desk.editor.text(), desk.editor.hasFocus()) == ("half a na", True)
    assert desk.table.visualRect(desk.table.model().index(0, Column.NAME)).contains(desk.editor.geometry())


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_a_plant_changed_elsewhere_is_shown_in_both_versions_and_mine_can_be_kept(desk: EditDriver) -> None:
    desk.edit(2)
    desk.change_elsewhere(2, name="Theirs")
    desk.enter("Mine")
    desk.qtbot.waitUntil(lambda: len(desk.bars) == 1)
    (bar,) = desk.bars
    assert bar.title == "“Aloe” was changed elsewhere while you were editing it"
    assert bar.text == "Yours: “Mine”, tag “kitchen”\nTheirs: “Theirs”, tag “kitchen”"
    desk.expect_names("Basil", "Theirs", "Cactus")
    desk.button("Keep mine").click()
    desk.expect_names("Basil", "Mine", "Cactus")
    assert desk.bars == []
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.expect_names("Basil", "Theirs", "Cactus")


def test_the_same_change_elsewhere_is_no_conflict(desk: EditDriver, queries: StoreQueries) -> None:
    desk.edit(2)
    desk.change_elsewhere(2, name="Same")
    desk.enter("Same")
    desk.until_closed()  # now the store is asked what the plant is
    answered: list[bool] = []
    queries.run(desk.table, lambda _reader, _task: True, answered.append)
    desk.until(lambda: bool(answered))
    desk.expect_names("Basil", "Same", "Cactus")
    assert desk.bars == []


def test_another_note_meanwhile_is_kept_without_a_question(desk: EditDriver) -> None:
    desk.edit(2)
    row = desk.plant(2)
    desk.store.apply([edited(row, note="Beside the tap")], COMMAND).result(SECONDS)
    desk.enter("Aloe vera")
    desk.until(lambda: desk.plant(2).name == "Aloe vera")  # the row has shown it before
    assert desk.plant(2).note == "Beside the tap"


def test_a_plant_deleted_elsewhere_can_be_added_again(desk: EditDriver) -> None:
    desk.edit(2)
    desk.type(desk.editor, "Aloe vera")
    desk.delete_elsewhere(2)
    desk.expect_names("Basil", "Cactus")
    for key in (Qt.Key.Key_X, Qt.Key.Key_Backspace, Qt.Key.Key_Return):  # typed on, they change no other plant
        QTest.keyClick(desk.editor, key)
    desk.qtbot.waitUntil(lambda: len(desk.bars) == 1)
    assert "Yours: “Aloe vera”" in desk.bars[0].text
    desk.expect_names("Basil", "Cactus")
    assert desk.editor.isHidden()
    desk.button("Add it again").click()
    desk.qtbot.waitUntil(lambda: "Aloe vera" in desk.names())
    assert desk.bars == []


def test_a_plant_that_came_back_meanwhile_gets_what_was_typed(desk: EditDriver) -> None:
    desk.edit(2)
    desk.type(desk.editor, "Aloe vera")
    desk.delete_elsewhere(2)
    desk.expect_names("Basil", "Cactus")
    QTest.keyClick(desk.editor, Qt.Key.Key_Return)
    desk.qtbot.waitUntil(lambda: len(desk.bars) == 1)
    desk.store.undo(None, COMMAND).result(SECONDS)
    desk.button("Add it again").click()
    desk.expect_names("Basil", "Aloe vera", "Cactus")
    assert desk.bars == []


def test_a_plant_that_is_being_edited_is_saved_when_the_store_is_closed(
    desk: EditDriver, context: WindowContext
) -> None:
    desk.edit(2)
    desk.type(desk.editor, "Aloe vera")
    plants = context.page.findChild(PlantsFeature)
    assert plants is not None
    plants.release_store()
    new = new_plant({"id": 9, "name": "Later"})
    desk.store.add(new, COMMAND).result(SECONDS)  # after what was queued
    assert desk.plant(2).name == "Aloe vera"


def test_a_mirrored_table_is_edited_the_same_way(desk: EditDriver) -> None:
    desk.table.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    desk.table.clearSelection()
    desk.table.go_to_first_row()
    desk.press(Qt.Key.Key_F2)
    desk.until_editing(3)
    cell = desk.table.visualRect(desk.table.model().index(0, Column.NAME))
    assert cell.contains(desk.editor.geometry())
    desk.enter("Basil thyme")
    desk.expect_names("Basil thyme", "Aloe", "Cactus")
