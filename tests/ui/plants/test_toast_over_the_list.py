"""A message lies over the end of the list, which stays as it is; the keys still reach every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt

from tests.ui.plants.test_undo_selection import UndoDesk

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.workspace import Workspace
    from tests.ui.conftest import Adder


@pytest.fixture
def desk(qtbot: QtBot, bare: Workspace, store: Store, add: Adder) -> UndoDesk:
    """More plants than fit into the window."""
    add(*(f"Plant {number}" for number in range(1, 61)))
    bare.complete()
    bare.set_store(store)
    desk = UndoDesk(qtbot, bare.window())
    desk.until_rows(60)
    return desk


def row_is_clear(desk: UndoDesk) -> bool:
    viewport = desk.table.viewport()
    row = desk.table.visualRect(desk.table.currentIndex())
    toast = QRect(viewport.mapFromGlobal(desk.toast.mapToGlobal(QPoint())), desk.toast.size())
    return viewport.rect().contains(row) and not toast.intersects(row)


def test_the_list_keeps_its_height_and_place(desk: UndoDesk) -> None:
    desk.table.scrollTo(desk.table.model().index(30, 1))
    before = desk.table.size(), desk.table.verticalScrollBar().value()
    desk.toast.show_problem("Nothing was copied.")
    assert (desk.table.size(), desk.table.verticalScrollBar().value()) == before
    desk.toast.clear()
    assert (desk.table.size(), desk.table.verticalScrollBar().value()) == before


def test_a_row_that_is_reached_by_keys_is_scrolled_clear_of_it(desk: UndoDesk) -> None:
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
