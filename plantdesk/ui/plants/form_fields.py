"""The fields for name and tag of a new plant, with inline completion, and a pin that keeps the tag."""

from __future__ import annotations

import re
import time

from PySide6.QtCore import Qt, Signal, Slot
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
from typing_extensions import override

from plantdesk.ui.qt import set_properties
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.fields import ButtonField, LineEdit

#: The most plants that are added at once.
MAX_QUANTITY = 1000
#: Seconds since the completion, and since the last key, before which Enter and Tab take only the typed text: a fast
#: typist or a barcode reader has not seen the completion.
_SEEN_AFTER_SECONDS = 0.25
_PAUSE_SECONDS = 0.1
_QUANTITY = re.compile(r"\s*(\d{1,9})\s*[x×*]\s+(?=\S)", re.IGNORECASE)


class NameField(LineEdit):
    """The field for the name. It can append the rest of a known name, selected, so that typing replaces it."""

    #: (step) Up or Down was pressed while no list is shown (`is_offering`).
    recall_requested = Signal(int)
    #: Tab was pressed with a completion.
    fill_accepted = Signal()
    #: Escape or Ctrl+Z was pressed with a completion.
    fill_refused = Signal()
    #: (text) Several lines were pasted.
    rows_pasted = Signal(str)
    #: The focus has moved to another widget, not to a popup.
    focus_lost = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._typed_text = ""
        #: Whether a part of the text is a completion.
        self.is_filled = False
        self._can_fill = False
        self._filled_name = ""
        self._filled_at = self._typed_at = float("-inf")
        self.is_offering = False
        self.textEdited.connect(self._on_edited)

    @property
    def quantity(self) -> int:
        """The number of plants, as in “20 x Salvia”; by default 1."""
        match = _QUANTITY.match(self.text())
        return int(match[1]) if match else 1

    @property
    def name(self) -> str:
        """The name, without quantity and spaces around it."""
        return self.text()[_find_name_start(self.text()) :].strip()

    @property
    def typed_text(self) -> str:
        """The text of the field without a completion that was filled in."""
        return self._typed_text if self.is_filled else self.text()

    @property
    def typed_name(self) -> str:
        """The typed part of the name, without a quantity before it."""
        return self._typed_text[_find_name_start(self._typed_text) :]

    @property
    def is_fill_seen(self) -> bool:
        """Whether the user had time to see the completion, or has chosen it."""
        now = time.monotonic()
        return now - self._filled_at >= _SEEN_AFTER_SECONDS and now - self._typed_at >= _PAUSE_SECONDS

    def can_fill(self, name: str) -> bool:
        """Return whether `name` continues the typed text, the cursor is at the end, and nothing was just deleted."""
        is_at_end = self._can_fill and self.cursorPosition() == len(self._typed_text)
        return is_at_end and name != self.typed_name and name.startswith(self.typed_name)

    def fill(self, name: str) -> None:
        """Append the rest of `name` as a selection, so that the next key replaces it."""
        if name != self._filled_name:
            self._filled_at = time.monotonic()
        super().setText(self._typed_text + name[len(self.typed_name) :])
        self.setSelection(len(self._typed_text), len(self.text()) - len(self._typed_text))
        self.is_filled = True
        self._filled_name = name

    def choose(self, name: str) -> None:
        """Replace the typed name by one that the user has chosen from the list of offers."""
        super().setText(self._typed_text[: _find_name_start(self._typed_text)] + name)
        self.is_filled = True
        self._filled_name = name
        self._filled_at = self._typed_at = float("-inf")

    def accept_fill(self) -> None:
        """Accept the completion, as if the user had typed it."""
        self._typed_text = self.text()
        self._forget_fill()
        self.deselect()

    def refuse_fill(self) -> None:
        """Remove the completion, and accept no other one before the next key."""
        if self.is_filled:
            super().setText(self._typed_text)
        self._forget_fill()
        self._can_fill = False

    @override
    def setText(self, text: str | None) -> None:
        super().setText(text)
        self._typed_text = self.text()
        self._forget_fill()

    @override
    def isUndoAvailable(self) -> bool:
        """Return whether there is a completion or typing to undo."""
        return self.is_filled or super().isUndoAvailable()

    @override
    def undo(self) -> None:
        """Remove the completion, else undo the last typing."""
        if self.is_filled:
            self.fill_refused.emit()
        else:
            super().undo()

    def _forget_fill(self) -> None:
        self.is_filled = False
        self._filled_name = ""

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in {Qt.Key.Key_Up, Qt.Key.Key_Down}:
            self.recall_requested.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_Escape and (self.is_filled or self.is_offering):
            self.fill_refused.emit()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        else:
            self._can_fill = key not in {Qt.Key.Key_Backspace, Qt.Key.Key_Delete}
            super().keyPressEvent(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        if self.is_filled:
            self.fill_accepted.emit()
        return super().focusNextPrevChild(following)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.focus_lost.emit()
        super().focusOutEvent(event)

    @override
    def paste(self) -> None:
        """Insert the text of the clipboard, unless it has several lines."""
        if not self._report_rows(QGuiApplication.clipboard().text()):
            super().paste()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in menu.actions():
            if action.objectName() == "edit-paste":  # Qt's own action does not call `paste`
                action.triggered.disconnect()
                action.triggered.connect(self.paste)
        menu.popup(event.globalPos())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Paste the primary selection on X11 and Wayland, unless it has several lines."""
        is_paste = event.button() is Qt.MouseButton.MiddleButton
        if not (is_paste and self._report_rows(QGuiApplication.clipboard().text(QClipboard.Mode.Selection))):
            super().mouseReleaseEvent(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if self._report_rows(event.mimeData().text()):
            event.setDropAction(Qt.DropAction.CopyAction)  # the source keeps its text
            event.accept()
        else:
            super().dropEvent(event)

    def _report_rows(self, text: str) -> bool:
        """Emit `rows_pasted` if a text has several lines or cells, and return whether it has."""
        lines = [line for line in text.splitlines() if line.strip()]
        has_rows = len(lines) > 1 or "\t" in text
        if has_rows:
            self.rows_pasted.emit(text)
        return has_rows

    @Slot(str)
    def _on_edited(self, text: str) -> None:
        self._typed_text = text
        self.is_filled = False
        self._typed_at = time.monotonic()


def _find_name_start(text: str) -> int:
    match = _QUANTITY.match(text)
    return match.end() if match else 0


class TagField(ButtonField):
    """The field for the tag, with a pin button that keeps the tag for the next plant."""

    #: (is_pinned) The pin was toggled.
    pinned = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        #: Whether the tag belongs to a completed name, and was not typed.
        self.is_filled = False
        self._filled_text = ""
        self.button.setCheckable(True)
        self.name_button(self.tr("Pin"), self.tr("Keep tag for the next plant"))
        self.button.toggled.connect(self._on_toggled)
        self.textEdited.connect(self._on_edited)
        self.setPlaceholderText(self.tr("Optional"))
        self._on_toggled(on=False)

    @property
    def is_pinned(self) -> bool:
        """Whether the tag is kept for the next plant."""
        return self.button.isChecked()

    def set_pinned(self, *, pinned: bool) -> None:
        """Press the pin, or release it."""
        self.button.setChecked(pinned)

    def fill(self, tag: str | None) -> None:
        """Set the tag of a completed name, which counts as not typed; None: no tag."""
        self.setText(tag or "")
        self._filled_text = tag or ""
        self._set_filled(filled=tag is not None)

    def accept_fill(self) -> None:
        """Let the tag count as typed, so that no completed name replaces it."""
        self._set_filled(filled=False)

    def restore_fill(self) -> None:
        """Let the tag of the next completed name replace an accepted one."""
        self._set_filled(filled=bool(self._filled_text) and self._filled_text == self.text())

    @override
    def setText(self, text: str | None) -> None:
        super().setText(text)
        self._filled_text = ""
        self._set_filled(filled=False)

    def _set_filled(self, *, filled: bool) -> None:
        self.is_filled = filled
        set_properties(self, filled=filled)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        if on:
            self.accept_fill()
            self._filled_text = ""
        self._theme.icons.put_on(self.button, "pin", "accent" if on else "muted")
        self.pinned.emit(on)

    @Slot()
    def _on_edited(self) -> None:
        self._filled_text = ""
        self._set_filled(filled=False)
