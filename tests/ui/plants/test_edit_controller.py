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
def user(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[EditDriver]:
    """Basil, Aloe and Cactus, the newest on top."""
    add("Cactus", "Aloe", "Basil", tag="kitchen")
    features = [PlantsFeature(context), EditCommands(context)]
    for feature in features:
        feature.set_up()
        feature.set_store(OpenStore(store, queries))
    user = EditDriver(qtbot, context, store)
    user.expect_names("Basil", "Aloe", "Cactus")
    with qtbot.waitActive(user.window):
        user.window.activateWindow()
    yield user
    for feature in features:
        feature.release_store()


# --- opening, saving, cancelling --------------------------------------------------------------------------------------


def test_undo_right_after_an_edit_takes_it_back(user: EditDriver, other_program: sqlite3.Connection) -> None:
    """And not the edit before, while the store has not answered yet."""
    user.edit(1)
    user.enter("Agave")
    user.until_closed()
    user.edit(2)
    other_program.execute("BEGIN IMMEDIATE")
    user.enter("Aloe vera")
    user.press(Qt.Key.Key_Z, CONTROL)
    other_program.rollback()
    user.expect_names("Basil", "Aloe", "Agave")


@pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_key_opens_the_name_with_all_of_it_selected_and_enter_saves(user: EditDriver, key: Qt.Key) -> None:
    user.select(2)
    user.press(key)
    user.until_editing(2)
    assert user.editor.selectedText() == "Aloe"
    user.qtbot.keyClicks(user.editor, "Aloe vera")
    user.press(Qt.Key.Key_Return)
    user.expect_names("Basil", "Aloe vera", "Cactus")
    user.until_closed()
    assert user.toast.text == "Renamed “Aloe” to “Aloe vera”."
    assert (list(user.table.selected_ids()), user.table.hasFocus()) == ([2], True)


def test_a_double_click_edits_the_cell_under_it(user: EditDriver) -> None:
    for column, name in ((Column.TAG, "Tag"), (Column.NAME, "Name")):
        place = user.table.visualRect(user.table.model().index(1, column)).center()
        QTest.mouseClick(user.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        QTest.mouseDClick(user.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        user.until_editing(2, name)
        cell = user.table.visualRect(user.table.model().index(1, column))
        assert cell.contains(user.editor.geometry())
        user.press(Qt.Key.Key_Escape)
        assert user.editor.isHidden()


def test_tab_moves_from_name_to_tag_and_enter_saves_both_as_one_change(user: EditDriver) -> None:
    user.edit(2)
    user.type(user.editor, "Aloe vera")
    user.press(Qt.Key.Key_Tab)
    user.until_editing(2, "Tag")
    assert user.editor.text() == "kitchen"
    user.enter("bath")
    user.until_closed()
    user.expect_names("Basil", "Aloe vera", "Cactus")
    row = user.plant(2)
    assert (row.name, row.tag) == ("Aloe vera", "bath")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.expect_names("Basil", "Aloe", "Cactus")
    row = user.plant(2)
    assert (row.name, row.tag) == ("Aloe", "kitchen")


def test_the_row_shows_what_was_typed_at_once_and_after_escape_what_is_stored(user: EditDriver, bridge: Bridge) -> None:
    user.edit(2)
    user.type(user.editor, "Aloe vera")
    user.press(Qt.Key.Key_Tab)
    assert user.names() == ["Basil", "Aloe vera", "Cactus"]
    assert user.editor.text() == "kitchen"
    bridge.notify_changes(Changes(needs_reload=True))
    user.press(Qt.Key.Key_Backtab)
    assert user.editor.text() == "Aloe vera"
    user.press(Qt.Key.Key_Escape)
    user.expect_names("Basil", "Aloe", "Cactus")


def test_the_row_does_not_show_the_old_name_again_while_it_is_saved(user: EditDriver) -> None:
    user.edit(2)
    user.enter("Aloe vera")
    seen: list[str] = []
    user.table.model().dataChanged.connect(lambda: seen.append(user.names()[1]))
    user.until_closed()
    user.until(lambda: len(seen) > 1)
    assert {user.names()[1], *seen} == {"Aloe vera"}


def test_an_emptied_tag_is_none(user: EditDriver) -> None:
    user.select(2)
    user.choose("Edit", "Edit tag")
    user.until_editing(2, "Tag")
    user.enter("")
    user.until_closed()
    assert user.plant(2).tag is None


def test_escape_and_an_unchanged_text_leave_the_plant_as_it_is(user: EditDriver) -> None:
    before = user.plant(2)
    user.edit(2)
    user.type(user.editor, "Something")
    user.press(Qt.Key.Key_Escape)
    assert user.editor.isHidden()
    user.edit(2)
    user.press(Qt.Key.Key_Return)
    assert user.editor.isHidden()
    assert user.plant(2) == before
    assert "Undo" not in user.enabled("Edit")


def test_what_is_edited_is_the_whole_text_with_its_line_break(user: EditDriver, add: Adder) -> None:
    name = "long " * 400 + "\nend"
    (row,) = add(name, tag="kitchen")
    user.qtbot.waitUntil(lambda: user.table.model().rowCount() == 4)
    user.edit(row.id)
    user.press(Qt.Key.Key_Tab)
    user.until_editing(row.id, "Tag")
    user.enter("bath")
    user.until_closed()
    now = user.plant(row.id)
    assert (now.name, now.tag) == (name, "bath")


def test_a_click_elsewhere_saves(user: EditDriver) -> None:
    user.edit(2)
    user.type(user.editor, "Aloe vera")
    place = user.table.visualRect(user.table.model().index(0, Column.ADDED)).center()
    QTest.mouseClick(user.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    user.expect_names("Basil", "Aloe vera", "Cactus")
    user.until_closed()


@pytest.mark.parametrize("name", ["  ", "\u3000\u200b"])
def test_a_blank_name_is_refused_with_a_message(user: EditDriver, name: str) -> None:
    user.edit(2)
    user.editor.setText(name)
    user.press(Qt.Key.Key_Return)
    assert user.toast.text == "The name is missing."
    assert user.editor.hasFocus()
    user.press(Qt.Key.Key_Tab)
    assert user.editor.accessibleName() == "Name of plant 2"
    user.enter("Aloe vera")
    user.expect_names("Basil", "Aloe vera", "Cactus")


def test_arrows_do_not_leave_the_cell_and_the_menu_edits_what_is_typed(user: EditDriver) -> None:
    user.edit(2)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown):
        user.press(key)
        assert user.editor.hasFocus()
    user.type(user.editor, "typed")
    user.press(Qt.Key.Key_Z, CONTROL)
    assert user.editor.text() == "Aloe"
    user.press(Qt.Key.Key_Delete)
    assert user.table.model().rowCount() == 3


# --- order and scripts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["Newest first", "By name"])
def test_plants_of_scripts_move_the_editor_with_its_row_and_leave_what_is_typed(
    user: EditDriver, add: Adder, order: str
) -> None:
    user.action(order).trigger()
    user.edit(2)
    user.type(user.editor, "half a na")
    for number, count in enumerate((7, 11, 15)):
        add(*(f"Aaa {number} {each}" for each in range(4)))
        user.until_rows(count)
    assert (user.editor.text(), user.editor.hasFocus()) == ("half a na", True)
    row = next(row for row, name in enumerate(user.names()) if name == "Aloe")
    cell = user.table.visualRect(user.table.model().index(row, Column.NAME))
    assert cell.contains(user.editor.geometry())
    user.press(Qt.Key.Key_Return)
    user.qtbot.waitUntil(lambda: "half a na" in user.names())


def test_the_editor_stays_open_when_all_rows_are_replaced(user: EditDriver) -> None:
    user.edit(2)
    user.type(user.editor, "half a na")
    user.action("By ID").trigger()
    user.expect_names("Basil", "Aloe", "Cactus")
    user.action("By name").trigger()
    user.expect_names("Aloe", "Basil", "Cactus")
    assert (user.editor.text(), user.editor.hasFocus()) == ("half a na", True)
    assert user.table.visualRect(user.table.model().index(0, Column.NAME)).contains(user.editor.geometry())


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_a_plant_changed_elsewhere_is_shown_in_both_versions_and_mine_can_be_kept(user: EditDriver) -> None:
    user.edit(2)
    user.change_elsewhere(2, name="Theirs")
    user.enter("Mine")
    user.qtbot.waitUntil(lambda: len(user.bars) == 1)
    (bar,) = user.bars
    assert bar.title == "“Aloe” was changed elsewhere while you were editing it"
    assert bar.text == "Yours: “Mine”, tag “kitchen”\nTheirs: “Theirs”, tag “kitchen”"
    user.expect_names("Basil", "Theirs", "Cactus")
    user.button("Keep mine").click()
    user.expect_names("Basil", "Mine", "Cactus")
    assert user.bars == []
    user.press(Qt.Key.Key_Z, CONTROL)
    user.expect_names("Basil", "Theirs", "Cactus")


def test_the_same_change_elsewhere_is_no_conflict(user: EditDriver, queries: StoreQueries) -> None:
    user.edit(2)
    user.change_elsewhere(2, name="Same")
    user.enter("Same")
    user.until_closed()  # now the store is asked what the plant is
    answered: list[bool] = []
    queries.run(user.table, lambda _reader, _task: True, answered.append)
    user.until(lambda: bool(answered))
    user.expect_names("Basil", "Same", "Cactus")
    assert user.bars == []


def test_another_note_meanwhile_is_kept_without_a_question(user: EditDriver) -> None:
    user.edit(2)
    row = user.plant(2)
    user.store.apply([edited(row, note="Beside the tap")], COMMAND).result(SECONDS)
    user.enter("Aloe vera")
    user.until(lambda: user.plant(2).name == "Aloe vera")  # the row has shown it before
    assert user.plant(2).note == "Beside the tap"


def test_a_plant_deleted_elsewhere_can_be_added_again(user: EditDriver) -> None:
    user.edit(2)
    user.type(user.editor, "Aloe vera")
    user.delete_elsewhere(2)
    user.expect_names("Basil", "Cactus")
    for key in (Qt.Key.Key_X, Qt.Key.Key_Backspace, Qt.Key.Key_Return):  # typed on, they change no other plant
        QTest.keyClick(user.editor, key)
    user.qtbot.waitUntil(lambda: len(user.bars) == 1)
    assert "Yours: “Aloe vera”" in user.bars[0].text
    user.expect_names("Basil", "Cactus")
    assert user.editor.isHidden()
    user.button("Add it again").click()
    user.qtbot.waitUntil(lambda: "Aloe vera" in user.names())
    assert user.bars == []


def test_a_plant_that_came_back_meanwhile_gets_what_was_typed(user: EditDriver) -> None:
    user.edit(2)
    user.type(user.editor, "Aloe vera")
    user.delete_elsewhere(2)
    user.expect_names("Basil", "Cactus")
    QTest.keyClick(user.editor, Qt.Key.Key_Return)
    user.qtbot.waitUntil(lambda: len(user.bars) == 1)
    user.store.undo(None, COMMAND).result(SECONDS)
    user.button("Add it again").click()
    user.expect_names("Basil", "Aloe vera", "Cactus")
    assert user.bars == []


def test_a_plant_that_is_being_edited_is_saved_when_the_store_is_closed(
    user: EditDriver, context: WindowContext
) -> None:
    user.edit(2)
    user.type(user.editor, "Aloe vera")
    plants = context.page.findChild(PlantsFeature)
    assert plants is not None
    plants.release_store()
    new = new_plant({"id": 9, "name": "Later"})
    user.store.add(new, COMMAND).result(SECONDS)  # after what was queued
    assert user.plant(2).name == "Aloe vera"


def test_a_mirrored_table_is_edited_the_same_way(user: EditDriver) -> None:
    user.table.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    user.table.clearSelection()
    user.table.go_to_first_row()
    user.press(Qt.Key.Key_F2)
    user.until_editing(3)
    cell = user.table.visualRect(user.table.model().index(0, Column.NAME))
    assert cell.contains(user.editor.geometry())
    user.enter("Basil thyme")
    user.expect_names("Basil thyme", "Aloe", "Cactus")
