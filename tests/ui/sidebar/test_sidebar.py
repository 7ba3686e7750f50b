"""Sidebar and filters in the whole window, driven by keys and clicks."""

import contextlib
import sqlite3
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt
from PySide6.QtGui import QAccessible, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from plantdesk.domain.edits import SetTag
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plant_drag import make_plants_data
from plantdesk.ui.plants.search_bar import FilterChips
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.sidebar.view import ENTRY_ROLE, SidebarView
from plantdesk.ui.widgets.dialog import MessageBox
from plantdesk.ui.widgets.offers import TagCompleter
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import SECONDS
from tests.support.window_driver import WindowDriver, click_in
from tests.ui.conftest import Adder, PlantsDriver, open_store

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


class SidebarDriver(PlantsDriver):
    """The window with its sidebar."""

    def __init__(self, qtbot: QtBot, workspace: Workspace) -> None:
        super().__init__(qtbot, workspace.window())
        self.workspace = workspace
        self.window.resize(1300, 800)

    @property
    def view(self) -> SidebarView:
        return self.the(SidebarView)

    def indexes(self) -> Iterator[QModelIndex]:
        """The entries that are seen, from the top."""
        index = self.view.model().index(0, 0)
        while index.isValid():
            yield index
            index = self.view.indexBelow(index)

    def entries(self) -> dict[str, str]:
        """The entries with their numbers, as they are seen."""
        return {index.data(): str(index.data(ENTRY_ROLE).plants) for index in self.indexes()}

    def active(self) -> list[str]:
        return [index.data() for index in self.indexes() if index.data(ENTRY_ROLE).is_active]

    @override
    def expect_names(self, *names: str) -> None:
        """Wait until the table has just these names, in any order."""
        self.until(lambda: sorted(self.names()) == sorted(names))

    def point(self, text: str) -> QPoint:
        index = next(index for index in self.indexes() if index.data() == text)
        self.view.scrollTo(index)
        return self.view.visualRect(index).center()

    def click(self, text: str) -> None:
        QTest.mouseClick(self.view.viewport(), Qt.MouseButton.LeftButton, NONE, self.point(text))

    def click_beside(self, text: str) -> None:
        """Click between the edge of the window and an entry."""
        place = self.view.viewport().mapTo(self.view, self.point(text))
        QTest.mouseClick(self.view, Qt.MouseButton.LeftButton, NONE, QPoint(2, place.y()))

    def go_to(self, text: str) -> None:
        """Move to an entry by the arrow keys."""
        self.window.activateWindow()
        self.view.setFocus()
        self.until(self.view.hasFocus)
        self.press(Qt.Key.Key_Home)
        for _ in range(40):
            if self.view.currentIndex().data() == text:
                return
            self.press(Qt.Key.Key_Down)
        pytest.fail(f"The arrow keys do not reach {text}")

    def edit(self, text: str) -> None:
        """Move to an entry by the arrow keys, and open its name."""
        self.go_to(text)
        self.press(Qt.Key.Key_F2)

    def chip_buttons(self) -> list[QWidget]:
        chips = self.the(FilterChips)
        return [chip for chip in map(chips.widgetForAction, chips.actions()) if chip.isVisible()]

    def chips(self) -> list[str]:
        return [chip.text().removesuffix("  ✕") for chip in self.chip_buttons() if isinstance(chip, QToolButton)]

    def choose_in_menu(self, command: str) -> None:
        """Choose a command of the context menu of the present entry, opened by the keyboard."""
        self.press(Qt.Key.Key_F10, SHIFT)
        click_in(self.popup(), command)

    @property
    def editor(self) -> QLineEdit:
        editor = self.view.findChild(QLineEdit)
        assert editor is not None
        return editor

    def type_name(self, name: str) -> None:
        self.editor.selectAll()
        QTest.keyClicks(self.editor, name)
        QTest.keyClick(self.editor, Qt.Key.Key_Return)


def set_tag(tag: str, other: str | None) -> SetTag:
    return SetTag(Selection.of(HasTag(tag, is_exact=True)), other)


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> SidebarDriver:
    """Two plants in the kitchen, one in the hall, one without a tag; two of a script."""
    source = store.tokens.create("garden-sync").result(SECONDS).row.source
    add("Aloe", tag="kitchen")
    add("Basil")
    for plant_id, name, tag in ((10, "Cactus", "kitchen"), (11, "Dill", "hall")):
        store.add(new_plant({"id": plant_id, "name": name, "tag": tag}), source).result(SECONDS)
    open_store(bare, store)
    desk = SidebarDriver(qtbot, bare)
    desk.expect_names("Aloe", "Basil", "Cactus", "Dill")
    qtbot.waitUntil(lambda: desk.entries().get("kitchen") == "2")
    return desk


def add_days_ago(desk: SidebarDriver, other_program: sqlite3.Connection, name: str) -> None:
    """Let a plant be one that was added days ago."""
    other_program.execute("UPDATE plant SET added_at = added_at - 300000000 WHERE name = ?", (name,))
    other_program.commit()
    desk.until(lambda: "Today" in desk.entries())


# --- counts -----------------------------------------------------------------------------------------------------------


def test_it_shows_tags_and_sources_with_their_numbers(desk: SidebarDriver) -> None:
    assert desk.entries() == {
        "All plants": "4",
        "No tag": "1",
        "Tags": "None",
        "hall": "1",
        "kitchen": "2",
        "From": "None",
        "Form": "2",
        "garden-sync": "2",
    }
    assert desk.active() == ["All plants"]


def test_the_numbers_follow_every_change(desk: SidebarDriver, add: Adder, other_program: sqlite3.Connection) -> None:
    add("Elm", tag="park")
    desk.until(lambda: (desk.entries().get("park"), desk.entries()["All plants"]) == ("1", "5"))
    desk.click("kitchen")
    desk.expect_names("Aloe", "Cactus")
    desk.table.setFocus()
    desk.table.selectAll()
    desk.press(Qt.Key.Key_Delete)
    desk.until(lambda: "kitchen" not in desk.entries())
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: desk.entries().get("kitchen") == "2")
    other_program.execute("UPDATE plant SET tag = 'cellar' WHERE tag = 'hall'")
    other_program.commit()
    desk.until(lambda: (desk.entries().get("cellar"), desk.entries().get("hall")) == ("1", None))


def test_only_one_source_is_no_choice(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> None:
    add("Aloe")
    open_store(bare, store)
    desk = SidebarDriver(qtbot, bare)
    qtbot.waitUntil(lambda: desk.entries() == {"All plants": "1", "No tag": "1"})


def test_today_is_hidden_while_it_is_all_plants(
    desk: SidebarDriver, store: SqliteStore, other_program: sqlite3.Connection
) -> None:
    desk.workspace.release_store()
    assert "Today" not in desk.entries(), "remembered"
    desk.workspace.set_store(store)
    desk.search.setFocus()
    QTest.keyClicks(desk.search, "added:today")
    desk.until(lambda: desk.active() == ["Today"])
    desk.press(Qt.Key.Key_Return)
    assert (desk.chips(), desk.active()) == (["Today"], ["Today"])
    desk.click("All plants")
    assert "Today" not in desk.entries()
    add_days_ago(desk, other_program, "Aloe")
    assert desk.entries()["Today"] == "3"
    desk.click("Today")
    desk.expect_names("Basil", "Cactus", "Dill")
    desk.workspace.release_store()
    assert "Today" in desk.entries()


# --- filters ----------------------------------------------------------------------------------------------------------


def test_a_click_filters_whatever_was_typed_and_all_plants_shows_all(desk: SidebarDriver) -> None:
    desk.search.setText("nothing has this")
    desk.expect_names()
    desk.click("kitchen")
    desk.expect_names("Aloe", "Cactus")
    assert (desk.search.text(), desk.chips(), desk.active()) == ("", ["kitchen"], ["kitchen"])
    desk.until(lambda: "2 of 4 plants" in desk.texts())
    desk.click_beside("No tag")
    desk.expect_names("Basil")
    desk.click("All plants")
    desk.expect_names("Aloe", "Basil", "Cactus", "Dill")
    assert (desk.chips(), desk.active()) == ([], ["All plants"])


def test_filters_are_added_by_keys_and_removed_at_their_chips(desk: SidebarDriver) -> None:
    desk.go_to("kitchen")
    desk.press(Qt.Key.Key_Return)
    desk.go_to("garden-sync")
    desk.press(Qt.Key.Key_Return, CONTROL)
    desk.expect_names("Cactus")
    desk.go_to("hall")
    desk.press(Qt.Key.Key_Space, CONTROL)
    desk.expect_names("Cactus", "Dill")
    assert desk.chips() == ["kitchen", "garden-sync", "hall"]
    desk.chip_buttons()[0].setFocus()
    desk.press(Qt.Key.Key_Right)
    desk.press(Qt.Key.Key_Delete)
    desk.expect_names("Aloe", "Cactus", "Dill")
    assert desk.chips() == ["kitchen", "hall"]
    QTest.mouseClick(desk.chip_buttons()[0], Qt.MouseButton.LeftButton)
    desk.search.setFocus()
    desk.press(Qt.Key.Key_Backspace)
    desk.expect_names("Aloe", "Basil", "Cactus", "Dill")


def test_filters_and_words_hold_together_and_escape_removes_both(desk: SidebarDriver) -> None:
    desk.click("kitchen")
    desk.search.setFocus()
    QTest.keyClicks(desk.search, "cac")
    desk.expect_names("Cactus")
    desk.press(Qt.Key.Key_Escape)
    desk.expect_names("Aloe", "Cactus")
    desk.press(Qt.Key.Key_Escape)
    desk.expect_names("Aloe", "Basil", "Cactus", "Dill")


def test_tags_are_completed(desk: SidebarDriver) -> None:
    desk.search.setFocus()
    QTest.keyClicks(desk.search, "cac ta")
    QTest.keyClick(desk.search, Qt.Key.Key_Down)
    QTest.keyClick(desk.search, Qt.Key.Key_Return)
    assert desk.search.text() == "cac tag:"
    desk.expect_names("Cactus")  # a term that is only begun changes nothing
    QTest.keyClicks(desk.search, "KI")
    QTest.keyClick(desk.search, Qt.Key.Key_Down)
    QTest.keyClick(desk.search, Qt.Key.Key_Return)
    assert (desk.search.text(), desk.chips()) == ("cac", ["kitchen"])
    desk.press(Qt.Key.Key_Escape)
    desk.expect_names("Aloe", "Cactus")


# --- tags -------------------------------------------------------------------------------------------------------------


def test_a_tag_is_renamed_in_place_and_filter_and_focus_follow(desk: SidebarDriver) -> None:
    def follows(old: str, new: str) -> None:
        desk.until(lambda: (desk.entries().get(new), desk.entries().get(old)) == ("2", None))
        desk.expect_names("Aloe", "Cactus")
        assert desk.chips() == [new]
        assert (desk.view.currentIndex().data(), desk.view.hasFocus()) == (new, True)

    desk.click("kitchen")
    desk.expect_names("Aloe", "Cactus")
    desk.press(Qt.Key.Key_F2)
    desk.type_name("cuisine")
    follows("kitchen", "cuisine")
    desk.press(Qt.Key.Key_Z, CONTROL)
    follows("cuisine", "kitchen")
    desk.press(Qt.Key.Key_Z, CONTROL | SHIFT)
    follows("kitchen", "cuisine")


@pytest.mark.parametrize("answer", ["Merge", "Cancel"])
def test_a_tag_is_merged_after_a_question(desk: SidebarDriver, answer: str) -> None:
    desk.go_to("kitchen")
    desk.choose_in_menu("Rename")
    desk.type_name("hall")
    desk.until(lambda: desk.widget.findChildren(MessageBox) != [])
    box = desk.the(MessageBox)
    assert box.text == "Change the tag of 2 plants from “kitchen” to “hall”?"
    assert any(text.startswith("1 plant has the tag “hall” already.") for text in WindowDriver(desk.qtbot, box).texts())
    assert WindowDriver(desk.qtbot, box).button("Merge").hasFocus()
    QTest.mouseClick(WindowDriver(desk.qtbot, box).button(answer), Qt.MouseButton.LeftButton)
    expected = ("3", None) if answer == "Merge" else ("1", "2")
    desk.until(lambda: (desk.entries().get("hall"), desk.entries().get("kitchen")) == expected)
    if answer == "Merge":
        assert desk.toast.text == "Changed the tag of 2 plants from “kitchen” to “hall”."
        desk.window.activateWindow()
        desk.table.setFocus()
        desk.until(desk.table.hasFocus)
        desk.press(Qt.Key.Key_Z, CONTROL)
        desk.until(lambda: (desk.entries().get("hall"), desk.entries().get("kitchen")) == ("1", "2"))


@pytest.mark.parametrize("other", [None, "bath", "hall", "undo"])
def test_what_is_typed_for_a_tag_that_is_gone_stays_and_is_reported(
    desk: SidebarDriver, store: SqliteStore, other: str | None
) -> None:
    tag = "cellar" if other == "undo" else "kitchen"
    with contextlib.closing(SqliteStore(store.path)) as second:
        cellar = second.apply([set_tag("hall", "cellar")], FORM).result(SECONDS).change
        assert cellar is not None
        desk.until(lambda: "cellar" in desk.entries())
        desk.go_to(tag)
        desk.press(Qt.Key.Key_F2)
        QTest.keyClicks(desk.editor, "hall")
        if other == "undo":
            second.undo(cellar, FORM).result(SECONDS)
        else:
            second.apply([set_tag(tag, other)], FORM).result(SECONDS)
        second.add(new_plant({"id": 50, "name": "Elm", "tag": "park"}), FORM).result(SECONDS)
    completer = desk.tag.completer()
    assert isinstance(completer, TagCompleter)
    desk.until(lambda: "park" in completer.tags.stringList())  # they are counted
    QTest.keyClicks(desk.editor, "way")
    QTest.keyClick(desk.editor, Qt.Key.Key_Return)
    text = f"No plant has the tag “{tag}” any more, so it was not renamed to “hallway”."
    desk.until(lambda: desk.workspace.toast.text == text)
    assert desk.entries().get("park") == "1"
    assert {tag, "hallway"}.isdisjoint(desk.entries())


@pytest.mark.parametrize("width", [1300, 800])
def test_keys_of_the_editor_do_nothing_in_the_list(desk: SidebarDriver, width: int) -> None:
    desk.window.resize(width, 600)
    if width < 900:
        desk.until(lambda: not desk.view.isVisible())
        desk.button("Tags").click()
    desk.until(desk.view.isVisible)
    desk.edit("kitchen")
    QTest.keyClicks(desk.editor, "cuisine")
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Up)
    assert desk.editor.hasFocus()
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.entries().get("cuisine") == "2")
    assert desk.chips() == []
    assert desk.view.hasFocus()


def test_what_is_typed_for_a_tag_is_saved_when_the_store_is_closed(desk: SidebarDriver, store: SqliteStore) -> None:
    desk.edit("kitchen")
    QTest.keyClicks(desk.editor, "cellar")
    desk.workspace.release_store()
    desk.workspace.set_store(store)
    desk.until(lambda: desk.entries().get("cellar") == "2")


def test_the_action_of_a_screen_reader_on_an_entry_does_what_a_click_does(desk: SidebarDriver) -> None:
    shown = list(desk.entries())
    entries = QAccessible.queryAccessibleInterface(desk.view)
    for name in ("Tags", "kitchen"):
        entries.child(1 + shown.index(name)).actionInterface().doAction("Toggle")  # after the hidden header
    desk.until(lambda: desk.active() == ["kitchen"])
    assert not desk.view.selectedIndexes()
    desk.click("hall")
    desk.go_to("kitchen")
    desk.until(lambda: desk.active() == ["hall"])
    assert not desk.view.selectedIndexes()


def test_a_name_is_edited_by_f2_and_kept_by_escape_and_for_blanks(desk: SidebarDriver, spoken: list[str]) -> None:
    desk.edit("kitchen")
    assert spoken == ["New name of kitchen"]
    QTest.keyClicks(desk.editor, "x")
    QTest.keyClick(desk.editor, Qt.Key.Key_Escape)
    desk.until(lambda: desk.view.findChild(QLineEdit) is None)
    assert "kitchen" in desk.entries()
    desk.press(Qt.Key.Key_F2)
    desk.type_name("  ")
    desk.until(lambda: "Give the tag a name" in desk.workspace.toast.text)
    assert "kitchen" in desk.entries()


def test_numbers_in_tags_are_sorted_by_their_value(desk: SidebarDriver, add: Adder) -> None:
    for tag in ("Room 10", "room 2", "room 1"):
        add("Elder", tag=tag)
    desk.until(lambda: desk.entries().get("room 1") == "1")
    assert [each for each in desk.entries() if "oom" in each] == ["room 1", "room 2", "Room 10"]


def test_selected_plants_are_dropped_on_a_tag(desk: SidebarDriver) -> None:
    desk.table.setFocus()
    desk.table.selectAll()
    drop(desk, "hall")
    desk.until(lambda: (desk.entries().get("hall"), desk.entries()["No tag"]) == ("4", "0"))
    drop(desk, "No tag")
    desk.until(lambda: desk.entries()["No tag"] == "4")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: desk.entries().get("hall") == "4")
    desk.press(Qt.Key.Key_Z, CONTROL)
    desk.until(lambda: desk.entries().get("hall") == "1")


def test_nothing_is_dropped_where_there_is_no_tag(desk: SidebarDriver, other_program: sqlite3.Connection) -> None:
    add_days_ago(desk, other_program, "Aloe")
    desk.table.selectAll()
    assert not any(drop(desk, target) for target in ("Today", "All plants", "garden-sync"))
    foreign = QMimeData()
    foreign.setText("kitchen")
    assert not drop(desk, "hall", foreign)


def test_the_list_scrolls_while_plants_are_dragged_to_its_end(desk: SidebarDriver, add: Adder) -> None:
    for number in range(20):
        add(f"Plant {number}", tag=f"tag {number}")
    desk.window.resize(1300, 500)
    desk.until(lambda: desk.view.verticalScrollBar().maximum() > 0 and "tag 19" in desk.entries())
    viewport = desk.view.viewport()
    arguments = Qt.DropAction.CopyAction, make_plants_data(), Qt.MouseButton.LeftButton, NONE
    desk.view.verticalScrollBar().setValue(0)
    edge = QPoint(50, viewport.height() - 4)
    QApplication.sendEvent(viewport, QDragEnterEvent(edge, *arguments))
    QApplication.sendEvent(viewport, QDragMoveEvent(edge, *arguments))
    desk.until(lambda: desk.view.verticalScrollBar().value() > 20)
    QApplication.sendEvent(viewport, QDragLeaveEvent())


def test_a_row_is_dragged_whether_or_not_it_is_selected(desk: SidebarDriver) -> None:
    cells = [desk.table.visualRect(desk.table.model().index(row, Column.NAME)).center() for row in (0, 1)]
    QTest.mouseClick(desk.table.viewport(), Qt.MouseButton.LeftButton, pos=cells[0])
    for row, cell in enumerate(cells):
        desk.table.selectRow(0)
        QTest.mousePress(desk.table.viewport(), Qt.MouseButton.LeftButton, pos=cell)
        assert desk.table.dragEnabled()
        assert desk.table.currentIndex().row() == row
        QTest.mouseRelease(desk.table.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    assert desk.table.model().index(0, 0).flags() & Qt.ItemFlag.ItemIsDragEnabled


def drop(desk: SidebarDriver, target: str, data: QMimeData | None = None) -> bool:
    """Move plants over an entry and drop them; return whether they were taken."""
    data = make_plants_data() if data is None else data
    point, viewport = desk.point(target), desk.view.viewport()
    arguments = Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, NONE
    QApplication.sendEvent(viewport, QDragEnterEvent(point, *arguments))
    move = QDragMoveEvent(point, *arguments)
    move.ignore()
    QApplication.sendEvent(viewport, move)
    event = QDropEvent(point, *arguments)
    event.ignore()
    QApplication.sendEvent(viewport, event)
    return move.isAccepted() and event.isAccepted()


# --- saved searches ---------------------------------------------------------------------------------------------------


def test_a_search_is_saved_named_found_again_and_deleted(desk: SidebarDriver, store: SqliteStore, add: Adder) -> None:
    desk.click("kitchen")
    desk.search.setFocus()
    QTest.keyClicks(desk.search, "cac")
    desk.choose("Edit", "Save this search")
    desk.type_name("Spines")
    desk.until(lambda: desk.entries().get("Spines") == "1")
    assert desk.active() == ["kitchen", "Spines"]
    assert (desk.view.currentIndex().data(), desk.window.focusWidget()) == ("Spines", desk.view)
    desk.edit("Spines")
    desk.type_name("Spiny")
    desk.until(lambda: "Spiny" in desk.entries())
    assert desk.view.currentIndex().data() == "Spiny"
    add("Cactus two", tag="kitchen")
    desk.until(lambda: desk.entries().get("Spiny") == "2")
    desk.click("All plants")
    assert desk.search.text() == ""
    desk.workspace.release_store()
    desk.workspace.set_store(store)
    desk.until(lambda: desk.entries().get("Spiny") == "2")
    desk.click("Spiny")
    desk.expect_names("Cactus", "Cactus two")
    assert (desk.search.text(), desk.chips()) == ("cac", ["kitchen"])
    desk.go_to("Spiny")
    desk.press(Qt.Key.Key_Delete)
    assert "Spiny" not in desk.entries()
    QTest.mouseClick(WindowDriver(desk.qtbot, desk.workspace.toast).button("Undo"), Qt.MouseButton.LeftButton)
    assert "Spiny" in desk.entries()


# --- narrow windows ---------------------------------------------------------------------------------------------------


def test_in_a_narrow_window_a_button_opens_it_over_the_list(desk: SidebarDriver) -> None:
    desk.window.resize(800, 600)
    desk.until(lambda: not desk.view.isVisible())
    QTest.mouseClick(desk.button("Tags"), Qt.MouseButton.LeftButton)
    desk.until(desk.view.hasFocus)
    desk.press(Qt.Key.Key_Escape)
    assert not desk.view.isVisible()
    desk.press(Qt.Key.Key_B, CONTROL)
    desk.go_to("kitchen")
    desk.press(Qt.Key.Key_Return)
    desk.expect_names("Aloe", "Cactus")
    assert not desk.view.isVisible()
    assert desk.table.hasFocus()


def test_ctrl_b_hides_it_for_good(desk: SidebarDriver, store: SqliteStore) -> None:
    desk.press(Qt.Key.Key_B, CONTROL)
    assert not desk.view.isVisible()
    desk.workspace.release_store()
    desk.workspace.set_store(store)
    assert not desk.view.isVisible()
    desk.press(Qt.Key.Key_B, CONTROL)
    assert desk.view.isVisible()


def test_many_filters_are_in_a_menu(desk: SidebarDriver) -> None:
    desk.window.resize(700, 500)
    desk.search.setFocus()
    desk.search.setText("tag:kitchen tag:hall added:7d from:form id:1-9")
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(desk.chips()) < 5)
    more = desk.button("More filters")
    assert isinstance(more, QToolButton)
    assert more.isVisible()
    menu = more.menu()
    assert menu is not None
    menu.popup(QPoint())
    assert len(menu.actions()) == 5 - len(desk.chips())
    menu.close()


@pytest.mark.parametrize(
    ("typed", "chips", "left"),
    [
        ("tag:kit ", ["kit"], ""),
        ("-tag:KIT aloe", ["not KIT"], "aloe"),
        ("tag:shed tag:hall", ["shed", "hall"], ""),
        ("from:for", ["for"], ""),
        ("a -tag:hall from:form", ["not hall", "Form"], "a"),
        ("aloe", [], "aloe"),
    ],
)
def test_enter_makes_chips_of_what_is_typed(desk: SidebarDriver, typed: str, chips: list[str], left: str) -> None:
    desk.search.setFocus()
    QTest.keyClicks(desk.search, typed)
    desk.press(Qt.Key.Key_Return)
    assert desk.chips() == chips
    assert desk.search.text() == left


@pytest.mark.parametrize("name", ["<b>x</b>", "\x1b\n", "x" * 100_000, "", "\u202etfel"])
def test_odd_tags_do_no_harm(desk: SidebarDriver, store: SqliteStore, name: str) -> None:
    store.add(
        new_plant({"id": 500, "name": "Odd", "tag": name}), store.tokens.create("x").result(SECONDS).row.source
    ).result(SECONDS)
    desk.until(lambda: desk.entries()["All plants"] == "5")
    odd = next(text for text, number in desk.entries().items() if number == "1" and text not in {"hall", "No tag", "x"})
    desk.click(odd)
    desk.expect_names("Odd")
    desk.view.grab()
    desk.window.grab()


def test_tab_goes_from_the_form_to_the_sidebar_and_then_to_the_search(desk: SidebarDriver) -> None:
    desk.click("kitchen")
    desk.expect_names("Aloe", "Cactus")
    desk.button("Add").setFocus()
    stops = []
    for _ in range(5):
        desk.press(Qt.Key.Key_Tab)
        stops.append(desk.focused.accessibleName())
    filters = ["Tags and other filters", "Search by name, tag or ID", "Remove the filter kitchen", "Save this search"]
    assert stops == [*filters, "Plants"]


def test_the_menu_says_whether_a_filter_is_added_or_removed(desk: SidebarDriver) -> None:
    desk.go_to("kitchen")
    desk.choose_in_menu("Add to the filters")
    desk.until(lambda: desk.chips() == ["kitchen"])
    desk.go_to("kitchen")
    desk.choose_in_menu("Remove from the filters")
    desk.until(lambda: desk.chips() == [])
