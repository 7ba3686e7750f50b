"""The line edit of the main window, which leaves some keys to the menu."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

from plantdesk.ui.qt import override

#: Characters of a name or a tag; a line edit with a megabyte of text blocks the window.
MAX_LENGTH = 10_000


class LineEdit(QLineEdit):
    """Ignores Ctrl+Home, which in a single line has the effect of Home, and undo where nothing was typed."""

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_of_menu(event):
            event.ignore()
            return False
        return super().event(event)

    def _is_of_menu(self, event: QKeyEvent) -> bool:
        undo = event.matches(QKeySequence.StandardKey.Undo) and not self.isUndoAvailable()
        redo = event.matches(QKeySequence.StandardKey.Redo) and not self.isRedoAvailable()
        return undo or redo or _is_ctrl_home(event)


def _is_ctrl_home(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Home and event.modifiers() == Qt.KeyboardModifier.ControlModifier
