"""The field for the tag of a new plant, with a pin that keeps the tag for the next plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QStyle, QToolButton

from plantdesk.ui.qt import override, set_properties
from plantdesk.ui.theme.metrics import ICON, ICON_BUTTON, XS
from plantdesk.ui.widgets.line_edit import LineEdit
from plantdesk.ui.widgets.tool_tips import set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from plantdesk.ui.theme.theme import Theme


class TagField(LineEdit):
    """A line edit with a pin. `pinned(on)`: the user has pressed it."""

    pinned = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._is_filled = False
        self._filled_text = ""
        self._pin = QToolButton(self)
        self._pin.setCheckable(True)
        self._pin.setAccessibleName(self.tr("Pin"))
        set_tool_tip(self._pin, self.tr("Keep tag for the next plant"))
        self._pin.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._pin.setCursor(Qt.CursorShape.ArrowCursor)
        self._pin.toggled.connect(self._on_toggled)
        self.textEdited.connect(self._on_edited)
        self.setPlaceholderText(self.tr("Optional"))
        self._on_toggled(on=False)
        self._make_room()

    @property
    def is_pinned(self) -> bool:
        """Whether the tag is kept for the next plant."""
        return self._pin.isChecked()

    @property
    def is_filled(self) -> bool:
        """Whether the tag was filled in, and not typed."""
        return self._is_filled

    def set_pinned(self, *, pinned: bool) -> None:
        """Press the pin, or release it."""
        self._pin.setChecked(pinned)

    def fill(self, tag: str | None) -> None:
        """Show the tag that belongs to a name; None: no tag."""
        self.setText(tag or "")
        self._filled_text = tag or ""
        self._set_filled(filled=tag is not None)

    def take_fill(self) -> None:
        """Keep a tag that was filled in, as if it was typed."""
        self._set_filled(filled=False)

    def restore_fill(self) -> None:
        """Let a tag that was filled in and taken be replaced again with that of the next name."""
        self._set_filled(filled=bool(self._filled_text) and self._filled_text == self.text())

    @override
    def setText(self, text: str | None) -> None:
        super().setText(text)
        self._filled_text = ""
        self._set_filled(filled=False)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = QSize(ICON_BUTTON, ICON_BUTTON)
        button = QRect(self.width() - size.width() - XS, (self.height() - size.height()) // 2, *size.toTuple())
        self._pin.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), button))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._make_room()

    def _set_filled(self, *, filled: bool) -> None:
        self._is_filled = filled
        set_properties(self, filled=str(filled).lower())

    def _make_room(self) -> None:
        """Keep the text beside the pin; a line edit does not mirror its margins."""
        leading, trailing = (ICON_BUTTON, 0) if self.isRightToLeft() else (0, ICON_BUTTON)
        self.setTextMargins(leading, 0, trailing, 0)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        if on:
            self.take_fill()
            self._filled_text = ""
        self._theme.icons.put_on(self._pin, "pin", "accent" if on else "text_2", ICON)
        self.pinned.emit(on)

    @Slot()
    def _on_edited(self) -> None:
        self._filled_text = ""
        self._set_filled(filled=False)
