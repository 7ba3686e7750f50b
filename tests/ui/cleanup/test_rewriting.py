"""Find and replace, as it is used: by keys in the dialog, with a real store."""

from contextlib import closing

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLineEdit
from pytestqt.qtbot import QtBot

from plantdesk.domain.edits import edited
from plantdesk.domain.records import COMMAND
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.cleanup.changed_texts import MAX_LISTED, ChangedTextTable
from plantdesk.ui.cleanup.dialog import CleanUpDialog
from plantdesk.ui.cleanup.feature import CleanUpFeature
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.widgets.fields import ComboBox
from tests.support.waiting import MILLISECONDS
from tests.support.window_driver import Table, WindowDriver
from tests.ui.conftest import Adder


class Replaced:
    """The dialog over the plants of the store."""

    def __init__(self, qtbot: QtBot, context: WindowContext, opened: OpenStore) -> None:
        self.store = opened.store
        self.table = Table()
        self.feature = CleanUpFeature(context, self.table)
        self.feature.set_store(opened)
        context.undo_stack.set_store(opened.store)
        self.window = WindowDriver(qtbot, context.page)
        self.qtbot = qtbot

    def open(self) -> None:
        with closing(self.store.reader()) as reader:
            self.table.shown_count = reader.count()
        self.window.choose("Edit", "Find and replace…")
        self.qtbot.waitUntil(self.dialog.isActiveWindow)

    @property
    def dialog(self) -> CleanUpDialog:
        return self.window.the(CleanUpDialog)

    @property
    def user(self) -> WindowDriver:
        return WindowDriver(self.qtbot, self.dialog)

    @property
    def view(self) -> ChangedTextTable:
        return self.user.the(ChangedTextTable)

    def rows(self) -> list[str]:
        """Return the rows as a screen reader speaks them."""
        model = self.view.model()
        role = Qt.ItemDataRole.AccessibleTextRole
        return [model.index(row, 0).data(role) for row in range(model.rowCount())]

    def expect_texts(self, *texts: str) -> None:
        self.qtbot.waitUntil(lambda: {*texts} <= {*self.user.texts(), *self.user.buttons()}, timeout=MILLISECONDS)

    def names(self) -> list[str]:
        with closing(self.store.reader()) as reader:
            return sorted(row.name for row in reader.rows(range(1, 2000)).values())

    def notes(self) -> dict[int, str | None]:
        with closing(self.store.reader()) as reader:
            return {row.id: row.note for row in reader.rows(range(1, 20)).values()}

    def choose(self, action: str) -> None:
        box = self.user.the(ComboBox, "Do")
        box.setCurrentIndex(box.findText(action))


@pytest.fixture
def replaced(qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder) -> Replaced:
    add("Salvia nemerosa", "Anemone nemerosa", "Aloe")
    with closing(store.reader()) as reader:
        found = reader.rows([2, 3])
    notes = {2: "not the true nemerosa\nof the trade", 3: "Nemerosa?"}
    store.apply([edited(found[plant_id], note=note) for plant_id, note in notes.items()], COMMAND).result()
    return Replaced(qtbot, context, OpenStore(store, queries))


def test_names_and_notes_are_replaced_by_typing_alone(replaced: Replaced) -> None:
    replaced.open()
    user = replaced.user
    user.hit(*"nemerosa", Qt.Key.Key_Tab, *"nemorosa")
    replaced.expect_texts("4 places in 3 of 3 plants", "Replace in 3 plants")
    assert replaced.rows() == [
        "3, Note: Nemerosa? becomes nemorosa?",
        "2, Name: Anemone nemerosa becomes Anemone nemorosa",
        "2, Note: not the true nemerosa↵of the trade becomes not the true nemorosa↵of the trade",
        "1, Name: Salvia nemerosa becomes Salvia nemorosa",
    ]
    user.press(Qt.Key.Key_Return)
    replaced.window.until(lambda: "Replaced in 3 plants." in replaced.window.toast.text)
    assert replaced.names() == ["Aloe", "Anemone nemorosa", "Salvia nemorosa"]
    assert replaced.notes()[3] == "nemorosa?"
    QTest.mouseClick(replaced.window.button("Undo"), Qt.MouseButton.LeftButton)
    replaced.window.until(lambda: replaced.names() == ["Aloe", "Anemone nemerosa", "Salvia nemerosa"])


def test_a_text_that_is_not_ticked_stays(replaced: Replaced) -> None:
    replaced.open()
    replaced.user.hit(*"nemerosa", Qt.Key.Key_Tab, "N")
    replaced.expect_texts("Replace in 3 plants")
    box = replaced.user.the(QCheckBox, "Change all")
    box.click()
    replaced.expect_texts("0 places in 0 of 3 plants, 4 left out")
    assert not replaced.user.button("Replace").isEnabled()
    replaced.view.setFocus()
    replaced.user.hit(Qt.Key.Key_Down, Qt.Key.Key_Space)
    replaced.expect_texts("Replace in 1 plant")
    box.click()
    replaced.expect_texts("Replace in 3 plants")
    replaced.view.setFocus()
    replaced.user.hit(Qt.Key.Key_Down, Qt.Key.Key_Space)
    replaced.expect_texts("3 places in 3 of 3 plants, 1 left out")
    assert replaced.rows()[2].endswith("of the trade, stays")
    first = replaced.view.visualRect(replaced.view.model().index(0, 0))
    QTest.mouseClick(
        replaced.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(first.left() + 20, first.center().y())
    )
    replaced.expect_texts("2 places in 2 of 3 plants, 2 left out", "Replace in 2 plants")
    assert box.checkState() is Qt.CheckState.PartiallyChecked
    replaced.user.type(replaced.user.field("Replace with"), "X")
    replaced.expect_texts("2 places in 2 of 3 plants, 2 left out")
    assert replaced.rows()[1] == "2, Name: Anemone nemerosa becomes Anemone X"
    QTest.mouseClick(replaced.user.button("Replace in 2 plants"), Qt.MouseButton.LeftButton)
    replaced.window.until(lambda: "Replaced in 2 plants." in replaced.window.toast.text)
    assert replaced.names() == ["Aloe", "Anemone X", "Salvia X"]
    assert replaced.notes() == {1: None, 2: "not the true nemerosa\nof the trade", 3: "Nemerosa?"}


def test_case_words_pattern_and_fields(replaced: Replaced) -> None:
    replaced.open()
    user = replaced.user
    user.hit(*"Nemerosa")
    replaced.expect_texts("Replace in 3 plants")
    user.button("Same case").click()
    replaced.expect_texts("Replace in 1 plant")
    user.button("Notes").click()
    replaced.expect_texts("Nothing contains “Nemerosa”.")
    assert not user.button("Replace").isEnabled()
    user.type(user.field("Find"), "(?i)nem(e")
    user.button("Pattern").click()
    replaced.expect_texts("The pattern is not valid. RE2 reports: missing ): (?i)nem(e")
    assert user.field("Find").property("invalid") == "true"
    user.type(user.field("Find"), "(\\w+) (nemerosa)")
    user.type(user.field("Replace with"), "\\2 \\1")
    replaced.expect_texts("Replace in 2 plants")
    assert replaced.rows()[1] == "1, Name: Salvia nemerosa becomes nemerosa Salvia"
    user.type(user.field("Find"), "Salv")
    user.type(user.field("Replace with"), "")
    user.button("Whole words").click()
    replaced.expect_texts("Nothing contains “Salv”.")
    user.button("Names").click()
    replaced.expect_texts("Choose names or notes.")


def test_a_name_that_would_be_empty_stays(replaced: Replaced) -> None:
    replaced.open()
    replaced.user.hit(*"Aloe")
    replaced.expect_texts("0 places in 0 of 3 plants, 1 left out")
    assert replaced.rows() == ["3, Name: Aloe, would have no name"]
    replaced.view.setFocus()
    replaced.user.hit(Qt.Key.Key_Space)
    assert not replaced.user.button("Replace").isEnabled()


@pytest.mark.parametrize(
    ("action", "field", "names", "notes"),
    [
        ("Add before names", "Text before", ["xAloe", "xAnemone nemerosa", "xSalvia nemerosa"], "Nemerosa?"),
        ("Add after names", "Text after", ["Aloex", "Anemone nemerosax", "Salvia nemerosax"], "Nemerosa?"),
        ("Add a line to notes", "Line", ["Aloe", "Anemone nemerosa", "Salvia nemerosa"], "Nemerosa?\nx"),
    ],
)
def test_texts_are_added(replaced: Replaced, action: str, field: str, names: list[str], notes: str) -> None:
    replaced.open()
    replaced.choose(action)
    replaced.expect_texts("Type what is to be added.")
    replaced.user.type(replaced.user.field(field), "x")
    replaced.expect_texts("Change 3 plants")
    replaced.user.press(Qt.Key.Key_Return)
    replaced.window.until(lambda: "Changed 3 plants." in replaced.window.toast.text)
    assert (replaced.names(), replaced.notes()[3]) == (names, notes)


def test_blanks_and_quotes_are_tidied(replaced: Replaced, add: Adder) -> None:
    add(" Rosa  'Peace' ")
    replaced.open()
    replaced.choose("Tidy up")
    replaced.expect_texts("Change 1 plant")
    replaced.user.the(ComboBox, "Quotes").setCurrentIndex(1)
    replaced.expect_texts("5 places in 1 of 4 plants")
    replaced.user.button("Change 1 plant").click()
    replaced.window.until(lambda: "Rosa ‘Peace’" in replaced.names())


def test_what_others_have_changed_meanwhile_stays_and_is_said(
    replaced: Replaced, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plantdesk.ui.cleanup.dialog._REFRESH_DELAY_MS", MILLISECONDS)
    shown: list[object] = []
    replaced.feature.plants_requested.connect(shown.append)
    replaced.open()
    replaced.user.hit(*"nemerosa", Qt.Key.Key_Tab, "N")
    replaced.expect_texts("Replace in 3 plants")
    with closing(store.reader()) as reader:
        row = reader.rows([1])[1]
    store.apply([edited(row, name="Salvia nemerosa alba")], COMMAND).result()
    replaced.user.press(Qt.Key.Key_Return)
    replaced.window.until(
        lambda: "Replaced in 2 plants. 1 had changed meanwhile and stays as it is." in replaced.window.toast.text
    )
    assert replaced.names() == ["Aloe", "Anemone N", "Salvia nemerosa alba"]
    replaced.window.button("Show").click()
    assert shown == [(1,)]


def test_the_command_offers_what_is_selected_now_where_the_dialog_is_open(replaced: Replaced) -> None:
    replaced.open()
    replaced.user.hit(*"nemerosa")
    replaced.expect_texts("4 places in 3 of 3 plants")
    replaced.table.selected = [1, 3]
    replaced.open()
    replaced.expect_texts("2 places in 2 of 2 plants")
    box = replaced.user.the(ComboBox, "Where")
    assert box.currentText() == "In 2 selected plants"
    assert [box.itemText(number) for number in range(box.count())] == ["In 2 selected plants", "In all 3 plants"]
    box.setCurrentIndex(1)
    replaced.expect_texts("4 places in 3 of 3 plants")


@pytest.mark.parametrize(("search", "start"), [("aloe", "aloe"), ("aloe tag:x", ""), ("note:x", ""), ("", "")])
def test_it_begins_with_the_word_of_the_search(replaced: Replaced, search: str, start: str) -> None:
    replaced.table.search_text = search
    replaced.open()
    assert replaced.user.field("Find").text() == start


def test_it_begins_with_the_text_that_is_selected(replaced: Replaced, context: WindowContext) -> None:
    field = QLineEdit("Salvia nemerosa", context.page)
    field.show()
    field.setFocus()
    field.setSelection(7, 8)
    replaced.feature.open_dialog()
    assert replaced.user.field("Find").text() == "nemerosa"


def test_more_places_than_are_listed_are_counted_and_changed(replaced: Replaced, add: Adder) -> None:
    add(*(f"Rosa {number}" for number in range(MAX_LISTED + 100)))
    replaced.open()
    replaced.user.hit(*"Rosa ", Qt.Key.Key_Tab, *"Flos ")
    replaced.expect_texts("1,100 places in 1,100 of 1,103 plants; the first 1,000 are listed")
    replaced.view.setFocus()
    replaced.user.hit(Qt.Key.Key_Space)
    replaced.expect_texts("Replace in 1,099 plants")
    replaced.user.button("Replace in 1,099 plants").click()
    replaced.window.until(lambda: "Replaced in 1,099 plants." in replaced.window.toast.text)
    assert [name for name in replaced.names() if name.startswith("Rosa")] == [f"Rosa {MAX_LISTED + 99}"]


def test_rows_are_check_boxes_for_screen_readers_and_f2_shows_the_plant(replaced: Replaced) -> None:
    shown: list[object] = []
    replaced.feature.plants_requested.connect(shown.append)
    replaced.open()
    replaced.user.hit(*"Salvia")
    replaced.expect_texts("Replace in 1 plant")
    replaced.view.setFocus()
    interface = QAccessible.queryAccessibleInterface(replaced.view)
    assert interface.text(QAccessible.Text.Name) == "What will change"
    row = interface.child(5)  # behind the headings
    assert row.text(QAccessible.Text.Name) == "1, Name: Salvia nemerosa becomes  nemerosa"
    assert row.state().checkable
    assert row.state().checked
    replaced.user.hit(Qt.Key.Key_F2)
    assert shown == [(1,)]


def test_a_group_that_is_missing_is_a_fault_of_the_replacement(replaced: Replaced) -> None:
    replaced.open()
    user = replaced.user
    user.hit(*"(nemerosa)", Qt.Key.Key_Tab, *"\\2")
    user.button("Pattern").click()
    replaced.expect_texts("The pattern has no group \\2, which the replacement names.")
    faults = [user.field(name).property("invalid") for name in ("Find", "Replace with")]
    assert faults == ["false", "true"]
    user.press(Qt.Key.Key_Backspace)
    user.hit("1")
    replaced.qtbot.waitUntil(lambda: user.field("Replace with").property("invalid") == "false")


def test_what_is_done_has_texts_of_its_own(replaced: Replaced) -> None:
    replaced.open()
    replaced.user.hit(*"nemerosa", Qt.Key.Key_Tab, *"nemorosa")
    replaced.choose("Add a line to notes")
    assert replaced.user.field("Line").text() == ""
    replaced.user.type(replaced.user.field("Line"), "watered")
    replaced.choose("Replace")
    assert replaced.user.field("Replace with").text() == "nemorosa"
    replaced.choose("Add a line to notes")
    assert replaced.user.field("Line").text() == "watered"


def test_where_plants_are_not_counted_yet_no_number_is_shown(replaced: Replaced) -> None:
    replaced.window.choose("Edit", "Find and replace…")
    assert replaced.user.the(ComboBox, "Where").currentText() == "In all plants"
