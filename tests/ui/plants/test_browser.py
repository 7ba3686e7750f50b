from __future__ import annotations

import os
import sqlite3
import threading
from array import array
from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QListView, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import Changes
from plantdesk.domain.selections import View
from plantdesk.store.sqlite.reader import SqliteReader
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.table.cells import Column
from tests.ui.conftest import Adder, Failing


@pytest.fixture
def filled(qtbot: QtBot, browser: PlantBrowser, store: SqliteStore, add: Adder) -> PlantBrowser:
    """The browser with three plants."""
    add("Aloe vera", "Basil")
    add("Cactus", tag="office")
    open_store(qtbot, browser, store)
    qtbot.waitUntil(lambda: names(browser) == ["Cactus", "Basil", "Aloe vera"])
    return browser


def open_store(qtbot: QtBot, browser: PlantBrowser, store: SqliteStore) -> None:
    browser.set_store(store)
    qtbot.waitUntil(lambda: browser.model.rows.is_complete)


def names(browser: PlantBrowser) -> list[str]:
    model = browser.model
    return [model.index(row, Column.NAME).data() for row in range(model.rowCount())]


def texts(browser: PlantBrowser) -> set[str]:
    """All words that are seen."""
    return {label.text() for label in browser.findChildren(QLabel) if label.isVisible()}


def button(browser: PlantBrowser, text: str) -> QPushButton:
    (found,) = (button for button in browser.findChildren(QPushButton) if button.isVisible() and button.text() == text)
    return found


def search(browser: PlantBrowser, text: str) -> None:
    browser.search_field.setFocus()
    QTest.keyClicks(browser.search_field, text)


# --- states -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "reason"),
    [
        ("added:2026-13", "“2026-13” is not a day. Write added:today, added:7d, added:2026-11 or added:2026-11-21."),
        ("tag:nowhere", "No plant matches “nowhere”."),
        ("tag:kitchen zebra", "No plant has all of this. Remove a filter, or search for something else."),
    ],
)
def test_the_page_without_plants_says_why(qtbot: QtBot, filled: PlantBrowser, search: str, reason: str) -> None:
    filled.search_field.setText(search)
    qtbot.waitUntil(lambda: reason in texts(filled))


def test_an_empty_store_invites_to_add_plants(qtbot: QtBot, browser: PlantBrowser, store: SqliteStore) -> None:
    browser.offers_samples = True
    browser.resize(440, 500)
    open_store(qtbot, browser, store)
    assert {"No plants", "No plants yet"} <= texts(browser)
    for key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        QTest.keyClick(browser.table, key, Qt.KeyboardModifier.ControlModifier)
    image = browser.grab().toImage()
    assert image.pixelColor(40, 120) == image.pixelColor(2, 2), "on the background of the list"
    requested = {
        "Add 20 sample plants": browser.welcome.samples_requested,
        "Import…": browser.welcome.import_requested,
        "API access…": browser.welcome.access_requested,
    }
    for text, signal in requested.items():
        assert 0 <= button(browser, text).mapTo(browser, QPoint()).x() <= 440 - button(browser, text).width()
        with qtbot.waitSignal(signal):
            QTest.mouseClick(button(browser, text), Qt.MouseButton.LeftButton)
    assert "Undo" not in [each.text() for each in browser.findChildren(QPushButton) if each.isVisible()]


def test_the_last_plant_gone_brings_the_empty_state_back(
    qtbot: QtBot, filled: PlantBrowser, other_program: sqlite3.Connection
) -> None:
    other_program.execute("DELETE FROM plant")
    other_program.commit()
    qtbot.waitUntil(lambda: "No plants any more" in texts(filled))


def test_rows_are_shown_although_a_commit_has_brought_all_of_them(
    qtbot: QtBot, browser: PlantBrowser, store: SqliteStore, add: Adder
) -> None:
    rows = add("Aloe vera", "Basil")
    with qtbot.waitSignal(browser.plants_shown):
        browser.set_store(store)
        browser.apply(Changes(added=tuple(rows)))
    assert names(browser) == ["Basil", "Aloe vera"]


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot move an open file")
def test_a_store_that_cannot_be_read_is_reported_with_an_action(
    qtbot: QtBot, browser: PlantBrowser, store: SqliteStore, add: Adder
) -> None:
    add("Aloe")
    moved = store.path.rename(store.path.with_name("away"))
    store.path.mkdir()
    with qtbot.waitSignal(browser.model.failed):
        browser.set_store(store)
    assert "The plants cannot be shown" in texts(browser)
    store.path.rmdir()
    moved.rename(store.path)
    QTest.mouseClick(button(browser, "Try again"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: names(browser) == ["Aloe"])
    assert browser.table.isVisible()


def test_after_a_search_that_failed_once_new_plants_are_shown_again(
    qtbot: QtBot, filled: PlantBrowser, failing: Failing, add: Adder
) -> None:
    with failing():
        search(filled, "fern")
        qtbot.waitUntil(lambda: "The plants cannot be shown" in texts(filled))
    add("Fern")
    qtbot.waitUntil(lambda: names(filled) == ["Fern"])
    qtbot.waitUntil(lambda: texts(filled) == {"1 of 4 plants"})
    add("Fern two")
    qtbot.waitUntil(lambda: names(filled) == ["Fern two", "Fern"])
    assert filled.table.isVisible()


def test_a_copy_that_fails_is_reported(qtbot: QtBot, filled: PlantBrowser, failing: Failing) -> None:
    filled.table.selectAll()
    with failing(), qtbot.waitSignal(filled.copier.refused) as refused:
        filled.copy_selection()
    assert refused.args == ["The plant store cannot be reached (SQLITE_ERROR). Check its disk and folder."]


def test_what_another_program_changed_is_shown_although_the_first_comparison_failed(
    qtbot: QtBot, filled: PlantBrowser, failing: Failing, other_program: sqlite3.Connection
) -> None:
    with failing(), qtbot.waitSignal(filled.model.failed):
        filled.apply(Changes(needs_reload=True))
    assert len(names(filled)) == 3
    with other_program:
        other_program.execute("DELETE FROM plant WHERE name = 'Basil'")
        other_program.execute("UPDATE plant SET name = 'Cactus two' WHERE name = 'Cactus'")
    qtbot.waitUntil(lambda: names(filled) == ["Cactus two", "Aloe vera"])


# --- search -------------------------------------------------------------------------------------------------------


def test_escape_closes_what_is_offered_with_the_search(qtbot: QtBot, filled: PlantBrowser) -> None:
    (offered,) = filled.search_field.findChildren(QListView)
    search(filled, "added:")
    qtbot.waitUntil(offered.isVisible)
    QTest.keyClick(filled.search_field, Qt.Key.Key_Escape)
    assert not filled.search_field.text()
    assert not offered.isVisible()


def test_a_search_without_result_offers_to_show_all_plants(qtbot: QtBot, filled: PlantBrowser) -> None:
    search(filled, "zebra")
    qtbot.waitUntil(lambda: {"No plants match", "Nothing contains “zebra”.", "0 of 3 plants"} <= texts(filled))
    QTest.mouseClick(button(filled, "Show all plants"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: texts(filled) == {"3 plants"})
    assert filled.search_field.hasFocus()


def test_it_searches_as_one_types_until_the_cross_is_pressed(qtbot: QtBot, filled: PlantBrowser) -> None:
    (cross,) = filled.search_field.findChildren(QToolButton)
    assert not cross.isVisible()
    assert texts(filled) == {"3 plants"}
    search(filled, "basil")
    qtbot.waitUntil(lambda: (names(filled), texts(filled)) == (["Basil"], {"1 of 3 plants"}))
    assert (cross.isVisible(), cross.accessibleName()) == (True, "Clear search")
    QTest.mouseClick(cross, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(names(filled)) == 3)


def test_down_goes_to_the_first_row(filled: PlantBrowser) -> None:
    filled.search_field.setFocus()
    QTest.keyClick(filled.search_field, Qt.Key.Key_Down)
    assert filled.table.hasFocus()
    assert list(filled.table.selected_ids()) == [3]


# --- plants of the form ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [*Qt.SortOrder])
def test_it_is_shown_at_the_end_of_the_list_to_which_it_is_added(
    qtbot: QtBot, filled: PlantBrowser, add: Adder, order: Qt.SortOrder
) -> None:
    filled.table.sortByColumn(Column.ADDED, order)
    add(*(f"Fern {number}" for number in range(60)))
    qtbot.waitUntil(lambda: filled.model.rowCount() > 60 and filled.model.rows.is_complete)
    filled.table.scrollToBottom()
    for count in range(filled.model.rowCount() + 1, filled.model.rowCount() + 4):
        (row,) = add("Moss")
        filled.reveal_added(row)
        qtbot.waitUntil(partial(lambda count: filled.model.rowCount() == count, count))
        index = filled.model.index(0 if order is Qt.SortOrder.DescendingOrder else count - 1, 0)
        qtbot.waitUntil(partial(is_seen, filled, index))


def is_seen(browser: PlantBrowser, index: QModelIndex) -> bool:
    return browser.table.viewport().rect().contains(browser.table.visualRect(index))


def test_search_and_order_stay_when_a_plant_is_added_that_the_search_finds(
    qtbot: QtBot, filled: PlantBrowser, add: Adder
) -> None:
    add("Wild basil", "Dwarf basil")
    search(filled, "basil")
    filled.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    qtbot.waitUntil(lambda: names(filled) == ["Basil", "Dwarf basil", "Wild basil"])
    (row,) = add("Lemon basil")
    with qtbot.assertNotEmitted(filled.added_hidden):
        filled.reveal_added(row)
        qtbot.waitUntil(lambda: names(filled) == ["Basil", "Dwarf basil", "Lemon basil", "Wild basil"])
    assert filled.search_field.text() == "basil"


# --- long queries -------------------------------------------------------------------------------------------------


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let queries for the order of the rows wait until this is set."""
    released, ids = threading.Event(), SqliteReader.ids

    def wait(self: SqliteReader, view: View) -> Iterator[array[int]]:
        released.wait()
        return ids(self, view)

    monkeypatch.setattr(SqliteReader, "ids", wait)
    yield released
    released.set()


def heading(browser: PlantBrowser, column: Column) -> QImage:
    """Return what the heading of a column looks like."""
    header = browser.table.horizontalHeader()
    rect = QRect(header.sectionViewportPosition(column), 0, header.sectionSize(column), header.height())
    return header.viewport().grab(rect).toImage()


def test_a_sort_that_takes_long_shows_a_wheel_and_the_arrow_moves_with_the_rows(
    qtbot: QtBot, filled: PlantBrowser, held: threading.Event
) -> None:
    added, name = heading(filled, Column.ADDED), heading(filled, Column.NAME)
    header = filled.table.horizontalHeader()
    where = QPoint(header.sectionViewportPosition(Column.NAME) + 20, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.waitUntil(lambda: filled.search_field.is_waiting)
    filled.window().setFocus()
    QTest.mouseMove(filled)  # the heading under the pointer has another colour
    qtbot.waitUntil(lambda: heading(filled, Column.NAME) == name)
    assert heading(filled, Column.ADDED) == added
    assert names(filled) == ["Cactus", "Basil", "Aloe vera"]
    assert "3 plants" in texts(filled)
    held.set()
    qtbot.waitUntil(lambda: names(filled) == ["Aloe vera", "Basil", "Cactus"])
    qtbot.waitUntil(lambda: heading(filled, Column.NAME) != name)  # the arrow
    assert heading(filled, Column.ADDED) != added
    qtbot.waitUntil(lambda: not filled.search_field.is_waiting)
