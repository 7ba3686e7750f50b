import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.view import PlantTableView
from tests.ui.conftest import Adder


@pytest.fixture
def table(qtbot: QtBot, browser: PlantBrowser, store: SqliteStore, add: Adder) -> PlantTableView:
    """Plants sorted by name, with the focus in the table."""
    add("Mentha × piperita", "Aloe vera", "Érable", "Aloe ferox", "Basil")
    browser.set_store(store)
    browser.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    qtbot.waitUntil(
        lambda: browser.model.rows.is_complete and browser.table.model().index(0, Column.NAME).data() == "Aloe ferox"
    )
    browser.activateWindow()
    browser.table.setFocus()
    return browser.table


def current(table: PlantTableView) -> str:
    return str(table.model().index(table.currentIndex().row(), Column.NAME).data())


@pytest.mark.parametrize(
    ("letters", "name"), [("b", "Basil"), ("aloe v", "Aloe vera"), ("er", "Érable"), ("MENTHA X", "Mentha × piperita")]
)
def test_letters_go_to_the_first_name_that_begins_with_them(
    qtbot: QtBot, table: PlantTableView, letters: str, name: str
) -> None:
    QApplication.styleHints().setKeyboardInputInterval(60_000)  # on a busy machine the letters may come slowly
    try:
        QTest.keyClicks(table, letters)
        qtbot.waitUntil(lambda: current(table) == name)
        assert table.selected_count() == 1
    finally:
        QApplication.styleHints().setKeyboardInputInterval(-1)


def test_a_name_that_is_not_there_moves_nothing(qtbot: QtBot, table: PlantTableView, browser: PlantBrowser) -> None:
    QTest.keyClicks(table, "b")
    qtbot.waitUntil(lambda: current(table) == "Basil")
    QTest.keyClicks(table, "zzz")
    browser.table.sortByColumn(Column.NAME, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: browser.model.rows.is_complete)
    assert current(table) == "Basil"
