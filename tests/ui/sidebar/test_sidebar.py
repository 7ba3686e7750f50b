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
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> SidebarDriver:
    """Two plants in the kitchen, one in the hall, one without a tag; two of a script."""
    source = store.tokens.create("garden-sync").result(SECONDS).row.source
    add("Aloe", tag="kitchen")
    add("Basil")
    for plant_id, name, tag in ((10, "Cactus", "kitchen"), (11, "Dill", "hall")):
        store.add(new_plant({"id": plant_id, "name": name, "tag": tag}), source).result(SECONDS)
    open_store(bare, store)
    user = SidebarDriver(qtbot, bare)
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")
    qtbot.waitUntil(lambda: user.entries().get("kitchen") == "2")
    return user


def add_days_ago(user: SidebarDriver, other_program: sqlite3.Connection, name: str) -> None:
    """Let a plant be one that was added days ago."""
    other_program.execute("UPDATE plant SET added_at = added_at - 300000000 WHERE name = ?", (name,))
    other_program.commit()
    user.until(lambda: "Today" in user.entries())


# --- counts -----------------------------------------------------------------------------------------------------------


def test_it_shows_tags_and_sources_with_their_numbers(user: SidebarDriver) -> None:
    assert user.entries() == {
        "All plants": "4",
        "No tag": "1",
        "Tags": "None",
        "hall": "1",
        "kitchen": "2",
        "From": "None",
        "Form": "2",
        "garden-sync": "2",
    }
    assert user.active() == ["All plants"]


def test_the_numbers_follow_every_change(user: SidebarDriver, add: Adder, other_program: sqlite3.Connection) -> None:
    add("Elm", tag="park")
    user.until(lambda: (user.entries().get("park"), user.entries()["All plants"]) == ("1", "5"))
    user.click("kitchen")
    user.expect_names("Aloe", "Cactus")
    user.table.setFocus()
    user.table.selectAll()
    user.press(Qt.Key.Key_Delete)
    user.until(lambda: "kitchen" not in user.entries())
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: user.entries().get("kitchen") == "2")
    other_program.execute("UPDATE plant SET tag = 'cellar' WHERE tag = 'hall'")
    other_program.commit()
    user.until(lambda: (user.entries().get("cellar"), user.entries().get("hall")) == ("1", None))


def test_a_single_source_is_not_listed(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> None:
    add("Aloe")
    open_store(bare, store)
    user = SidebarDriver(qtbot, bare)
    qtbot.waitUntil(lambda: user.entries() == {"All plants": "1", "No tag": "1"})


def test_today_is_hidden_while_it_is_all_plants(
    user: SidebarDriver, store: SqliteStore, other_program: sqlite3.Connection
) -> None:
    user.workspace.release_store()
    assert "Today" not in user.entries(), "remembered"
    user.workspace.set_store(store)
    user.search.setFocus()
    QTest.keyClicks(user.search, "added:today")
    user.until(lambda: user.active() == ["Today"])
    user.press(Qt.Key.Key_Return)
    assert (user.chips(), user.active()) == (["Today"], ["Today"])
    user.click("All plants")
    assert "Today" not in user.entries()
    add_days_ago(user, other_program, "Aloe")
    assert user.entries()["Today"] == "3"
    user.click("Today")
    user.expect_names("Basil", "Cactus", "Dill")
    user.workspace.release_store()
    assert "Today" in user.entries()


# --- filters ----------------------------------------------------------------------------------------------------------


def test_a_click_filters_whatever_was_typed_and_all_plants_shows_all(user: SidebarDriver) -> None:
    user.search.setText("nothing has this")
    user.expect_names()
    user.click("kitchen")
    user.expect_names("Aloe", "Cactus")
    assert (user.search.text(), user.chips(), user.active()) == ("", ["kitchen"], ["kitchen"])
    user.until(lambda: "2 of 4 plants" in user.texts())
    user.click_beside("No tag")
    user.expect_names("Basil")
    user.click("All plants")
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")
    assert (user.chips(), user.active()) == ([], ["All plants"])


def test_filters_are_added_by_keys_and_removed_at_their_chips(user: SidebarDriver) -> None:
    user.go_to("kitchen")
    user.press(Qt.Key.Key_Return)
    user.go_to("garden-sync")
    user.press(Qt.Key.Key_Return, CONTROL)
    user.expect_names("Cactus")
    user.go_to("hall")
    user.press(Qt.Key.Key_Space, CONTROL)
    user.expect_names("Cactus", "Dill")
    assert user.chips() == ["kitchen", "garden-sync", "hall"]
    user.chip_buttons()[0].setFocus()
    user.press(Qt.Key.Key_Right)
    user.press(Qt.Key.Key_Delete)
    user.expect_names("Aloe", "Cactus", "Dill")
    assert user.chips() == ["kitchen", "hall"]
    QTest.mouseClick(user.chip_buttons()[0], Qt.MouseButton.LeftButton)
    user.search.setFocus()
    user.press(Qt.Key.Key_Backspace)
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")


def test_filters_and_words_hold_together_and_escape_removes_both(user: SidebarDriver) -> None:
    user.click("kitchen")
    user.search.setFocus()
    QTest.keyClicks(user.search, "cac")
    user.expect_names("Cactus")
    user.press(Qt.Key.Key_Escape)
    user.expect_names("Aloe", "Cactus")
    user.press(Qt.Key.Key_Escape)
    user.expect_names("Aloe", "Basil", "Cactus", "Dill")


def test_tags_are_completed(user: SidebarDriver) -> None:
    user.search.setFocus()
    QTest.keyClicks(user.search, "cac ta")
    QTest.keyClick(user.search, Qt.Key.Key_Down)
    QTest.keyClick(user.search, Qt.Key.Key_Return)
    assert user.search.text() == "cac tag:"
    user.expect_names("Cactus")  # a term that is only begun changes nothing
    QTest.keyClicks(user.search, "KI")
    QTest.keyClick(user.search, Qt.Key.Key_Down)
    QTest.keyClick(user.search, Qt.Key.Key_Return)
    assert (user.search.text(), user.chips()) == ("cac", ["kitchen"])
    user.press(Qt.Key.Key_Escape)
    user.expect_names("Aloe", "Cactus")


# --- tags -------------------------------------------------------------------------------------------------------------


def test_a_tag_is_renamed_in_place_and_filter_and_focus_follow(user: SidebarDriver) -> None:
    def follows(old: str, new: str) -> None:
        user.until(lambda: (user.entries().get(new), user.entries().get(old)) == ("2", None))
        user.expect_names("Aloe", "Cactus")
        assert user.chips() == [new]
        assert (user.view.currentIndex().data(), user.view.hasFocus()) == (new, True)

    user.click("kitchen")
    user.expect_names("Aloe", "Cactus")
    user.press(Qt.Key.Key_F2)
    user.type_name("cuisine")
    follows("kitchen", "cuisine")
    user.press(Qt.Key.Key_Z, CONTROL)
    follows("cuisine", "kitchen")
    user.press(Qt.Key.Key_Z, CONTROL | SHIFT)
    follows("kitchen", "cuisine")


@pytest.mark.parametrize("answer", ["Merge", "Cancel"])
def test_a_tag_is_merged_after_a_question(user: SidebarDriver, answer: str) -> None:
    user.go_to("kitchen")
    user.choose_in_menu("Rename")
    user.type_name("hall")
    user.until(lambda: user.widget.findChildren(MessageBox) != [])
    box = user.the(MessageBox)
    assert box.text == "Change the tag of 2 plants from “kitchen” to “hall”?"
    assert any(text.startswith("1 plant has the tag “hall” already.") for text in WindowDriver(user.qtbot, box).texts())
    assert WindowDriver(user.qtbot, box).button("Merge").hasFocus()
    QTest.mouseClick(WindowDriver(user.qtbot, box).button(answer), Qt.MouseButton.LeftButton)
    expected = ("3", None) if answer == "Merge" else ("1", "2")
    user.until(lambda: (user.entries().get("hall"), user.entries().get("kitchen")) == expected)
    if answer == "Merge":
        assert user.toast.text == "Changed the tag of 2 plants from “kitchen” to “hall”."
        user.window.activateWindow()
        user.table.setFocus()
        user.until(user.table.hasFocus)
        user.press(Qt.Key.Key_Z, CONTROL)
        user.until(lambda: (user.entries().get("hall"), user.entries().get("kitchen")) == ("1", "2"))


@pytest.mark.parametrize("other", [None, "bath", "hall", "undo"])
def test_what_is_typed_for_a_tag_that_is_gone_stays_and_is_reported(
    user: SidebarDriver, store: SqliteStore, other: str | None
) -> None:
    tag = "cellar" if other == "undo" else "kitchen"
    with contextlib.closing(SqliteStore(store.path)) as second:
        cellar = second.apply([set_tag("hall", "cellar")], FORM).result(SECONDS).change
        assert cellar is not None
        user.until(lambda: "cellar" in user.entries())
        user.go_to(tag)
        user.press(Qt.Key.Key_F2)
        QTest.keyClicks(user.editor, "hall")
        if other == "undo":
            second.undo(cellar, FORM).result(SECONDS)
        else:
            second.apply([set_tag(tag, other)], FORM).result(SECONDS)
        second.add(new_plant({"id": 50, "name": "Elm", "tag": "park"}), FORM).result(SECONDS)
    completer = user.tag.completer()
    assert isinstance(completer, TagCompleter)
    user.until(lambda: "park" in completer.tags.stringList())  # they are counted
    QTest.keyClicks(user.editor, "way")
    QTest.keyClick(user.editor, Qt.Key.Key_Return)
    text = f"No plant has the tag “{tag}” any more, so it was not renamed to “hallway”."
    user.until(lambda: user.workspace.toast.text == text)
    assert user.entries().get("park") == "1"
    assert {tag, "hallway"}.isdisjoint(user.entries())


@pytest.mark.parametrize("width", [1300, 800])
def test_keys_of_the_editor_do_nothing_in_the_list(user: SidebarDriver, width: int) -> None:
    user.window.resize(width, 600)
    if width < 900:
        user.until(lambda: not user.view.isVisible())
        user.button("Tags").click()
    user.until(user.view.isVisible)
    user.edit("kitchen")
    QTest.keyClicks(user.editor, "cuisine")
    user.press(Qt.Key.Key_Down)
    user.press(Qt.Key.Key_Up)
    assert user.editor.hasFocus()
    user.press(Qt.Key.Key_Return)
    user.until(lambda: user.entries().get("cuisine") == "2")
    assert user.chips() == []
    assert user.view.hasFocus()


def test_what_is_typed_for_a_tag_is_saved_when_the_store_is_closed(user: SidebarDriver, store: SqliteStore) -> None:
    user.edit("kitchen")
    QTest.keyClicks(user.editor, "cellar")
    user.workspace.release_store()
    user.workspace.set_store(store)
    user.until(lambda: user.entries().get("cellar") == "2")


def test_the_action_of_a_screen_reader_on_an_entry_does_what_a_click_does(user: SidebarDriver) -> None:
    shown = list(user.entries())
    entries = QAccessible.queryAccessibleInterface(user.view)
    for name in ("Tags", "kitchen"):
        entries.child(1 + shown.index(name)).actionInterface().doAction("Toggle")  # after the hidden header
    user.until(lambda: user.active() == ["kitchen"])
    assert not user.view.selectedIndexes()
    user.click("hall")
    user.go_to("kitchen")
    user.until(lambda: user.active() == ["hall"])
    assert not user.view.selectedIndexes()


def test_a_name_is_edited_by_f2_and_kept_by_escape_and_for_blanks(user: SidebarDriver, spoken: list[str]) -> None:
    user.edit("kitchen")
    assert spoken == ["New name of kitchen"]
    QTest.keyClicks(user.editor, "x")
    QTest.keyClick(user.editor, Qt.Key.Key_Escape)
    user.until(lambda: user.view.findChild(QLineEdit) is None)
    assert "kitchen" in user.entries()
    user.press(Qt.Key.Key_F2)
    user.type_name("  ")
    user.until(lambda: "Give the tag a name" in user.workspace.toast.text)
    assert "kitchen" in user.entries()


def test_numbers_in_tags_are_sorted_by_their_value(user: SidebarDriver, add: Adder) -> None:
    for tag in ("Room 10", "room 2", "room 1"):
        add("Elder", tag=tag)
    user.until(lambda: user.entries().get("room 1") == "1")
    assert [entry for entry in user.entries() if "oom" in entry] == ["room 1", "room 2", "Room 10"]


def test_selected_plants_are_dropped_on_a_tag(user: SidebarDriver) -> None:
    user.table.setFocus()
    user.table.selectAll()
    drop(user, "hall")
    user.until(lambda: (user.entries().get("hall"), user.entries()["No tag"]) == ("4", "0"))
    drop(user, "No tag")
    user.until(lambda: user.entries()["No tag"] == "4")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: user.entries().get("hall") == "4")
    user.press(Qt.Key.Key_Z, CONTROL)
    user.until(lambda: user.entries().get("hall") == "1")


def test_nothing_is_dropped_where_there_is_no_tag(user: SidebarDriver, other_program: sqlite3.Connection) -> None:
    add_days_ago(user, other_program, "Aloe")
    user.table.selectAll()
    assert not any(drop(user, target) for target in ("Today", "All plants", "garden-sync"))
    foreign = QMimeData()
    foreign.setText("kitchen")
    assert not drop(user, "hall", foreign)


def test_the_list_scrolls_while_plants_are_dragged_to_its_end(user: SidebarDriver, add: Adder) -> None:
    for number in range(20):
        add(f"Plant {number}", tag=f"tag {number}")
    user.window.resize(1300, 500)
    user.until(lambda: user.view.verticalScrollBar().maximum() > 0 and "tag 19" in user.entries())
    viewport = user.view.viewport()
    arguments = Qt.DropAction.CopyAction, make_plants_data(), Qt.MouseButton.LeftButton, NONE
    user.view.verticalScrollBar().setValue(0)
    edge = QPoint(50, viewport.height() - 4)
    QApplication.sendEvent(viewport, QDragEnterEvent(edge, *arguments))
    QApplication.sendEvent(viewport, QDragMoveEvent(edge, *arguments))
    user.until(lambda: user.view.verticalScrollBar().value() > 20)
    QApplication.sendEvent(viewport, QDragLeaveEvent())


def test_a_row_is_dragged_whether_or_not_it_is_selected(user: SidebarDriver) -> None:
    cells = [user.table.visualRect(user.table.model().index(row, Column.NAME)).center() for row in (0, 1)]
    QTest.mouseClick(user.table.viewport(), Qt.MouseButton.LeftButton, pos=cells[0])
    for row, cell in enumerate(cells):
        user.table.selectRow(0)
        QTest.mousePress(user.table.viewport(), Qt.MouseButton.LeftButton, pos=cell)
        assert user.table.dragEnabled()
        assert user.table.currentIndex().row() == row
        QTest.mouseRelease(user.table.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    assert user.table.model().index(0, 0).flags() & Qt.ItemFlag.ItemIsDragEnabled


def drop(user: SidebarDriver, target: str, data: QMimeData | None = None) -> bool:
    """Move plants over an entry and drop them; return whether they were taken."""
    data = make_plants_data() if data is None else data
    point, viewport = user.point(target), user.view.viewport()
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


def test_a_search_is_saved_named_found_again_and_deleted(user: SidebarDriver, store: SqliteStore, add: Adder) -> None:
    user.click("kitchen")
    user.search.setFocus()
    QTest.keyClicks(user.search, "cac")
    user.choose("Edit", "Save this search")
    user.type_name("Spines")
    user.until(lambda: user.entries().get("Spines") == "1")
    assert user.active() == ["kitchen", "Spines"]
    assert (user.view.currentIndex().data(), user.window.focusWidget()) == ("Spines", user.view)
    user.edit("Spines")
    user.type_name("Spiny")
    user.until(lambda: "Spiny" in user.entries())
    assert user.view.currentIndex().data() == "Spiny"
    add("Cactus two", tag="kitchen")
    user.until(lambda: user.entries().get("Spiny") == "2")
    user.click("All plants")
    assert user.search.text() == ""
    user.workspace.release_store()
    user.workspace.set_store(store)
    user.until(lambda: user.entries().get("Spiny") == "2")
    user.click("Spiny")
    user.expect_names("Cactus", "Cactus two")
    assert (user.search.text(), user.chips()) == ("cac", ["kitchen"])
    user.go_to("Spiny")
    user.press(Qt.Key.Key_Delete)
    assert "Spiny" not in user.entries()
    QTest.mouseClick(WindowDriver(user.qtbot, user.workspace.toast).button("Undo"), Qt.MouseButton.LeftButton)
    assert "Spiny" in user.entries()


# --- narrow windows ---------------------------------------------------------------------------------------------------


def test_in_a_narrow_window_a_button_opens_it_over_the_list(user: SidebarDriver) -> None:
    user.window.resize(800, 600)
    user.until(lambda: not user.view.isVisible())
    QTest.mouseClick(user.button("Tags"), Qt.MouseButton.LeftButton)
    user.until(user.view.hasFocus)
    user.press(Qt.Key.Key_Escape)
    assert not user.view.isVisible()
    user.press(Qt.Key.Key_B, CONTROL)
    user.go_to("kitchen")
    user.press(Qt.Key.Key_Return)
    user.expect_names("Aloe", "Cactus")
    assert not user.view.isVisible()
    assert user.table.hasFocus()


def test_ctrl_b_hides_it_for_good(user: SidebarDriver, store: SqliteStore) -> None:
    user.press(Qt.Key.Key_B, CONTROL)
    assert not user.view.isVisible()
    user.workspace.release_store()
    user.workspace.set_store(store)
    assert not user.view.isVisible()
    user.press(Qt.Key.Key_B, CONTROL)
    assert user.view.isVisible()


def test_many_filters_are_in_a_menu(user: SidebarDriver) -> None:
    user.window.resize(700, 500)
    user.search.setFocus()
    user.search.setText("tag:kitchen tag:hall added:7d from:form id:1-9")
    user.press(Qt.Key.Key_Return)
    user.until(lambda: len(user.chips()) < 5)
    more = user.button("More filters")
    assert isinstance(more, QToolButton)
    assert more.isVisible()
    menu = more.menu()
    assert menu is not None
    menu.popup(QPoint())
    assert len(menu.actions()) == 5 - len(user.chips())
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
def test_enter_makes_chips_of_what_is_typed(user: SidebarDriver, typed: str, chips: list[str], left: str) -> None:
    user.search.setFocus()
    QTest.keyClicks(user.search, typed)
    user.press(Qt.Key.Key_Return)
    assert user.chips() == chips
    assert user.search.text() == left


@pytest.mark.parametrize("name", ["<b>x</b>", "\x1b\n", "x" * 100_000, "", "\u202etfel"])
def test_odd_tags_do_no_harm(user: SidebarDriver, store: SqliteStore, name: str) -> None:
    store.add(
        new_plant({"id": 500, "name": "Odd", "tag": name}), store.tokens.create("x").result(SECONDS).row.source
    ).result(SECONDS)
    user.until(lambda: user.entries()["All plants"] == "5")
    odd = next(text for text, number in user.entries().items() if number == "1" and text not in {"hall", "No tag", "x"})
    user.click(odd)
    user.expect_names("Odd")
    user.view.grab()
    user.window.grab()


def test_tab_goes_from_the_form_to_the_sidebar_and_then_to_the_search(user: SidebarDriver) -> None:
    user.click("kitchen")
    user.expect_names("Aloe", "Cactus")
    user.button("Add").setFocus()
    stops = []
    for _ in range(5):
        user.press(Qt.Key.Key_Tab)
        stops.append(user.focused.accessibleName())
    filters = ["Tags and other filters", "Search by name, tag or ID", "Remove the filter kitchen", "Save this search"]
    assert stops == [*filters, "Plants"]


def test_the_menu_says_whether_a_filter_is_added_or_removed(user: SidebarDriver) -> None:
    user.go_to("kitchen")
    user.choose_in_menu("Add to the filters")
    user.until(lambda: user.chips() == ["kitchen"])
    user.go_to("kitchen")
    user.choose_in_menu("Remove from the filters")
    user.until(lambda: user.chips() == [])
