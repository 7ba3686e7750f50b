"""When and where the context menu of a view's current row opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QAbstractItemView


def is_menu_key(event: QKeyEvent) -> bool:
    """Whether Shift+F10 was pressed; for the Menu key Qt sends a context menu event."""
    return event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier


def menu_position(view: QAbstractItemView, index: QModelIndex, event: QContextMenuEvent | None = None) -> QPoint:
    """Return the pointer's position on the screen; for a key that below the start of `index`, which is scrolled to."""
    if event is not None and event.reason() is not QContextMenuEvent.Reason.Keyboard:
        return event.globalPos()
    if not index.isValid():
        return view.viewport().mapToGlobal(QPoint())
    view.scrollTo(index)
    cell = view.visualRect(index)
    return view.viewport().mapToGlobal(cell.bottomRight() if view.isRightToLeft() else cell.bottomLeft())
