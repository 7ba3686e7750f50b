"""A message lies over the end of the list, which stays as it is; the keys still reach every row."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.workspace import Workspace
from tests.ui.conftest import Adder
from tests.ui.plants.test_undo_selection import UndoDriver


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> UndoDriver:
    """More plants than fit into the window."""
    add(*(f"Plant {number}" for number in range(1, 61)))
    bare.set_up()
    bare.set_store(store)
    desk = UndoDriver(qtbot, bare.window())
    desk.until_rows(60)
    return desk


def row_is_clear(desk: UndoDriver) -> bool:
    viewport = desk.table.viewport()
    row = desk.table.visualRect(desk.table.currentIndex())
    toast = QRect(viewport.mapFromGlobal(desk.toast.mapToGlobal(QPoint())), desk.toast.size())
    return viewport.rect().contains(row) and not toast.intersects(row)


@pytest.mark.parametrize(
    ("width", "height", "search"),
    [(1180, 700, ""), (800, 600, ""), (640, 420, ""), (1180, 700, "nothing has this"), (800, 600, "nothing has this")],
)
def test_it_covers_no_button_of_a_page(
    qtbot: QtBot, bare: Workspace, store: SqliteStore, width: int, height: int, search: str
) -> None:
    bare.set_up()
    bare.set_store(store)
    desk = UndoDriver(qtbot, bare.window())
    desk.window.resize(width, height)
    desk.field("Search by name, tag or ID").setText(search)
    desk.until(lambda: ("Show all plants" if search else "Add 20 sample plants") in desk.buttons())
    button = desk.button("Show all plants" if search else "Add 20 sample plants")
    desk.until(button.isVisible)
    desk.toast.show_message("Deleted 400,310 plants.", ("Undo", desk.toast.clear))
    desk.until(lambda: covered_buttons(desk) == [])
    for area in desk.widget.findChildren(ScrollArea):
        area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    QApplication.processEvents()
    assert covered_buttons(desk) == []


def test_it_moves_where_a_page_with_buttons_takes_the_place_of_the_list(desk: UndoDriver) -> None:
    desk.window.resize(800, 600)
    desk.toast.show_problem("Nothing was copied.")
    place = desk.toast.pos()
    desk.table.setFocus()
    desk.table.selectAll()
    QTest.keyClick(desk.table, Qt.Key.Key_Delete)
    desk.until(desk.button("Add 20 sample plants").isVisible)
    desk.until(lambda: covered_buttons(desk) == [])
    assert desk.toast.pos().y() < place.y()


#: Above and below the toast, in its style sheet.
MARGINS = 8, 0, -16


def covered_buttons(desk: UndoDriver) -> list[str]:
    toast = QRect(desk.toast.mapToGlobal(QPoint()), desk.toast.size()).adjusted(0, *MARGINS)
    seen = [each for each in desk.buttons().values() if not desk.toast.isAncestorOf(each)]
    return [each.text() for each in seen if on_screen(each).intersects(toast)]


def on_screen(widget: QWidget) -> QRect:
    """Return what is seen of a widget."""
    region = widget.visibleRegion().boundingRect()
    return QRect(widget.mapToGlobal(region.topLeft()), region.size())


def test_a_row_that_is_reached_by_keys_is_scrolled_clear_of_it(desk: UndoDriver) -> None:
    desk.toast.show_problem("Nothing was copied.")
    desk.go_to(60)
    for _ in range(59):
        desk.press(Qt.Key.Key_Down)
        assert row_is_clear(desk), desk.selected()
    assert desk.selected() == [1]
    desk.press(Qt.Key.Key_Home)
    desk.press(Qt.Key.Key_End)
    assert row_is_clear(desk)
    desk.toast.clear()
    assert desk.table.viewport().rect().contains(desk.table.visualRect(desk.table.currentIndex()))
