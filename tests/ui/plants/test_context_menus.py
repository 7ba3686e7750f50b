"""The menus of rows and of the header, by keys and clicks."""

from collections.abc import Iterator
from sqlite3 import Connection

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.history.feature import HistoryDialog
from plantdesk.ui.labels.dialog import LabelDialog
from plantdesk.ui.plants.feature import PlantsFeature
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.view import PlantTableView
from plantdesk.ui.transfer.export import ExportDialog
from plantdesk.ui.window.commands import EditCommands
from plantdesk.ui.workspace import Workspace
from tests.support.window_driver import WindowDriver, plain
from tests.ui.conftest import Adder

SHIFT = Qt.KeyboardModifier.ShiftModifier
COPIES = ["Copy", "Select all", "Copy as CSV", "Copy as JSON"]
ROW_MENU = ["Edit name", "Edit tag", "Duplicate plant", "Delete plant", *COPIES]


@pytest.fixture
def user(
    qtbot: QtBot, context: WindowContext, store: SqliteStore, queries: StoreQueries, add: Adder
) -> Iterator[WindowDriver]:
    """Two plants from two sources, the second on top."""
    QGuiApplication.clipboard().clear()
    add("Aloe")
    store.add(new_plant({"id": 9, "name": "Basil"}), COMMAND).result()
    features = [PlantsFeature(context), EditCommands(context)]
    for feature in features:
        feature.set_up()
        feature.set_store(OpenStore(store, queries))
    user = WindowDriver(qtbot, context.page.window())
    user.window.resize(1180, 760)
    table = user.the(PlantTableView)
    table.columns.show_sources(2)
    qtbot.waitUntil(lambda: table.model().rowCount() == 2 and not table.isColumnHidden(Column.SOURCE))
    with qtbot.waitActive(user.window):
        user.window.activateWindow()
    yield user
    for feature in features:
        feature.release_store()


def place_of(table: PlantTableView, row: int) -> QPoint:
    return table.visualRect(table.model().index(row, Column.NAME)).center()


def right_click(widget: QWidget, place: QPoint) -> None:
    """Press the right button and send the event that the window system sends then."""
    QTest.mouseClick(widget, Qt.MouseButton.RightButton, pos=place)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    QApplication.sendEvent(widget, event)


def texts(menu: QMenu) -> list[str]:
    return [plain(action.text()) for action in menu.actions() if not action.isSeparator()]


def choose(menu: QMenu, command: str) -> None:
    action = next(each for each in menu.actions() if plain(each.text()) == command)
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def list_shown_columns(table: PlantTableView) -> list[str]:
    return [column.name for column in Column if not table.isColumnHidden(column)]


def test_a_right_click_selects_the_row_and_offers_the_commands_of_the_edit_menu(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    right_click(table.viewport(), place_of(table, 1))
    menu = user.popup()
    assert texts(menu) == [*ROW_MENU, "Show only “Form”", "Show only this day"]
    assert list(table.selected_ids()) == [1]
    choose(menu, "Delete plant")
    user.qtbot.waitUntil(lambda: table.model().rowCount() == 1)


def test_a_right_click_in_the_selection_keeps_it(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    table.selectAll()
    right_click(table.viewport(), place_of(table, 1))
    choose(user.popup(), "Copy")
    user.qtbot.waitUntil(lambda: user.toast.text == "Copied 2 plants.")
    assert "Basil" in QGuiApplication.clipboard().text()


def test_shift_f10_opens_the_menu_at_the_current_row(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    table.setFocus()
    table.selectRow(1)
    user.press(Qt.Key.Key_F10, SHIFT)
    menu = user.popup()
    assert texts(menu) == [*ROW_MENU, "Show only “Form”", "Show only this day"]
    assert abs(menu.y() - table.viewport().mapToGlobal(place_of(table, 1)).y()) < table.rowHeight(1)
    choose(menu, "Edit name")
    user.qtbot.waitUntil(table.editor.isVisible)
    assert table.editor.text() == "Aloe"


def test_the_menu_key_opens_the_same_menu(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    table.setFocus()
    table.selectRow(0)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    QApplication.sendEvent(table.viewport(), event)
    menu = user.popup()
    assert texts(menu) == [*ROW_MENU, "Show only “Command line”", "Show only this day"]
    menu.close()


@pytest.mark.parametrize(
    ("command", "dialog"), [("Print labels…", LabelDialog), ("Export…", ExportDialog), ("History…", HistoryDialog)]
)
def test_a_row_menu_of_the_whole_window_prints_exports_and_opens_the_history(
    qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder, command: str, dialog: type[QDialog]
) -> None:
    add("Aloe")
    bare.set_up()
    bare.set_store(store)
    user = WindowDriver(qtbot, bare.window())
    table = user.the(PlantTableView)
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    table.setFocus()
    table.selectRow(0)
    user.press(Qt.Key.Key_F10, SHIFT)
    menu = user.popup()
    action = user.action(command)
    assert action in menu.actions(), "the action of the menu bar, with its keys"
    choose(menu, command)
    user.until(lambda: user.window.findChildren(dialog) != [])
    opened = user.the(dialog)
    user.until(opened.isVisible)
    opened.reject()


def test_the_keys_of_undo_and_redo_work_after_the_menu_of_a_row(user: WindowDriver) -> None:
    """When the menu was opened, there was nothing to undo."""
    table = user.the(PlantTableView)
    right_click(table.viewport(), place_of(table, 0))
    user.popup().close()
    with user.qtbot.waitActive(user.window):
        user.window.activateWindow()
    table.setFocus()
    user.press(Qt.Key.Key_Delete)
    user.until(lambda: table.model().rowCount() == 1)
    user.press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    user.until(lambda: table.model().rowCount() == 2)
    user.press(Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    user.until(lambda: table.model().rowCount() == 1)


def test_the_menu_of_the_header_hides_and_shows_columns(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    header = table.horizontalHeader()
    assert list_shown_columns(table) == ["ID", "NAME", "TAG", "ADDED", "SOURCE"]
    for expected in (["ID", "NAME", "TAG", "SOURCE"], ["ID", "NAME", "TAG", "ADDED", "SOURCE"]):
        right_click(header.viewport(), header.viewport().rect().center())
        menu = user.popup()
        orders = ["Newest first", "By name", "By ID", "By tag", "By origin"]
        assert texts(menu) == [*orders, "ID", "Tag", "Added", "From"]
        choose(menu, "Added")
        assert list_shown_columns(table) == expected


def test_a_narrow_table_hides_no_column_for_good(user: WindowDriver) -> None:
    table = user.the(PlantTableView)
    user.window.resize(640, 500)
    user.qtbot.waitUntil(lambda: list_shown_columns(table) == ["ID", "NAME", "TAG", "ADDED"])
    user.window.resize(1180, 760)
    user.qtbot.waitUntil(lambda: list_shown_columns(table) == ["ID", "NAME", "TAG", "ADDED", "SOURCE"])


@pytest.mark.parametrize(
    ("command", "start"), [("Copy as CSV", "id,name,tag,"), ("Copy as JSON", '[\n{"id": 9, "name": "Basil"')]
)
def test_rows_are_copied_as_files_have_them(user: WindowDriver, command: str, start: str) -> None:
    table = user.the(PlantTableView)
    table.selectAll()
    right_click(table.viewport(), place_of(table, 0))
    choose(user.popup(), command)
    user.qtbot.waitUntil(lambda: user.toast.text == "Copied 2 plants.")
    text = QGuiApplication.clipboard().text()
    assert text.startswith(start)
    assert text.index("Basil") < text.index("Aloe")


def test_the_menu_of_a_row_filters_by_its_tag_and_source(user: WindowDriver, add: Adder) -> None:
    add("Cactus", tag="R&D")
    table = user.the(PlantTableView)
    user.qtbot.waitUntil(lambda: table.model().rowCount() == 3)
    right_click(table.viewport(), place_of(table, 0))
    choose(user.popup(), "Show only “RD”")
    user.qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    right_click(table.viewport(), place_of(table, 0))
    choose(user.popup(), "Show only “Form”")
    user.qtbot.waitUntil(lambda: table.model().rowCount() == 2)


def test_the_menu_of_a_row_filters_by_its_day(user: WindowDriver, other_program: Connection) -> None:
    other_program.execute("UPDATE plant SET added_at = added_at - 3 * 86400000 WHERE name = 'Aloe'")
    other_program.commit()
    table = user.the(PlantTableView)
    right_click(table.viewport(), place_of(table, 0))
    choose(user.popup(), "Show only this day")
    user.qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    assert table.model().index(0, Column.NAME).data() == "Basil"
