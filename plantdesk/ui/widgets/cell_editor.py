"""The editor over a cell of a table."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.fields import LineEdit

#: When the focus goes to these, it comes back by itself.
_PASSING = {
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
    Qt.FocusReason.PopupFocusReason,
}


class CellEditor(LineEdit):
    """The editor of a cell. Not one of Qt's item views: they close it when a script's plants replace the rows.

    `accepted`: Enter. `rejected`: Escape. `left`: the focus went elsewhere. `tab_pressed(forward)`: Tab or Shift+Tab.
    """

    accepted = Signal()
    rejected = Signal()
    left = Signal()
    tab_pressed = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("cell", "true")
        self.hide()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self.accepted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.rejected.emit()
        else:
            super().keyPressEvent(event)
            if event.key() == Qt.Key.Key_F6:
                return
        event.accept()  # or the arrows would move in the table

    @override
    def focusNextPrevChild(self, forward: bool) -> bool:
        self.tab_pressed.emit(forward)
        return True

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in _PASSING:
            self.left.emit()
