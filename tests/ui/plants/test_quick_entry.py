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
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore) -> QuickDriver:
    for plant_id, (name, tag) in enumerate((("Monstera deliciosa", "office"), ("Aloe", None)), start=1):
        store.add(new_plant({"id": plant_id, "name": name} | ({"tag": tag} if tag else {})), FORM).result(SECONDS)
    bare.set_up()
    bare.set_store(store)
    user = QuickDriver(qtbot, bare)
    user.expect_first_names("Aloe", "Monstera deliciosa")
    return user


def test_enter_adds_and_closes_and_the_main_window_can_undo_it(user: QuickDriver) -> None:
    user.until(lambda: user.id.placeholderText() == "3")
    user.enter("Fern")
    user.until_closed()
    user.expect_first_names("Fern", "Aloe")
    user.open_again()
    assert (user.name.text(), user.id.text(), user.tag.text()) == ("", "", "")
    QTest.keyClick(user.name, Qt.Key.Key_Escape)
    user.main.window.activateWindow()
    user.until(user.main.window.isActiveWindow)
    assert "Undo Add “Fern”" in user.main.enabled("Edit")


@pytest.mark.parametrize("in_tag", [False, True])
def test_ctrl_enter_adds_and_stays_for_plants_that_are_typed_without_a_pause(
    user: QuickDriver, *, in_tag: bool
) -> None:
    for number in range(5):
        QTest.keyClicks(user.name, f"Rosa {number}")
        if in_tag:
            user.tag.setFocus()
            QTest.keyClicks(user.tag, "bed")
        QTest.keyClick(user.tag if in_tag else user.name, Qt.Key.Key_Return, CONTROL)
        assert (user.widget.isVisible(), user.name.text(), user.name.hasFocus()) == (True, "", True)
    user.enter("20 x Salvia")
    user.until_closed()
    user.expect_first_names(*["Salvia"] * 20, *(f"Rosa {number}" for number in (4, 3, 2, 1, 0)), "Aloe")


def test_names_are_offered_below_the_window_with_their_tag(user: QuickDriver) -> None:
    QTest.keyClicks(user.name, "Mon")
    user.until(lambda: (user.name.text(), user.tag.text()) == ("Monstera deliciosa", "office"))
    offers = user.the(QListView, "Known names")
    assert offers.isVisible()
    assert offers.geometry().top() > user.widget.frameGeometry().bottom()
    assert offers.width() >= user.name.width()
    user.until(lambda: user.the(NameField).is_fill_seen)
    QTest.keyClick(user.name, Qt.Key.Key_Return)
    user.expect_first_names("Monstera deliciosa", "Aloe")
    assert not offers.isVisible()


def test_escape_closes_the_offers_then_the_window_and_keeps_what_is_typed(user: QuickDriver) -> None:
    QTest.keyClicks(user.name, "Mon")
    offers = user.the(QListView, "Known names")
    user.until(offers.isVisible)
    QTest.keyClick(user.name, Qt.Key.Key_Escape)
    assert not offers.isVisible()
    assert user.widget.isVisible()
    QTest.keyClick(user.name, Qt.Key.Key_Escape)
    assert not user.widget.isVisible()
    user.open_again()
    QTest.keyClicks(user.name, "a")
    assert user.name.text() == "Mona", "the first key deletes no draft"


def test_what_is_typed_is_remembered_until_it_is_sent_to_the_store(
    user: QuickDriver, store: SqliteStore, tmp_path: Path
) -> None:
    def remembered() -> object:
        return Preferences(tmp_path / "settings.json").of_store(location_of(store.path).key).get("quick")

    when_added: list[object] = []
    QTest.keyClicks(user.name, "Fern")
    user.until(lambda: remembered() == ["", "Fern", ""])
    unsubscribe = store.subscribe(lambda _changes: when_added.append(remembered()))
    QTest.keyClick(user.name, Qt.Key.Key_Return, CONTROL)
    user.expect_first_names("Fern", "Aloe")
    user.until(lambda: when_added == [None])  # the store tells the window before it tells this subscriber
    unsubscribe()


def test_tab_goes_through_all_of_it_in_the_order_of_reading(user: QuickDriver) -> None:
    order = []
    user.id.setFocus()
    for _ in range(5):
        order.append(user.focused)
        user.press(Qt.Key.Key_Tab)
    assert order[:3] == [user.id, user.name, user.tag]
    assert {*order[3:]} == {user.button("Pin"), user.button("Add")}
    assert user.focused is user.id


def test_an_id_that_is_taken_is_corrected_in_the_window(user: QuickDriver) -> None:
    QTest.keyClicks(user.id, "2")
    user.enter("Fern")
    user.until(lambda: user.message.text.startswith("ID 2 already belongs to “Aloe”"))
    assert user.widget.isVisible()
    assert (user.id.text(), user.name.text()) == ("2", "Fern")
    assert user.id.hasFocus()
    user.enter("22", user.id)
    user.until_closed()
    user.expect_first_names("Fern", "Aloe")
    assert not user.main.unsaved()


def test_a_plant_refused_while_the_next_is_typed_is_listed_in_the_window(user: QuickDriver) -> None:
    QTest.keyClicks(user.id, "2")
    QTest.keyClicks(user.name, "Fern")
    QTest.keyClick(user.name, Qt.Key.Key_Return, CONTROL)
    QTest.keyClicks(user.name, "Rosa")
    user.until(lambda: user.message.text.endswith("PlantDesk lists the plant in its window."))
    assert user.name.text() == "Rosa"
    user.until(lambda: "Fern" in user.main.unsaved())


def test_wrong_entries_are_reported_and_nothing_is_closed(user: QuickDriver) -> None:
    QTest.keyClick(user.name, Qt.Key.Key_Return)
    assert user.message.text == "The name is missing."
    QTest.keyClicks(user.id, "x")
    user.enter("Fern")
    assert user.message.isVisible()
    assert user.widget.isVisible()
    user.enter("1001 x Fern")
    assert user.widget.isVisible()


def test_without_a_store_the_plant_waits_and_the_window_says_so(qtbot: QtBot, bare: Workspace) -> None:
    bare.set_up()
    bare.show_no_store(StoreUnreachableError())
    user = QuickDriver(qtbot, bare)
    assert user.message.text == "The plant waits until the store can be reached."
    with qtbot.waitSignal(bare.quick_entry_closed, timeout=MILLISECONDS):
        user.enter("Fern")
    user.until_closed()
    user.until(lambda: "Fern" in user.main.unsaved())


def test_the_label_of_a_plant_is_shown_in_the_main_window(user: QuickDriver) -> None:
    with user.qtbot.waitSignal(user.workspace.window_requested, timeout=MILLISECONDS) as requested:
        user.enter("plantdesk:2")
    assert requested.args == [WindowRequest(address="plantdesk:2")]
    user.until_closed()
