"""The line edit of the main window, which leaves some keys to the menu, and refuses what is too long for it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLocale, QMetaMethod, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QCompleter, QLineEdit, QMenu, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.tool_tips import show_below

#: Characters of a name or a tag; a line edit with a megabyte of text blocks the window.
MAX_LENGTH = 10_000


class LineEdit(QLineEdit):
    """Ignores Ctrl+Home, which in a single line has the effect of Home, and undo where nothing was typed.

    Ctrl+E as well, which on X11 has the effect of End. An Enter that is held counts once, and one that chooses a
    completion does nothing else.

    `refused(reason)`: a text was pasted that is too long; Qt would cut it. Where nobody listens, a tooltip says so.
    """

    refused = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, max_length: int = MAX_LENGTH) -> None:
        super().__init__(parent, maxLength=max_length)
        self._text_before = ""
        self.textChanged.connect(self._on_text_changed)
        self.inputRejected.connect(self._on_input_rejected)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_of_menu(event):
            event.ignore()
            return False
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ENTER_KEYS:
            super().keyPressEvent(event)
        elif self._is_completing():
            event.ignore()  # for the completer, which asks the field first
        elif not event.isAutoRepeat():
            super().keyPressEvent(event)

    def _is_completing(self) -> bool:
        completer: QCompleter | None = self.completer()
        popup = None if completer is None else completer.popup()
        return popup is not None and popup.isVisible() and popup.currentIndex().isValid()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    @override
    def createStandardContextMenu(self) -> QMenu:
        """Call the commands as the Edit menu does; Qt writes “Select All”."""
        menu = super().createStandardContextMenu()
        for action in menu.actions():
            if action.objectName() == "select-all":
                action.setText(action.text().replace("Select All", self.tr("Select &all")))
        return menu

    def _is_of_menu(self, event: QKeyEvent) -> bool:
        undo = event.matches(QKeySequence.StandardKey.Undo) and not self.isUndoAvailable()
        redo = event.matches(QKeySequence.StandardKey.Redo) and not self.isRedoAvailable()
        return undo or redo or _is_ctrl(event, Qt.Key.Key_Home) or _is_ctrl(event, Qt.Key.Key_E)

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._text_before = text

    @Slot()
    def _on_input_rejected(self) -> None:
        """Undo what Qt has inserted of a text; a letter that is typed at the end of the room inserts nothing."""
        if self.text() != self._text_before:
            self.undo()
        text = self.tr("That text is too long for this field, which takes {longest} characters. Shorten it first.")
        text = text.format(longest=QLocale().toString(self.maxLength()))
        if self.isSignalConnected(QMetaMethod.fromSignal(self.refused)):
            self.refused.emit(text)
        else:
            show_below(self, text)


def _is_ctrl(event: QKeyEvent, key: Qt.Key) -> bool:
    return event.key() == key and event.modifiers() == Qt.KeyboardModifier.ControlModifier
