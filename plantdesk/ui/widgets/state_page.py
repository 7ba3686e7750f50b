"""Empty-state page: icon, title, text, buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.ui.qt import add_layout
from plantdesk.ui.theme.metrics import ICON_LARGE, L, M, S
from plantdesk.ui.widgets.icon import Icon
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_MAX_TEXT_WIDTH = 420


class StatePage(QWidget):
    """Icon, title, text and buttons, centred."""

    def __init__(self, theme: Theme, icon: str, color: str, title: str, parent: QWidget | None = None) -> None:
        """Make a page; `icon` is the icon's name and `color` that of its colour."""
        super().__init__(parent)
        self._theme = theme
        self._icon = Icon(theme, icon, color, ICON_LARGE)
        self._title_label = PlainLabel(title, role="empty-title", alignment=Qt.AlignmentFlag.AlignCenter)
        self._text_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._set_width()
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(S)
        self._lay_out()
        theme.changed.connect(self._set_width)

    def set_text(self, text: str) -> None:
        """Show a text under the title."""
        self._text_label.setText(text)

    def add_button(self, text: str, icon: str | None = None) -> QPushButton:
        """Add a button under the text."""
        button = QPushButton(text)
        if icon is not None:
            self._theme.icons.put_on(button, icon)
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        return button

    @Slot()
    def _set_width(self) -> None:
        self._text_label.setFixedWidth(self._theme.metrics.scaled(_MAX_TEXT_WIDTH))

    def _lay_out(self) -> None:
        self._buttons.addStretch()
        self._buttons.insertStretch(0)
        text = QHBoxLayout()  # not an alignment: with one, a label that wraps gets too little height
        text.addStretch()
        text.addWidget(self._text_label)
        text.addStretch()
        layout = QVBoxLayout(self)
        layout.setSpacing(S)
        layout.setContentsMargins(L, L, L, L)
        layout.addStretch(2)
        layout.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(S)
        layout.addWidget(self._title_label)
        add_layout(layout, text)
        layout.addSpacing(M)
        add_layout(layout, self._buttons)
        layout.addStretch(3)
