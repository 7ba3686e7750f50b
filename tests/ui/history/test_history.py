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
        return [next(filter(None, part)) for part in heading_or_title]

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
def user(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[HistoryDriver]:
    add("Aloe", "Basil", "Cactus")
    user = HistoryDriver(qtbot, context, store, queries)
    yield user
    for feature in user.features:
        feature.release_store()


def test_changes_are_listed_by_day_and_followed(user: HistoryDriver) -> None:
    user.open()
    assert (
        "No changes yet. Edits, deletions, imports and restores are listed here, each with its undo."
        in user.dialog_texts()
    )
    user.change(SetTag(Selection(), "office"))
    user.expect_rows("Today", "Set the tag “office” for 3 plants")
    user.change(DeleteAll(Selection(ids=[1])), source=FORM)
    user.expect_rows("Today", "Delete “Aloe”", "Set the tag “office” for 3 plants")
    user.until(lambda: any(text.startswith("2 changes since") for text in user.dialog_texts()))


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_a_key_undoes_a_change_and_redoes_it(user: HistoryDriver, key: Qt.Key) -> None:
    user.change(SetTag(Selection(ids=[2]), "office"))
    user.change(DeleteAll(Selection(ids=[1])))
    user.open()
    user.expect_rows("Today", "Delete “Aloe”", "Set the tag “office” for “Basil”")
    user.enter(2, key)
    user.expect_rows("Today", "Delete “Aloe”", "Undone: Set the tag “office” for “Basil”")
    assert user.plants()[2].tag is None
    user.enter(2, key)
    user.expect_rows("Today", "Delete “Aloe”", "Set the tag “office” for “Basil”")
    user.enter(2, key)
    user.expect_rows("Today", "Delete “Aloe”", "Undone: Set the tag “office” for “Basil”")
    user.until(lambda: any(text.startswith("2 changes since") for text in user.dialog_texts()))


def test_a_double_click_on_the_link_undoes_one_change_and_a_click_beside_it_none(user: HistoryDriver) -> None:
    user.change(DeleteAll(Selection(ids=[1])))
    user.open()
    user.expect_rows("Today", "Delete “Aloe”")
    viewport, place = user.changes.viewport(), user.link(1).center()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(place.x() // 2, place.y()))
    user.change(SetTag(Selection(ids=[2]), "office"))  # after an undo, if there was one
    user.expect_rows("Today", "Set the tag “office” for “Basil”", "Delete “Aloe”")
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    user.expect_rows("Today", "Undone: Set the tag “office” for “Basil”", "Delete “Aloe”")
    user.press_again(viewport, place)
    user.change(SetTag(Selection(ids=[2]), "hall"))
    user.expect_rows(
        "Today", "Set the tag “hall” for “Basil”", "Undone: Set the tag “office” for “Basil”", "Delete “Aloe”"
    )


def test_an_undo_that_is_taken_back_here_can_be_undone_again(user: HistoryDriver) -> None:
    user.change(DeleteAll(Selection(ids=[1])))
    user.open()
    user.expect_rows("Today", "Delete “Aloe”")
    user.enter(1)
    user.expect_rows("Today", "Undone: Delete “Aloe”")
    user.until(lambda: user.toast.text == "Undone: Delete “Aloe”.")
    user.context.undo_stack.redo()
    user.expect_rows("Today", "Delete “Aloe”")
    assert 1 not in user.plants()
    user.enter(1)
    user.expect_rows("Today", "Undone: Delete “Aloe”")
    user.until(lambda: user.toast.text == "Undone: Delete “Aloe”.")
    user.enter(1)
    user.until(lambda: user.toast.text == "Redone: Delete “Aloe”.")
    assert user.context.undo_stack.next_redo is None
    WindowDriver(user.qtbot, user.toast).button("Undo").click()
    user.until(lambda: 1 in user.plants())


def test_the_undo_of_an_addition_is_called_so(user: HistoryDriver) -> None:
    user.context.undo_stack.push(AddedPlant(user.plants()[1]))
    user.context.undo_stack.undo()
    user.open()
    user.expect_rows("Today", "Took back “Aloe”")
    user.enter(1)
    user.expect_rows("Today", "Added “Aloe” again")
    user.until(lambda: user.toast.text == "Added “Aloe” again.")
    assert 1 in user.plants()
    user.enter(1)
    user.expect_rows("Today", "Took back “Aloe”")
    user.until(lambda: user.toast.text == "Took back “Aloe”.")


def test_several_plants_that_were_added_together_are_taken_back(user: HistoryDriver) -> None:
    user.change(*(Insert(NewPlant(id=number, name="Salvia")) for number in range(10, 30)))
    user.open()
    user.expect_rows("Today", "Add 20 plants")
    user.enter(1)
    user.expect_rows("Today", "Took back 20 plants")
    user.until(lambda: user.toast.text == "Took back 20 plants.")
    user.enter(1)
    user.expect_rows("Today", "Add 20 plants")
    user.until(lambda: user.toast.text == "Added 20 plants again.")


def test_it_is_searched_by_text_and_source(user: HistoryDriver) -> None:
    user.change(edited(user.plants()[1], name="100%"), source=FORM)
    user.change(DeleteAll(Selection(ids=[2])))
    user.open()
    search, box = user.dialog.findChildren(QLineEdit)[0], user.dialog.findChildren(QComboBox)[0]
    user.until(lambda: box.count() == 3)
    QTest.keyClicks(search, "0%")
    user.expect_rows("Today", "Rename “Aloe” to “100%”")
    search.clear()
    box.setCurrentIndex(box.findText("Command line"))
    user.expect_rows("Today", "Delete “Basil”")
    QTest.keyClicks(search, "rename")
    user.expect_rows()
    user.until(lambda: "No changes match." in user.dialog_texts())


def test_shift_f10_opens_the_menu_of_a_change(user: HistoryDriver) -> None:
    user.change(SetTag(Selection(ids=[1]), "office"))
    user.open()
    user.expect_rows("Today", "Set the tag “office” for “Aloe”")
    user.changes.setFocus()
    QTest.keyClick(user.changes, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = user.popup()
    assert user.changes.rect().contains(user.changes.mapFromGlobal(menu.pos()))
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    user.until(lambda: "Undone: Set the tag “office” for “Aloe”" in user.rows())


def test_many_changes_come_in_pages_and_those_that_match_are_counted(user: HistoryDriver) -> None:
    for number in range(450):
        user.change(SetTag(Selection(ids=[1]), f"{'bed' if number % 2 else 'shed'} {number}"))
    user.open()
    for rows in (201, 401, 451):
        user.expect_row_count(rows)
        user.changes.scrollToBottom()
    assert user.rows()[-1] == "Set the tag “shed 0” for “Aloe”"
    assert user.rows().count("Today") == 1
    search = WindowDriver(user.qtbot, user.dialog).field("Search the history")
    user.type(search, "bed 449")
    user.until(lambda: user.counts("1 of 450 changes since"))
    user.type(search, "bed")
    user.until(lambda: user.counts("Over 200 of 450 changes since"))
    user.changes.scrollToBottom()
    user.until(lambda: user.counts("225 of 450 changes since"))


def test_a_page_that_cannot_be_read_is_asked_for_again(user: HistoryDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(250):
        user.change(SetTag(Selection(ids=[1]), f"bed {number}"))
    user.open()
    user.expect_row_count(201)
    model = user.changes.model()
    with monkeypatch.context() as fault:
        fault.setattr(SqliteReader, "history_entries", unreachable)
        user.changes.scrollToBottom()
        user.until(lambda: model.canFetchMore(QModelIndex()))
    user.changes.scrollToTop()
    user.changes.scrollToBottom()
    user.expect_row_count(251)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ((SetTag(Selection(ids=[1]), "office"), SetTag(Selection(ids=[1]), "kitchen")), "changed or deleted since"),
        ((DeleteAll(Selection(ids=[3])), Insert(NewPlant(id=3, name="Another"))), "in use: 3 → 4."),
    ],
)
def test_what_an_undo_leaves_or_brings_back_under_another_id_is_said(
    user: HistoryDriver, edits: tuple[Edit, ...], said: str
) -> None:
    for edit in edits:
        user.change(edit)
    user.open()
    user.expect_row_count(3)
    user.enter(2)
    user.until(lambda: any(said in text for text in user.dialog_texts()))


def test_ctrl_h_opens_one_window_and_closing_the_store_closes_it(user: HistoryDriver) -> None:
    user.open()
    first = user.dialog
    user.action("History…").trigger()
    assert user.widget.findChildren(HistoryDialog) == [first]
    for feature in user.features:
        feature.release_store()
    assert not first.isVisible()
    assert not user.action("History…").isEnabled()


def test_a_line_says_what_its_title_does_not(user: HistoryDriver) -> None:
    user.change(SetTag(Selection(ids=[2]), "office"), source=FORM)
    user.change(SetTag(Selection(ids=[2]), None), source=FORM)
    user.change(DeleteAll(Selection(ids=[3])), source=FORM)
    user.open()
    user.expect_row_count(4)
    entries = [user.changes.model().index(row, 0).data(ENTRY_ROLE) for row in (1, 2, 3)]
    assert [detail_text(entry) for entry in entries] == ["ID 3", "was office", "had no tag"]
    spoken = user.changes.model().index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.endswith("Delete “Cactus”, ID 3. Press Enter: Undo."), "a screen reader gets the whole row"
