"""The line edit of the main window, which leaves Ctrl+Home to the menu."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from plantdesk.ui.qt import override


class LineEdit(QLineEdit):
    """Ignores Ctrl+Home, which in a single line has the effect of Home."""

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_ctrl_home(event):
            event.ignore()
            return False
        return super().event(event)


def _is_ctrl_home(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Home and event.modifiers() == Qt.KeyboardModifier.ControlModifier
