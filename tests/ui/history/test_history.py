"""The history window, driven by keys and clicks."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import DeleteAll, Edit, Insert, SetTag, edited
from plantdesk.domain.models import NewPlant
from plantdesk.domain.records import COMMAND, FORM, PlantRow, Source
from plantdesk.domain.selections import Selection
from plantdesk.store.sqlite.reader import SqliteReader
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.history.change_list import ENTRY_ROLE, ChangeList, HistoryColumn, detail_text
from plantdesk.ui.history.feature import HistoryDialog, HistoryFeature
from plantdesk.ui.undo_stack import AddedPlant
from plantdesk.ui.window.commands import EditCommands
from tests.support.window_driver import WindowDriver
from tests.ui.conftest import Adder, unreachable


class HistoryDriver(WindowDriver):
    """A window whose store has the plants Aloe, Basil and Cactus."""

    def __init__(self, qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> None:
        super().__init__(qtbot, context.page.window())
        self.context = context
        self.store = store
        self.features = [HistoryFeature(context), EditCommands(context)]
        for feature in self.features:
            feature.set_store(OpenStore(store, queries))

    @property
    def dialog(self) -> HistoryDialog:
        return self.the(HistoryDialog)

    @property
    def changes(self) -> ChangeList:
        return self.the(ChangeList)

    def change(self, *edits: Edit, source: Source = COMMAND) -> None:
        self.store.apply(edits, source).result()

    def plants(self) -> dict[int, PlantRow]:
        with closing(self.store.reader()) as reader:
            return reader.rows([1, 2, 3])

    def open(self) -> None:
        self.choose("Edit", "History…")
        self.until(self.dialog.isVisible)
        self.until(lambda: "…" not in self.dialog_texts())

    def dialog_texts(self) -> list[str]:
        return WindowDriver(self.qtbot, self.dialog).texts()

    def counts(self, text: str) -> bool:
        """Whether the number of the changes is shown so."""
        return any(each.startswith(text) for each in self.dialog_texts())

    def rows(self) -> list[str]:
        model = self.changes.model()
        heading_or_title = [[model.index(row, column).data() for column in (1, 0)] for row in range(model.rowCount())]
        return [next(filter(None, each)) for each in heading_or_title]

    def link(self, row: int) -> QRect:
        """Where the action of a row is."""
        return self.changes.visualRect(self.changes.model().index(row, HistoryColumn.ACTION))

    def expect_rows(self, *rows: str) -> None:
        self.until(lambda: self.rows() == list(rows))

    def expect_row_count(self, count: int) -> None:
        self.until(lambda: len(self.rows()) == count)

    def enter(self, row: int, key: Qt.Key = Qt.Key.Key_Return) -> None:
        """Press a key on a row."""
        self.changes.setFocus()
        self.changes.setCurrentIndex(self.changes.model().index(row, 0))
        self.qtbot.keyClick(self.changes, key)


@pytest.fixture
def desk(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[HistoryDriver]:
    add("Aloe", "Basil", "Cactus")
    desk = HistoryDriver(qtbot, context, store, queries)
    yield desk
    for feature in desk.features:
        feature.release_store()


def test_changes_are_listed_by_day_and_followed(desk: HistoryDriver) -> None:
    desk.open()
    assert (
        "No changes yet. Edits, deletions, imports and restores are listed here, each with its undo."
        in desk.dialog_texts()
    )
    desk.change(SetTag(Selection(), "office"))
    desk.expect_rows("Today", "Set the tag “office” for 3 plants")
    desk.change(DeleteAll(Selection(ids=[1])), source=FORM)
    desk.expect_rows("Today", "Delete “Aloe”", "Set the tag “office” for 3 plants")
    desk.until(lambda: any(text.startswith("2 changes since") for text in desk.dialog_texts()))


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_a_key_undoes_a_change_and_redoes_it(desk: HistoryDriver, key: Qt.Key) -> None:
    desk.change(SetTag(Selection(ids=[2]), "office"))
    desk.change(DeleteAll(Selection(ids=[1])))
    desk.open()
    desk.expect_rows("Today", "Delete “Aloe”", "Set the tag “office” for “Basil”")
    desk.enter(2, key)
    desk.expect_rows("Today", "Delete “Aloe”", "Undone: Set the tag “office” for “Basil”")
    assert desk.plants()[2].tag is None
    desk.enter(2, key)
    desk.expect_rows("Today", "Delete “Aloe”", "Set the tag “office” for “Basil”")
    desk.enter(2, key)
    desk.expect_rows("Today", "Delete “Aloe”", "Undone: Set the tag “office” for “Basil”")
    desk.until(lambda: any(text.startswith("2 changes since") for text in desk.dialog_texts()))


def test_a_double_click_on_the_link_undoes_one_change_and_a_click_beside_it_none(desk: HistoryDriver) -> None:
    desk.change(DeleteAll(Selection(ids=[1])))
    desk.open()
    desk.expect_rows("Today", "Delete “Aloe”")
    viewport, place = desk.changes.viewport(), desk.link(1).center()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(place.x() // 2, place.y()))
    desk.change(SetTag(Selection(ids=[2]), "office"))  # after an undo, if there was one
    desk.expect_rows("Today", "Set the tag “office” for “Basil”", "Delete “Aloe”")
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    desk.expect_rows("Today", "Undone: Set the tag “office” for “Basil”", "Delete “Aloe”")
    desk.press_again(viewport, place)
    desk.change(SetTag(Selection(ids=[2]), "hall"))
    desk.expect_rows(
        "Today", "Set the tag “hall” for “Basil”", "Undone: Set the tag “office” for “Basil”", "Delete “Aloe”"
    )


def test_an_undo_that_is_taken_back_here_can_be_undone_again(desk: HistoryDriver) -> None:
    desk.change(DeleteAll(Selection(ids=[1])))
    desk.open()
    desk.expect_rows("Today", "Delete “Aloe”")
    desk.enter(1)
    desk.expect_rows("Today", "Undone: Delete “Aloe”")
    desk.until(lambda: desk.toast.text == "Undone: Delete “Aloe”.")
    desk.context.undo_stack.redo()
    desk.expect_rows("Today", "Delete “Aloe”")
    assert 1 not in desk.plants()
    desk.enter(1)
    desk.expect_rows("Today", "Undone: Delete “Aloe”")
    desk.until(lambda: desk.toast.text == "Undone: Delete “Aloe”.")
    desk.enter(1)
    desk.until(lambda: desk.toast.text == "Redone: Delete “Aloe”.")
    assert desk.context.undo_stack.next_redo is None
    WindowDriver(desk.qtbot, desk.toast).button("Undo").click()
    desk.until(lambda: 1 in desk.plants())


def test_the_undo_of_an_addition_is_called_so(desk: HistoryDriver) -> None:
    desk.context.undo_stack.push(AddedPlant(desk.plants()[1]))
    desk.context.undo_stack.undo()
    desk.open()
    desk.expect_rows("Today", "Took back “Aloe”")
    desk.enter(1)
    desk.expect_rows("Today", "Added “Aloe” again")
    desk.until(lambda: desk.toast.text == "Added “Aloe” again.")
    assert 1 in desk.plants()
    desk.enter(1)
    desk.expect_rows("Today", "Took back “Aloe”")
    desk.until(lambda: desk.toast.text == "Took back “Aloe”.")


def test_several_plants_that_were_added_together_are_taken_back(desk: HistoryDriver) -> None:
    desk.change(*(Insert(NewPlant(id=number, name="Salvia")) for number in range(10, 30)))
    desk.open()
    desk.expect_rows("Today", "Add 20 plants")
    desk.enter(1)
    desk.expect_rows("Today", "Took back 20 plants")
    desk.until(lambda: desk.toast.text == "Took back 20 plants.")
    desk.enter(1)
    desk.expect_rows("Today", "Add 20 plants")
    desk.until(lambda: desk.toast.text == "Added 20 plants again.")


def test_it_is_searched_by_text_and_source(desk: HistoryDriver) -> None:
    desk.change(edited(desk.plants()[1], name="100%"), source=FORM)
    desk.change(DeleteAll(Selection(ids=[2])))
    desk.open()
    search, box = desk.dialog.findChildren(QLineEdit)[0], desk.dialog.findChildren(QComboBox)[0]
    desk.until(lambda: box.count() == 3)
    QTest.keyClicks(search, "0%")
    desk.expect_rows("Today", "Rename “Aloe” to “100%”")
    search.clear()
    box.setCurrentIndex(box.findText("Command line"))
    desk.expect_rows("Today", "Delete “Basil”")
    QTest.keyClicks(search, "rename")
    desk.expect_rows()
    desk.until(lambda: "No changes match." in desk.dialog_texts())


def test_shift_f10_opens_the_menu_of_a_change(desk: HistoryDriver) -> None:
    desk.change(SetTag(Selection(ids=[1]), "office"))
    desk.open()
    desk.expect_rows("Today", "Set the tag “office” for “Aloe”")
    desk.changes.setFocus()
    QTest.keyClick(desk.changes, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = desk.popup()
    assert desk.changes.rect().contains(desk.changes.mapFromGlobal(menu.pos()))
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    desk.until(lambda: "Undone: Set the tag “office” for “Aloe”" in desk.rows())


def test_many_changes_come_in_pages_and_those_that_match_are_counted(desk: HistoryDriver) -> None:
    for number in range(450):
        desk.change(SetTag(Selection(ids=[1]), f"{'bed' if number % 2 else 'shed'} {number}"))
    desk.open()
    for rows in (201, 401, 451):
        desk.expect_row_count(rows)
        desk.changes.scrollToBottom()
    assert desk.rows()[-1] == "Set the tag “shed 0” for “Aloe”"
    assert desk.rows().count("Today") == 1
    search = WindowDriver(desk.qtbot, desk.dialog).field("Search the history")
    desk.type(search, "bed 449")
    desk.until(lambda: desk.counts("1 of 450 changes since"))
    desk.type(search, "bed")
    desk.until(lambda: desk.counts("Over 200 of 450 changes since"))
    desk.changes.scrollToBottom()
    desk.until(lambda: desk.counts("225 of 450 changes since"))


def test_a_page_that_cannot_be_read_is_asked_for_again(desk: HistoryDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(250):
        desk.change(SetTag(Selection(ids=[1]), f"bed {number}"))
    desk.open()
    desk.expect_row_count(201)
    model = desk.changes.model()
    with monkeypatch.context() as fault:
        fault.setattr(SqliteReader, "history_entries", unreachable)
        desk.changes.scrollToBottom()
        desk.until(lambda: model.canFetchMore(QModelIndex()))
    desk.changes.scrollToTop()
    desk.changes.scrollToBottom()
    desk.expect_row_count(251)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ((SetTag(Selection(ids=[1]), "office"), SetTag(Selection(ids=[1]), "kitchen")), "changed or deleted since"),
        ((DeleteAll(Selection(ids=[3])), Insert(NewPlant(id=3, name="Another"))), "in use: 3 → 4."),
    ],
)
def test_what_an_undo_leaves_or_brings_back_under_another_id_is_said(
    desk: HistoryDriver, edits: tuple[Edit, ...], said: str
) -> None:
    for edit in edits:
        desk.change(edit)
    desk.open()
    desk.expect_row_count(3)
    desk.enter(2)
    desk.until(lambda: any(said in text for text in desk.dialog_texts()))


def test_ctrl_h_opens_one_window_and_closing_the_store_closes_it(desk: HistoryDriver) -> None:
    desk.open()
    first = desk.dialog
    desk.action("History…").trigger()
    assert desk.widget.findChildren(HistoryDialog) == [first]
    for feature in desk.features:
        feature.release_store()
    assert not first.isVisible()
    assert not desk.action("History…").isEnabled()


def test_a_line_says_what_its_title_does_not(desk: HistoryDriver) -> None:
    desk.change(SetTag(Selection(ids=[2]), "office"), source=FORM)
    desk.change(SetTag(Selection(ids=[2]), None), source=FORM)
    desk.change(DeleteAll(Selection(ids=[3])), source=FORM)
    desk.open()
    desk.expect_row_count(4)
    entries = [desk.changes.model().index(row, 0).data(ENTRY_ROLE) for row in (1, 2, 3)]
    assert [detail_text(entry) for entry in entries] == ["ID 3", "was office", "had no tag"]
    spoken = desk.changes.model().index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.endswith("Delete “Cactus”, ID 3. Press Enter: Undo."), "a screen reader gets the whole row"
