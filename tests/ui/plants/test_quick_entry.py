"""The small window for one plant, beside the main one."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView
from pytestqt.qtbot import QtBot

from plantdesk.domain.errors import StoreUnreachableError
from plantdesk.domain.records import FORM
from plantdesk.domain.validation import new_plant
from plantdesk.platform.window_requests import WindowRequest
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plants.form_fields import NameField
from plantdesk.ui.plants.quick_entry import QuickEntry
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.workspace import Workspace
from tests.support.waiting import MILLISECONDS, SECONDS
from tests.support.window_driver import WindowDriver, rows_of

CONTROL = Qt.KeyboardModifier.ControlModifier


class QuickDriver(WindowDriver):
    """The small window, over a store with two plants; `main` is the other one."""

    widget: QuickEntry

    def __init__(self, qtbot: QtBot, workspace: Workspace) -> None:
        self.workspace = workspace
        self.main = WindowDriver(qtbot, workspace.window())
        workspace.open_quick_entry("")
        window = next(each for each in QApplication.topLevelWidgets() if isinstance(each, QuickEntry))
        super().__init__(qtbot, window)
        self.until_open()

    def until_open(self) -> None:
        self.until(lambda: self.widget.isVisible() and self.name.hasFocus())

    def open_again(self) -> None:
        self.workspace.open_quick_entry("")
        self.until_open()

    def until_closed(self) -> None:
        self.until(lambda: not self.widget.isVisible())

    def enter(self, text: str, field: QLineEdit | None = None) -> None:
        QTest.keyClicks(field or self.name, text)
        QTest.keyClick(field or self.name, Qt.Key.Key_Return)

    def expect_first_names(self, *names: str) -> None:
        """Wait until the list of the main window begins with these."""
        table = self.main.the(PlantTableView)
        self.until(lambda: [row[1] for row in rows_of(table)][: len(names)] == list(names))


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> QuickDriver:
    for plant_id, (name, tag) in enumerate((("Monstera deliciosa", "office"), ("Aloe", None)), start=1):
        store.add(new_plant({"id": plant_id, "name": name} | ({"tag": tag} if tag else {})), FORM).result(SECONDS)
    bare.set_up()
    bare.set_store(store)
    desk = QuickDriver(qtbot, bare)
    desk.expect_first_names("Aloe", "Monstera deliciosa")
    return desk


def test_enter_adds_and_closes_and_the_main_window_can_undo_it(desk: QuickDriver) -> None:
    desk.until(lambda: desk.id.placeholderText() == "3")
    desk.enter("Fern")
    desk.until_closed()
    desk.expect_first_names("Fern", "Aloe")
    desk.open_again()
    assert (desk.name.text(), desk.id.text(), desk.tag.text()) == ("", "", "")
    QTest.keyClick(desk.name, Qt.Key.Key_Escape)
    desk.main.window.activateWindow()
    desk.until(desk.main.window.isActiveWindow)
    assert "Undo Add “Fern”" in desk.main.enabled("Edit")


@pytest.mark.parametrize("in_tag", [False, True])
def test_ctrl_enter_adds_and_stays_for_plants_that_are_typed_without_a_pause(
    desk: QuickDriver, *, in_tag: bool
) -> None:
    for number in range(5):
        QTest.keyClicks(desk.name, f"Rosa {number}")
        if in_tag:
            desk.tag.setFocus()
            QTest.keyClicks(desk.tag, "bed")
        QTest.keyClick(desk.tag if in_tag else desk.name, Qt.Key.Key_Return, CONTROL)
        assert (desk.widget.isVisible(), desk.name.text(), desk.name.hasFocus()) == (True, "", True)
    desk.enter("20 x Salvia")
    desk.until_closed()
    desk.expect_first_names(*["Salvia"] * 20, *(f"Rosa {number}" for number in (4, 3, 2, 1, 0)), "Aloe")


def test_names_are_offered_below_the_window_with_their_tag(desk: QuickDriver) -> None:
    QTest.keyClicks(desk.name, "Mon")
    desk.until(lambda: (desk.name.text(), desk.tag.text()) == ("Monstera deliciosa", "office"))
    offers = desk.the(QListView, "Known names")
    assert offers.isVisible()
    assert offers.geometry().top() > desk.widget.frameGeometry().bottom()
    assert offers.width() >= desk.name.width()
    desk.until(lambda: desk.the(NameField).is_fill_seen)
    QTest.keyClick(desk.name, Qt.Key.Key_Return)
    desk.expect_first_names("Monstera deliciosa", "Aloe")
    assert not offers.isVisible()


def test_escape_closes_the_offers_then_the_window_and_keeps_what_is_typed(desk: QuickDriver) -> None:
    QTest.keyClicks(desk.name, "Mon")
    offers = desk.the(QListView, "Known names")
    desk.until(offers.isVisible)
    QTest.keyClick(desk.name, Qt.Key.Key_Escape)
    assert not offers.isVisible()
    assert desk.widget.isVisible()
    QTest.keyClick(desk.name, Qt.Key.Key_Escape)
    assert not desk.widget.isVisible()
    desk.open_again()
    QTest.keyClicks(desk.name, "a")
    assert desk.name.text() == "Mona", "the first key deletes no draft"


def test_what_is_typed_is_remembered_until_it_is_sent_to_the_store(
    desk: QuickDriver, store: SqliteStore, tmp_path: Path
) -> None:
    def remembered() -> object:
        return Preferences(tmp_path / "settings.json").of_store(location_of(store.path).key).get("quick")

    when_added: list[object] = []
    QTest.keyClicks(desk.name, "Fern")
    desk.until(lambda: remembered() == ["", "Fern", ""])
    unsubscribe = store.subscribe(lambda _changes: when_added.append(remembered()))
    QTest.keyClick(desk.name, Qt.Key.Key_Return, CONTROL)
    desk.expect_first_names("Fern", "Aloe")
    desk.until(lambda: when_added == [None])  # the store tells the window before it tells this subscriber
    unsubscribe()


def test_tab_goes_through_all_of_it_in_the_order_of_reading(desk: QuickDriver) -> None:
    order = []
    desk.id.setFocus()
    for _ in range(5):
        order.append(desk.focused)
        desk.press(Qt.Key.Key_Tab)
    assert order[:3] == [desk.id, desk.name, desk.tag]
    assert {*order[3:]} == {desk.button("Pin"), desk.button("Add")}
    assert desk.focused is desk.id


def test_an_id_that_is_taken_is_corrected_in_the_window(desk: QuickDriver) -> None:
    QTest.keyClicks(desk.id, "2")
    desk.enter("Fern")
    desk.until(lambda: desk.message.text.startswith("ID 2 already belongs to “Aloe”"))
    assert desk.widget.isVisible()
    assert (desk.id.text(), desk.name.text()) == ("2", "Fern")
    assert desk.id.hasFocus()
    desk.enter("22", desk.id)
    desk.until_closed()
    desk.expect_first_names("Fern", "Aloe")
    assert not desk.main.unsaved()


def test_a_plant_that_is_refused_while_the_next_one_is_typed_is_listed_in_the_main_window(desk: QuickDriver) -> None:
    QTest.keyClicks(desk.id, "2")
    QTest.keyClicks(desk.name, "Fern")
    QTest.keyClick(desk.name, Qt.Key.Key_Return, CONTROL)
    QTest.keyClicks(desk.name, "Rosa")
    desk.until(lambda: desk.message.text.endswith("PlantDesk lists the plant in its window."))
    assert desk.name.text() == "Rosa"
    desk.until(lambda: "Fern" in desk.main.unsaved())


def test_wrong_entries_are_reported_and_nothing_is_closed(desk: QuickDriver) -> None:
    QTest.keyClick(desk.name, Qt.Key.Key_Return)
    assert desk.message.text == "The name is missing."
    QTest.keyClicks(desk.id, "x")
    desk.enter("Fern")
    assert desk.message.isVisible()
    assert desk.widget.isVisible()
    desk.enter("1001 x Fern")
    assert desk.widget.isVisible()


def test_without_a_store_the_plant_waits_and_the_window_says_so(qtbot: QtBot, bare: Workspace) -> None:
    bare.set_up()
    bare.show_no_store(StoreUnreachableError())
    desk = QuickDriver(qtbot, bare)
    assert desk.message.text == "The plant waits until the store can be reached."
    with qtbot.waitSignal(bare.quick_entry_closed, timeout=MILLISECONDS):
        desk.enter("Fern")
    desk.until_closed()
    desk.until(lambda: "Fern" in desk.main.unsaved())


def test_the_label_of_a_plant_is_shown_in_the_main_window(desk: QuickDriver) -> None:
    with desk.qtbot.waitSignal(desk.workspace.window_requested, timeout=MILLISECONDS) as requested:
        desk.enter("plantdesk:2")
    assert requested.args == [WindowRequest(address="plantdesk:2")]
    desk.until_closed()
