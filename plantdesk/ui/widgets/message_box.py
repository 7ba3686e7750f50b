"""A message box in plain text and the style of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.ui.qt import add_layout
from plantdesk.ui.theme.metrics import ICON_LARGE, XL, XXL, M, S
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.icon import Icon
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_TEXT_WIDTH = 380


class MessageBox(Dialog):
    """Shows an icon, a sentence, its details, and buttons. Escape closes it like its last button.

    Open it with `open`: `exec` would run a nested event loop.
    """

    def __init__(self, theme: Theme, title: str, text: str, details: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._text = PlainLabel(text, role="strong", wrapped=True)
        self._details = PlainLabel(details, tone="muted", wrapped=True)
        self._details.setVisible(bool(details))
        for label in (self._text, self._details):
            label.setFixedWidth(theme.metrics.scaled(_TEXT_WIDTH))
        self._icon = Icon(theme, size=ICON_LARGE)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(S)
        self._buttons.addStretch(1)
        self._lay_out()

    @property
    def text(self) -> str:
        """The sentence."""
        return self._text.text()

    def set_icon(self, name: str, color: str) -> None:
        """Show an icon of the theme beside the text."""
        self._icon.show_icon(name, color)

    def add_button(self, label: str) -> QPushButton:
        """Add a button, which closes the box when it is pressed. The last one has the focus at first."""
        button = QPushButton(label)
        button.clicked.connect(self.accept)
        self._buttons.addWidget(button)
        button.setFocus()
        return button

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(S)
        texts.addWidget(self._text)
        texts.addWidget(self._details)
        texts.addStretch(1)
        head = QHBoxLayout()
        head.setSpacing(M)
        head.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignTop)
        add_layout(head, texts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(XXL, XL, XXL, XL)
        layout.setSpacing(XL)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
        add_layout(layout, head)
        add_layout(layout, self._buttons)
