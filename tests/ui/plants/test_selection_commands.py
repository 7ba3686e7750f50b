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
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> UndoDriver:
    """Plants 1 to 10, the newest on top."""
    add(*(f"Plant {number}" for number in range(1, 11)), tag="office")
    bare.set_up()
    bare.set_store(store)
    user = UndoDriver(qtbot, bare.window())
    user.until_rows(10)
    return user


def tags(store: SqliteStore) -> dict[int, str | None]:
    reader = store.reader()
    rows = reader.rows(range(1, 11))
    reader.close()
    return {plant_id: row.tag for plant_id, row in rows.items()}


def duplicate(user: UndoDriver, *plant_ids: int) -> None:
    """Press Ctrl+D on plants; the copies are not made yet."""
    user.go_to(*plant_ids)
    user.press(Qt.Key.Key_D, CONTROL)


def tag_dialog(user: UndoDriver) -> WindowDriver:
    user.press(Qt.Key.Key_T, CONTROL)
    user.until(lambda: any(each.isVisible() for each in user.window.findChildren(TagDialog)))
    dialog = WindowDriver(user.qtbot, user.the(TagDialog))
    dialog.widget.activateWindow()
    user.until(lambda: isinstance(dialog.focused, QLineEdit))
    return dialog


def test_a_new_tag_is_given_to_all_selected_plants(user: UndoDriver, store: SqliteStore) -> None:
    user.go_to(9, 8, 7)
    assert "Change tag of 3 plants…" in user.enabled("Edit")
    dialog = tag_dialog(user)
    dialog.qtbot.keyClicks(dialog.field("Tag of 3 plants"), " greenhouse ")
    assert "Change tag of 3 plants" in dialog.buttons()
    dialog.press(Qt.Key.Key_Return)
    user.until(lambda: user.toast.text == "Gave 3 plants the tag “greenhouse”.")
    assert [plant_id for plant_id, tag in tags(store).items() if tag == "greenhouse"] == [7, 8, 9]
    user.window.activateWindow()
    user.until(user.window.isActiveWindow)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: set(tags(store).values()) == {"office"})


@pytest.mark.parametrize(
    ("ids", "text"), [((9, 8, 7, 6), "Gave 2 plants the tag “hall”."), ((9, 8, 7), "Gave 1 plant")]
)
def test_only_the_plants_that_get_a_tag_are_counted(
    user: UndoDriver, store: SqliteStore, ids: tuple[int, ...], text: str
) -> None:
    store.apply([SetTag(Selection(ids=[9, 8]), "hall")], FORM).result()
    user.go_to(*ids)
    dialog = tag_dialog(user)
    dialog.type(dialog.field(f"Tag of {len(ids)} plants"), "hall")
    dialog.press(Qt.Key.Key_Return)
    user.until(lambda: user.toast.text.startswith(text))


def test_an_empty_tag_is_removed_from_all_selected_plants(user: UndoDriver, store: SqliteStore) -> None:
    user.go_to(9, 8)
    dialog = tag_dialog(user)
    assert not dialog.button("Change tag of 2 plants").isEnabled()
    assert dialog.button("Remove tags of 2 plants").property("variant") is None, "it is not the default"
    dialog.press(Qt.Key.Key_Return)
    assert dialog.widget.isVisible(), "an Enter too many changes nothing"
    dialog.button("Remove tags of 2 plants").click()
    user.until(lambda: user.toast.text == "Removed the tags of 2 plants.")
    assert [plant_id for plant_id, tag in tags(store).items() if tag is None] == [8, 9]


def test_a_copy_has_name_tag_and_note_of_its_plant_and_is_selected(user: UndoDriver, store: SqliteStore) -> None:
    with closing(store.reader()) as reader:
        plant = reader.plant(9)
        assert plant is not None
        store.apply([edited(plant, note="from Anna")], FORM).result()
        duplicate(user, 9)
        user.until_selected(11)
        copy = reader.plant(11)
        assert copy is not None
        assert (copy.name, copy.tag, copy.note) == ("Plant 9", "office", "from Anna")
    assert user.message.text.startswith("Added “Plant 9”.")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_rows(10)


def test_several_plants_are_copied_in_their_order_as_one_change(user: UndoDriver) -> None:
    user.go_to(9, 8, 7)
    assert "Duplicate 3 plants" in user.enabled("Edit")
    user.choose("Edit", "Duplicate 3 plants")
    user.until_rows(13)
    user.until(lambda: user.selected() == [13, 12, 11])
    names = [user.table.model().index(row, Column.NAME).data() for row in range(3)]
    assert names == ["Plant 9", "Plant 8", "Plant 7"]
    user.window.activateWindow()
    user.until(user.table.hasFocus)
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until_rows(10)


def test_a_copy_that_the_search_hides_can_be_shown(user: UndoDriver) -> None:
    user.type(user.search, "id:9")
    user.until_rows(1)
    duplicate(user, 9)
    user.until(lambda: "Show it" in user.buttons())
    assert user.selected() == [9]
    user.button("Show it").click()
    user.until_selected(11)


def test_delete_pressed_again_deletes_the_next_plant(user: UndoDriver) -> None:
    user.go_to(9)
    for _ in range(3):
        user.press(Qt.Key.Key_Delete)
    user.until_rows(7)
    user.until_selected(6)
    user.until(lambda: user.toast.text == "Deleted 1 plant.")


@pytest.mark.parametrize(
    ("selected", "next_one"), [((10, 9), 8), ((2, 1), 3), ((5, 4, 3), 2)], ids=["first", "last", "middle"]
)
def test_after_a_deletion_the_next_row_is_selected(user: UndoDriver, selected: tuple[int, ...], next_one: int) -> None:
    user.go_to(*selected)
    user.press(Qt.Key.Key_Delete)
    user.until_rows(10 - len(selected))
    user.until_selected(next_one)


def test_the_row_before_scattered_ones_at_the_end_is_selected(user: UndoDriver) -> None:
    user.go_to(4, 3)
    user.press(Qt.Key.Key_Down, CONTROL)
    user.press(Qt.Key.Key_Down, CONTROL)
    user.press(Qt.Key.Key_Space, CONTROL)
    assert user.selected() == [4, 3, 1]
    user.press(Qt.Key.Key_Delete)
    user.until_rows(7)
    user.until_selected(2)


def test_very_many_plants_are_deleted_after_a_question_whose_focus_is_on_cancel(
    user: UndoDriver, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_MAX_UNCONFIRMED_DELETIONS", 9)
    user.table.setFocus()
    user.press(Qt.Key.Key_A, CONTROL)
    user.press(Qt.Key.Key_Delete)
    question = user.the(MessageBox)
    assert question.text == "Delete 10 plants?"
    user.until(question.isActiveWindow)
    user.press(Qt.Key.Key_Return)
    user.until(lambda: not [box for box in user.window.findChildren(MessageBox) if box.isVisible()])
    user.until_rows(10)
    user.window.activateWindow()
    user.until(user.table.hasFocus)
    user.press(Qt.Key.Key_Delete)
    with closing(sqlite3.connect(store.path)) as other_program:
        other_program.execute("BEGIN IMMEDIATE")
        WindowDriver(user.qtbot, user.the(MessageBox)).button("Delete").click()
        user.until(lambda: (user.toast.isVisible(), user.toast.text) == (True, "Deleting 10 plants…"))
    user.until_rows(0)
    user.until(lambda: user.toast.text == "Deleted 10 plants.")


# --- keys right after Ctrl+D, while the copies are made ------------------------------------------------------------


@pytest.mark.parametrize("way", ["", "search", "order"])
def test_the_copy_is_renamed_and_not_its_plant_also_where_the_store_knows_its_row(
    user: UndoDriver, store: SqliteStore, way: str
) -> None:
    if way == "search":
        user.type(user.search, "plant -id:10")
        user.until_rows(9)
    elif way == "order":
        user.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
        user.until(lambda: user.table.model().index(1, Column.NAME).data() == "Plant 10")
    duplicate(user, 9)
    user.hit(Qt.Key.Key_F2, *"Rose", Qt.Key.Key_Return)
    with closing(store.reader()) as reader:
        user.until(lambda: {each: row.name for each, row in reader.rows([9, 11]).items()} == {9: "Plant 9", 11: "Rose"})


def test_the_copies_are_deleted_and_not_their_plants(user: UndoDriver, store: SqliteStore) -> None:
    duplicate(user, 9, 8)
    user.hit(Qt.Key.Key_Delete)
    user.until(lambda: user.toast.text == "Deleted 2 plants.")
    user.until_rows(10)
    with closing(store.reader()) as reader:
        assert set(reader.rows(range(1, 13))) == set(range(1, 11))


def test_the_tag_of_the_copies_is_changed(user: UndoDriver, store: SqliteStore) -> None:
    duplicate(user, 9, 8)
    QTest.keyClick(user.focused, Qt.Key.Key_T, CONTROL)
    user.hit(*"hall", Qt.Key.Key_Return)
    with closing(store.reader()) as reader:
        user.until(lambda: [row.tag for row in reader.rows([8, 9, 11, 12]).values()] == ["office"] * 2 + ["hall"] * 2)


@pytest.mark.parametrize("modifiers", [CONTROL, CONTROL | SHIFT], ids=["US", "German"])
def test_the_date_is_in_the_note_of_the_copy(
    user: UndoDriver, store: SqliteStore, modifiers: Qt.KeyboardModifier
) -> None:
    duplicate(user, 9)
    QTest.keyClick(user.focused, Qt.Key.Key_Semicolon, modifiers)
    user.hit(*"fed")
    user.until(lambda: user.the(NoteEdit).toPlainText().endswith(" fed"))
    user.table.setFocus()
    with closing(store.reader()) as reader:
        user.until(lambda: (reader.rows([11])[11].note or "").endswith(" fed"))
        assert reader.rows([9])[9].note is None


def test_a_copy_pressed_twice_copies_the_copy_unless_the_key_is_held_down(user: UndoDriver) -> None:
    duplicate(user, 9)
    repeated = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_D, CONTROL, "", True)
    QApplication.sendEvent(user.focused, repeated)
    user.press(Qt.Key.Key_D, CONTROL)
    user.until_selected(12)
    user.until_rows(12)


def test_no_key_acts_on_the_plant_whose_copy_the_search_hides(user: UndoDriver) -> None:
    user.type(user.search, "id:9")
    user.until_rows(1)
    user.go_to(9)
    with user.qtbot.waitSignal(user.table.keeper.selected, timeout=MILLISECONDS):
        user.press(Qt.Key.Key_D, CONTROL)
        user.hit(Qt.Key.Key_F2, "x", Qt.Key.Key_Return, Qt.Key.Key_Delete)
    assert not user.table.editor.isVisible()
    assert user.table.currentIndex().siblingAtColumn(Column.NAME).data() == "Plant 9"
    user.press(Qt.Key.Key_F2)
    user.until(user.table.editor.isVisible)


def test_a_name_that_is_typed_while_a_hidden_copy_is_made_is_whole(user: UndoDriver) -> None:
    user.type(user.search, "id:9")
    user.until_rows(1)
    user.go_to(9)
    user.type(user.name, "Al")
    user.press(Qt.Key.Key_D, CONTROL)
    user.hit(*"oe")
    user.until(lambda: user.name.text() == "Aloe")


def test_a_copy_has_the_note_that_is_being_typed_and_is_undone_first(user: UndoDriver, store: SqliteStore) -> None:
    user.go_to(9)
    user.press(Qt.Key.Key_I, CONTROL)
    user.until(lambda: user.the(NoteEdit).isVisible() and not user.the(NoteEdit).isReadOnly())
    note = user.the(NoteEdit)
    note.setFocus()
    QTest.keyClicks(note, "from Anna")
    user.press(Qt.Key.Key_D, CONTROL)
    with closing(store.reader()) as reader:
        user.until(lambda: [row.note for row in reader.rows([9, 11]).values()] == ["from Anna"] * 2)
        user.until_selected(11)
        user.table.setFocus()
        user.press(Qt.Key.Key_Z, CONTROL)
        user.until_rows(10)
        user.until(lambda: reader.rows([9])[9].note == "from Anna")


def test_keys_pressed_right_after_f2_go_into_the_name(user: UndoDriver, store: SqliteStore) -> None:
    user.go_to(9)
    user.press(Qt.Key.Key_F2)
    user.hit(*"Plant 1", Qt.Key.Key_Return, Qt.Key.Key_Down)
    with closing(store.reader()) as reader:
        user.until(lambda: reader.rows([9])[9].name == "Plant 1")


def test_a_click_takes_the_commands_that_are_held_and_no_letter_of_a_field(user: UndoDriver) -> None:
    user.go_to(9)
    user.type(user.name, "Al")
    user.press(Qt.Key.Key_D, CONTROL)
    user.hit(*"oe", Qt.Key.Key_F2)
    place, left = user.tag.mapTo(user.window, user.tag.rect().center()).toPointF(), Qt.MouseButton.LeftButton
    press = QMouseEvent(QEvent.Type.MouseButtonPress, place, place, left, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(user.window.windowHandle(), press)  # QTest would let the copy be made first
    user.until_selected(11)
    assert user.name.text() == "Aloe"
    assert user.tag.hasFocus()
    assert not user.table.editor.isVisible()
