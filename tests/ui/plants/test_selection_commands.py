"""Commands act on all selected plants, and after a deletion the next plant is selected."""

import sqlite3
from contextlib import closing

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import SetTag, edited
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.card.note import NoteEdit
from plantdesk.ui.plants import commands
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.questions import TagDialog
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import MILLISECONDS
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import Adder
from tests.ui.plants.test_undo_selection import UndoDriver

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> UndoDriver:
    """Plants 1 to 10, the newest on top."""
    add(*(f"Plant {number}" for number in range(1, 11)), tag="office")
    bare.set_up()
    bare.set_store(store)
    desk = UndoDriver(qtbot, bare.window())
    desk.until_rows(10)
    return desk


def tags(store: SqliteStore) -> dict[int, str | None]:
    reader = store.reader()
    rows = reader.rows(range(1, 11))
    reader.close()
    return {plant_id: row.tag for plant_id, row in rows.items()}


def duplicate(desk: UndoDriver, *plant_ids: int) -> None:
    """Press Ctrl+D on plants; the copies are not made yet."""
    desk.go_to(*plant_ids)
    desk.press(Qt.Key.Key_D, CONTROL)


def tag_dialog(desk: UndoDriver) -> WindowDriver:
    desk.press(Qt.Key.Key_T, CONTROL)
    desk.until(lambda: any(each.isVisible() for each in desk.window.findChildren(TagDialog)))
    dialog = WindowDriver(desk.qtbot, desk.the(TagDialog))
    dialog.widget.activateWindow()
    desk.until(lambda: isinstance(dialog.focused, QLineEdit))
    return dialog


def test_a_new_tag_is_given_to_all_selected_plants(desk: UndoDriver, store: SqliteStore) -> None:
    desk.go_to(9, 8, 7)
    assert "Change tag of 3 plants…" in desk.enabled("Edit")
    dialog = tag_dialog(desk)
    dialog.qtbot.keyClicks(dialog.field("Tag of 3 plants"), " greenhouse ")
    assert "Change tag of 3 plants" in dialog.buttons()
    dialog.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.toast.text == "Gave 3 plants the tag “greenhouse”.")
    assert [each for each, tag in tags(store).items() if tag == "greenhouse"] == [7, 8, 9]
    desk.window.activateWindow()
    desk.until(desk.window.isActiveWindow)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: set(tags(store).values()) == {"office"})


@pytest.mark.parametrize(
    ("ids", "text"), [((9, 8, 7, 6), "Gave 2 plants the tag “hall”."), ((9, 8, 7), "Gave 1 plant")]
)
def test_only_the_plants_that_get_a_tag_are_counted(
    desk: UndoDriver, store: SqliteStore, ids: tuple[int, ...], text: str
) -> None:
    store.apply([SetTag(Selection(ids=[9, 8]), "hall")], FORM).result()
    desk.go_to(*ids)
    dialog = tag_dialog(desk)
    dialog.type(dialog.field(f"Tag of {len(ids)} plants"), "hall")
    dialog.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.toast.text.startswith(text))


def test_an_empty_tag_is_removed_from_all_selected_plants(desk: UndoDriver, store: SqliteStore) -> None:
    desk.go_to(9, 8)
    dialog = tag_dialog(desk)
    assert not dialog.button("Change tag of 2 plants").isEnabled()
    assert dialog.button("Remove tags of 2 plants").property("variant") is None, "it is not the default"
    dialog.press(Qt.Key.Key_Return)
    assert dialog.widget.isVisible(), "an Enter too many changes nothing"
    dialog.button("Remove tags of 2 plants").click()
    desk.until(lambda: desk.toast.text == "Removed the tags of 2 plants.")
    assert [each for each, tag in tags(store).items() if tag is None] == [8, 9]


def test_a_copy_has_name_tag_and_note_of_its_plant_and_is_selected(desk: UndoDriver, store: SqliteStore) -> None:
    with closing(store.reader()) as reader:
        plant = reader.plant(9)
        assert plant is not None
        store.apply([edited(plant, note="from Anna")], FORM).result()
        duplicate(desk, 9)
        desk.until_selected(11)
        copy = reader.plant(11)
        assert copy is not None
        assert (copy.name, copy.tag, copy.note) == ("Plant 9", "office", "from Anna")
    assert desk.message.text.startswith("Added “Plant 9”.")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_rows(10)


def test_several_plants_are_copied_in_their_order_as_one_change(desk: UndoDriver) -> None:
    desk.go_to(9, 8, 7)
    assert "Duplicate 3 plants" in desk.enabled("Edit")
    desk.choose("Edit", "Duplicate 3 plants")
    desk.until_rows(13)
    desk.until(lambda: desk.selected() == [13, 12, 11])
    names = [desk.table.model().index(row, Column.NAME).data() for row in range(3)]
    assert names == ["Plant 9", "Plant 8", "Plant 7"]
    desk.window.activateWindow()
    desk.until(desk.table.hasFocus)
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until_rows(10)


def test_a_copy_that_the_search_hides_can_be_shown(desk: UndoDriver) -> None:
    desk.type(desk.search, "id:9")
    desk.until_rows(1)
    duplicate(desk, 9)
    desk.until(lambda: "Show it" in desk.buttons())
    assert desk.selected() == [9]
    desk.button("Show it").click()
    desk.until_selected(11)


def test_delete_pressed_again_deletes_the_next_plant(desk: UndoDriver) -> None:
    desk.go_to(9)
    for _ in range(3):
        desk.press(Qt.Key.Key_Delete)
    desk.until_rows(7)
    desk.until_selected(6)
    desk.until(lambda: desk.toast.text == "Deleted 1 plant.")


@pytest.mark.parametrize(
    ("selected", "next_one"), [((10, 9), 8), ((2, 1), 3), ((5, 4, 3), 2)], ids=["first", "last", "middle"]
)
def test_after_a_deletion_the_next_row_is_selected(desk: UndoDriver, selected: tuple[int, ...], next_one: int) -> None:
    desk.go_to(*selected)
    desk.press(Qt.Key.Key_Delete)
    desk.until_rows(10 - len(selected))
    desk.until_selected(next_one)


def test_the_row_before_scattered_ones_at_the_end_is_selected(desk: UndoDriver) -> None:
    desk.go_to(4, 3)
    desk.press(Qt.Key.Key_Down, CONTROL)
    desk.press(Qt.Key.Key_Down, CONTROL)
    desk.press(Qt.Key.Key_Space, CONTROL)
    assert desk.selected() == [4, 3, 1]
    desk.press(Qt.Key.Key_Delete)
    desk.until_rows(7)
    desk.until_selected(2)


def test_very_many_plants_are_deleted_after_a_question_whose_focus_is_on_cancel(
    desk: UndoDriver, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_MAX_UNCONFIRMED_DELETIONS", 9)
    desk.table.setFocus()
    desk.press(Qt.Key.Key_A, CONTROL)
    desk.press(Qt.Key.Key_Delete)
    question = desk.the(MessageBox)
    assert question.text == "Delete 10 plants?"
    desk.until(question.isActiveWindow)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: not [each for each in desk.window.findChildren(MessageBox) if each.isVisible()])
    desk.until_rows(10)
    desk.window.activateWindow()
    desk.until(desk.table.hasFocus)
    desk.press(Qt.Key.Key_Delete)
    with closing(sqlite3.connect(store.path)) as other_program:
        other_program.execute("BEGIN IMMEDIATE")
        WindowDriver(desk.qtbot, desk.the(MessageBox)).button("Delete").click()
        desk.until(lambda: (desk.toast.isVisible(), desk.toast.text) == (True, "Deleting 10 plants…"))
    desk.until_rows(0)
    desk.until(lambda: desk.toast.text == "Deleted 10 plants.")


# --- keys right after Ctrl+D, while the copies are made ------------------------------------------------------------


@pytest.mark.parametrize("way", ["", "search", "order"])
def test_the_copy_is_renamed_and_not_its_plant_also_where_the_store_knows_its_row(
    desk: UndoDriver, store: SqliteStore, way: str
) -> None:
    if way == "search":
        desk.type(desk.search, "plant -id:10")
        desk.until_rows(9)
    elif way == "order":
        desk.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
        desk.until(lambda: desk.table.model().index(1, Column.NAME).data() == "Plant 10")
    duplicate(desk, 9)
    desk.hit(Qt.Key.Key_F2, *"Rose", Qt.Key.Key_Return)
    with closing(store.reader()) as reader:
        desk.until(lambda: {each: row.name for each, row in reader.rows([9, 11]).items()} == {9: "Plant 9", 11: "Rose"})


def test_the_copies_are_deleted_and_not_their_plants(desk: UndoDriver, store: SqliteStore) -> None:
    duplicate(desk, 9, 8)
    desk.hit(Qt.Key.Key_Delete)
    desk.until(lambda: desk.toast.text == "Deleted 2 plants.")
    desk.until_rows(10)
    with closing(store.reader()) as reader:
        assert set(reader.rows(range(1, 13))) == set(range(1, 11))


def test_the_tag_of_the_copies_is_changed(desk: UndoDriver, store: SqliteStore) -> None:
    duplicate(desk, 9, 8)
    QTest.keyClick(desk.focused, Qt.Key.Key_T, CONTROL)
    desk.hit(*"hall", Qt.Key.Key_Return)
    with closing(store.reader()) as reader:
        desk.until(lambda: [row.tag for row in reader.rows([8, 9, 11, 12]).values()] == ["office"] * 2 + ["hall"] * 2)


@pytest.mark.parametrize("modifiers", [CONTROL, CONTROL | SHIFT], ids=["US", "German"])
def test_the_date_is_in_the_note_of_the_copy(
    desk: UndoDriver, store: SqliteStore, modifiers: Qt.KeyboardModifier
) -> None:
    duplicate(desk, 9)
    QTest.keyClick(desk.focused, Qt.Key.Key_Semicolon, modifiers)
    desk.hit(*"fed")
    desk.until(lambda: desk.the(NoteEdit).toPlainText().endswith(" fed"))
    desk.table.setFocus()
    with closing(store.reader()) as reader:
        desk.until(lambda: (reader.rows([11])[11].note or "").endswith(" fed"))
        assert reader.rows([9])[9].note is None


def test_a_copy_pressed_twice_copies_the_copy_unless_the_key_is_held_down(desk: UndoDriver) -> None:
    duplicate(desk, 9)
    repeated = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_D, CONTROL, "", True)
    QApplication.sendEvent(desk.focused, repeated)
    desk.press(Qt.Key.Key_D, CONTROL)
    desk.until_selected(12)
    desk.until_rows(12)


def test_no_key_acts_on_the_plant_whose_copy_the_search_hides(desk: UndoDriver) -> None:
    desk.type(desk.search, "id:9")
    desk.until_rows(1)
    desk.go_to(9)
    with desk.qtbot.waitSignal(desk.table.keeper.selected, timeout=MILLISECONDS):
        desk.press(Qt.Key.Key_D, CONTROL)
        desk.hit(Qt.Key.Key_F2, "x", Qt.Key.Key_Return, Qt.Key.Key_Delete)
    assert not desk.table.editor.isVisible()
    assert desk.table.currentIndex().siblingAtColumn(Column.NAME).data() == "Plant 9"
    desk.press(Qt.Key.Key_F2)
    desk.until(desk.table.editor.isVisible)


def test_a_name_that_is_typed_while_a_hidden_copy_is_made_is_whole(desk: UndoDriver) -> None:
    desk.type(desk.search, "id:9")
    desk.until_rows(1)
    desk.go_to(9)
    desk.type(desk.name, "Al")
    desk.press(Qt.Key.Key_D, CONTROL)
    desk.hit(*"oe")
    desk.until(lambda: desk.name.text() == "Aloe")


def test_a_copy_has_the_note_that_is_being_typed_and_is_undone_first(desk: UndoDriver, store: SqliteStore) -> None:
    desk.go_to(9)
    desk.press(Qt.Key.Key_I, CONTROL)
    desk.until(lambda: desk.the(NoteEdit).isVisible() and not desk.the(NoteEdit).isReadOnly())
    note = desk.the(NoteEdit)
    note.setFocus()
    QTest.keyClicks(note, "from Anna")
    desk.press(Qt.Key.Key_D, CONTROL)
    with closing(store.reader()) as reader:
        desk.until(lambda: [row.note for row in reader.rows([9, 11]).values()] == ["from Anna"] * 2)
        desk.until_selected(11)
        desk.table.setFocus()
        desk.press(Qt.Key.Key_Z, CONTROL)
        desk.until_rows(10)
        desk.until(lambda: reader.rows([9])[9].note == "from Anna")


def test_keys_right_after_f2_are_the_name(desk: UndoDriver, store: SqliteStore) -> None:
    desk.go_to(9)
    desk.press(Qt.Key.Key_F2)
    desk.hit(*"Plant 1", Qt.Key.Key_Return, Qt.Key.Key_Down)
    with closing(store.reader()) as reader:
        desk.until(lambda: reader.rows([9])[9].name == "Plant 1")


def test_a_click_takes_the_commands_that_are_held_and_no_letter_of_a_field(desk: UndoDriver) -> None:
    desk.go_to(9)
    desk.type(desk.name, "Al")
    desk.press(Qt.Key.Key_D, CONTROL)
    desk.hit(*"oe", Qt.Key.Key_F2)
    place, left = desk.tag.mapTo(desk.window, desk.tag.rect().center()).toPointF(), Qt.MouseButton.LeftButton
    press = QMouseEvent(QEvent.Type.MouseButtonPress, place, place, left, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(desk.window.windowHandle(), press)  # QTest would let the copy be made first
    desk.until_selected(11)
    assert desk.name.text() == "Aloe"
    assert desk.tag.hasFocus()
    assert not desk.table.editor.isVisible()
