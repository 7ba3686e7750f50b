"""Empty-state page: icon, title, text, buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.ui.theme.metrics import ICON_LARGE, L, M, S
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

_MAX_TEXT_WIDTH = 420


class StatePage(QWidget):
    """Icon, title, text and buttons, centred."""

    def __init__(self, theme: Theme, picture: str, color: str, title: str, parent: QWidget | None = None) -> None:
        """Make a page; `picture` is an icon's name and `color` a colour's."""
        super().__init__(parent)
        self._theme = theme
        self._picture = picture
        self._color = color
        self._picture_label = PlainLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self._title_label = PlainLabel(title, role="empty-title", alignment=Qt.AlignmentFlag.AlignCenter)
        self._text_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._text_label.setFixedWidth(_MAX_TEXT_WIDTH)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(S)
        self._lay_out()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

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
    def _on_theme_changed(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture_label.setPixmap(self._theme.icons.pixmap(self._picture, self._color, ICON_LARGE, ratio))

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
        layout.addWidget(self._picture_label)
        layout.addSpacing(S)
        layout.addWidget(self._title_label)
        layout.addLayout(text)
        layout.addSpacing(M)
        layout.addLayout(self._buttons)
        layout.addStretch(3)
