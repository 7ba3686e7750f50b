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
def user(qtbot: QtBot, bare: Workspace, store: SqliteStore, add: Adder) -> UndoDriver:
    """More plants than fit into the window."""
    add(*(f"Plant {number}" for number in range(1, 61)))
    bare.set_up()
    bare.set_store(store)
    user = UndoDriver(qtbot, bare.window())
    user.until_rows(60)
    return user


def row_is_clear(user: UndoDriver) -> bool:
    viewport = user.table.viewport()
    row = user.table.visualRect(user.table.currentIndex())
    toast = QRect(viewport.mapFromGlobal(user.toast.mapToGlobal(QPoint())), user.toast.size())
    return viewport.rect().contains(row) and not toast.intersects(row)


@pytest.mark.parametrize(
    ("width", "height", "search"),
    [(1180, 700, ""), (800, 600, ""), (640, 420, ""), (1180, 700, "nothing has this"), (800, 600, "nothing has this")],
)
def test_a_toast_covers_no_button_of_an_empty_page(
    qtbot: QtBot, bare: Workspace, store: SqliteStore, width: int, height: int, search: str
) -> None:
    bare.set_up()
    bare.set_store(store)
    user = UndoDriver(qtbot, bare.window())
    user.window.resize(width, height)
    user.field("Search by name, tag or ID").setText(search)
    user.until(lambda: ("Show all plants" if search else "Add 20 sample plants") in user.buttons())
    button = user.button("Show all plants" if search else "Add 20 sample plants")
    user.until(button.isVisible)
    user.toast.show_message("Deleted 400,310 plants.", ("Undo", user.toast.clear))
    user.until(lambda: covered_buttons(user) == [])
    for area in user.widget.findChildren(ScrollArea):
        area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    QApplication.processEvents()
    assert covered_buttons(user) == []


def test_it_moves_where_a_page_with_buttons_takes_the_place_of_the_list(user: UndoDriver) -> None:
    user.window.resize(800, 600)
    user.toast.show_problem("Nothing was copied.")
    place = user.toast.pos()
    user.table.setFocus()
    user.table.selectAll()
    QTest.keyClick(user.table, Qt.Key.Key_Delete)
    user.until(user.button("Add 20 sample plants").isVisible)
    user.until(lambda: covered_buttons(user) == [])
    assert user.toast.pos().y() < place.y()


#: Above and below the toast, in its style sheet.
MARGINS = 8, 0, -16


def covered_buttons(user: UndoDriver) -> list[str]:
    toast = QRect(user.toast.mapToGlobal(QPoint()), user.toast.size()).adjusted(0, *MARGINS)
    seen = [button for button in user.buttons().values() if not user.toast.isAncestorOf(button)]
    return [text.text() for text in seen if on_screen(text).intersects(toast)]


def on_screen(widget: QWidget) -> QRect:
    """Return what is seen of a widget."""
    region = widget.visibleRegion().boundingRect()
    return QRect(widget.mapToGlobal(region.topLeft()), region.size())


def test_a_row_that_is_reached_by_keys_is_scrolled_clear_of_it(user: UndoDriver) -> None:
    user.toast.show_problem("Nothing was copied.")
    user.go_to(60)
    for _ in range(59):
        user.press(Qt.Key.Key_Down)
        assert row_is_clear(user), user.selected()
    assert user.selected() == [1]
    user.press(Qt.Key.Key_Home)
    user.press(Qt.Key.Key_End)
    assert row_is_clear(user)
    user.toast.clear()
    assert user.table.viewport().rect().contains(user.table.visualRect(user.table.currentIndex()))
