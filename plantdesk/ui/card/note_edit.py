"""The field of a note: as high as its text, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit

from plantdesk.domain.validation import MAX_NOTE_BYTES
from plantdesk.ui.qt import override
from plantdesk.ui.widgets.plain_text import report_focus

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import QFocusEvent, QResizeEvent
    from PySide6.QtWidgets import QWidget

_MIN_LINES, _MAX_LINES = 2, 6
#: Margin of the document, padding and border, above and below.
_PADDING = 26


class NoteEdit(QPlainTextEdit):
    """Plain text. `edited`: the user has changed it. `left`: the focus goes elsewhere. `too_long`: it was not changed.

    Tab leaves it. Escape leaves it as well: the window decides where to.
    """

    edited = Signal()
    left = Signal()
    too_long = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setAccessibleName(self.tr("Note"))
        self.setPlaceholderText(self.tr("Write a note"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        report_focus(self)
        self._is_setting = False
        self._accepted = ""
        self.textChanged.connect(self._on_text_changed)
        self._fit()

    def set_text(self, text: str) -> None:
        """Show another text, which cannot be undone by Ctrl+Z; the cursor stays where it can."""
        if text == self.toPlainText():
            return
        self._is_setting = True
        self._accepted = text
        position = self.textCursor().position()
        self.setPlainText(text)
        cursor = self.textCursor()
        cursor.setPosition(min(position, len(self.toPlainText())))
        self.setTextCursor(cursor)
        self._is_setting = False

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:  # its own context menu
            self.left.emit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    @override
    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Leave files to the window, which imports them."""
        return not any(url.isLocalFile() for url in source.urls()) and super().canInsertFromMimeData(source)

    @override
    def insertFromMimeData(self, source: QMimeData) -> None:
        if len(source.text()) > MAX_NOTE_BYTES:  # Qt takes seconds to insert megabytes, before they are refused
            self.too_long.emit()
        elif not self.isReadOnly():  # Qt would build a document first, which doubles the 0.15 s that 100,000 lines take
            self.textCursor().insertText(source.text())
            self.ensureCursorVisible()

    @override
    def event(self, event: QEvent) -> bool:
        """Leave Undo and Redo to the menu where nothing was typed."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            document, keys = self.document(), QKeySequence.StandardKey
            undo = event.matches(keys.Undo) and not document.isUndoAvailable()
            redo = event.matches(keys.Redo) and not document.isRedoAvailable()
            if undo or redo:
                event.ignore()
                return False
        return super().event(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    @Slot()
    def _on_text_changed(self) -> None:
        self._fit()
        if self._is_setting:
            return
        if len(self.toPlainText().encode(errors="replace")) > MAX_NOTE_BYTES:
            self.set_text(self._accepted)
            self.too_long.emit()
            return
        self._accepted = self.toPlainText()
        self.edited.emit()

    def _fit(self) -> None:
        lines = round(self.document().size().height())
        shown = min(max(lines, _MIN_LINES), _MAX_LINES)
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * shown + _PADDING)
