"""The line edit over a cell that is being edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal

from plantdesk.ui.qt import override, set_properties
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.line_edit import LineEdit

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent
    from PySide6.QtWidgets import QWidget

#: The focus comes back from these by itself.
_PASSING = {
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
    Qt.FocusReason.PopupFocusReason,
}


class CellEditor(LineEdit):
    """Not an editor of Qt's item views: those close theirs when a script's plants replace the rows.

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

    def mark(self, *, faulty: bool) -> None:
        """Show whether the text is at fault."""
        set_properties(self, fault=str(faulty).lower())

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
        event.accept()  # or the arrows would move in the table below

    @override
    def focusNextPrevChild(self, forward: bool) -> bool:
        self.tab_pressed.emit(forward)
        return True

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in _PASSING:
            self.left.emit()
