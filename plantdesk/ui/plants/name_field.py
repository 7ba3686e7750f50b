"""The field for the name of a new plant: it shows what a name may become, and recalls the last plants."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QDropEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)

from plantdesk.ui.qt import override
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.line_edit import LineEdit

#: Plants that are added at once.
MAX_QUANTITY = 1000
_QUANTITY = re.compile(r"\s*(\d{1,9})\s*[x×*]\s+(?=\S)", re.IGNORECASE)


class NameField(LineEdit):
    """A line edit whose text is partly typed and partly filled in; what is filled in is selected.

    `is_offering`: names are offered, so that Escape is for them. `left`: the focus went elsewhere.
    `typed(text)`: the user has typed, and names that begin with `text` may be offered; empty: none. `stepped(step)`: Up
    or Down. `kept`: Ctrl+Enter. `fill_taken`, `fill_refused`: Tab and Escape. `rows_pasted(text)`: several lines.
    """

    typed = Signal(str)
    stepped = Signal(int)
    kept = Signal()
    fill_taken = Signal()
    fill_refused = Signal()
    rows_pasted = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._typed = ""
        self._is_filled = False
        self._can_fill = False
        self.is_offering = False
        self.textEdited.connect(self._on_edited)

    @property
    def quantity(self) -> int:
        """How many plants are wanted, as in “20 x Salvia”."""
        found = _QUANTITY.match(self.text())
        return int(found[1]) if found else 1

    @property
    def name(self) -> str:
        """The name without the quantity and without spaces around it."""
        return self.text()[_start(self.text()) :].strip()

    @property
    def typed_name(self) -> str:
        """The part of the name that was typed."""
        return self._typed[_start(self._typed) :]

    @property
    def is_filled(self) -> bool:
        """Whether a part of the text was filled in."""
        return self._is_filled

    @property
    def can_fill(self) -> bool:
        """Whether a name may be filled in: the user has typed at the end, and does not remove what was filled in."""
        return self._can_fill and self.cursorPosition() == len(self._typed) and not self.isReadOnly()

    def fill(self, name: str) -> None:
        """Show `name`, whose rest after what was typed is selected, so that the next key replaces it."""
        prefix = self._typed[: _start(self._typed)]
        self.setText(prefix + name)
        self.setSelection(len(self._typed), len(self.text()) - len(self._typed))
        self._is_filled = True

    def take_fill(self) -> None:
        """Keep what was filled in, as if it was typed."""
        self._is_filled = False
        self._typed = self.text()
        self.deselect()

    def refuse_fill(self) -> None:
        """Remove what was filled in."""
        if self._is_filled:
            self.setText(self._typed)
        self._is_filled = self._can_fill = False

    @override
    def setText(self, text: str | None) -> None:
        super().setText(text)
        self._is_filled = False

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, control = event.key(), event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key in {Qt.Key.Key_Up, Qt.Key.Key_Down}:
            self.stepped.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key in ENTER_KEYS and control:
            self.kept.emit()
        elif key == Qt.Key.Key_Escape and (self._is_filled or self.is_offering):
            self.fill_refused.emit()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        else:
            self._can_fill = key not in {Qt.Key.Key_Backspace, Qt.Key.Key_Delete}
            super().keyPressEvent(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        if self._is_filled:
            self.fill_taken.emit()
        return super().focusNextPrevChild(following)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.left.emit()
        super().focusOutEvent(event)

    @override
    def event(self, event: QEvent) -> bool:
        """Handle Ctrl+Enter before a menu does."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in ENTER_KEYS:
            event.accept()
            return True
        return super().event(event)

    @override
    def paste(self) -> None:
        """Insert the clipboard's text; several lines are no name."""
        if not self._takes_rows(QGuiApplication.clipboard().text()):
            super().paste()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in menu.actions():
            if action.objectName() == "edit-paste":  # Qt's own does not call `paste`
                action.triggered.disconnect()
                action.triggered.connect(self.paste)
        menu.popup(event.globalPos())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Paste what is selected elsewhere, on X11 and Wayland."""
        is_paste = event.button() is Qt.MouseButton.MiddleButton
        if not (is_paste and self._takes_rows(QGuiApplication.clipboard().text(QClipboard.Mode.Selection))):
            super().mouseReleaseEvent(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if self._takes_rows(event.mimeData().text()):
            event.setDropAction(Qt.DropAction.CopyAction)  # the source keeps its text
            event.accept()
        else:
            super().dropEvent(event)

    def _takes_rows(self, text: str) -> bool:
        """Report several lines, which are no name."""
        lines = [line for line in text.splitlines() if line.strip()]
        is_taken = not self.isReadOnly() and (len(lines) > 1 or "\t" in text)
        if is_taken:
            self.rows_pasted.emit(text)
        return is_taken

    @Slot(str)
    def _on_edited(self, text: str) -> None:
        self._typed, self._is_filled = text, False
        self.typed.emit(text)


def _start(text: str) -> int:
    """Return where the name begins, after a quantity."""
    found = _QUANTITY.match(text)
    return found.end() if found else 0
