"""The heading of a part that can be collapsed: a chevron, a title, and a remark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


class CollapsibleHeader(QWidget):
    """Shows or hides `content`, which follows it in the layout. `toggled`: it was expanded or collapsed."""

    toggled = Signal()

    def __init__(self, theme: Theme, title: str, content: QWidget) -> None:
        """Make the heading of `content`, which is collapsed."""
        super().__init__()
        self._theme = theme
        self._content = content
        self._button = QPushButton(title)
        self._button.setProperty("variant", "collapse")
        self._button.clicked.connect(self.toggle)
        self._remark = PlainLabel(tone="muted")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(S)
        self._row.addWidget(self._button)
        self._row.addWidget(self._remark, 1)
        self.set_open(is_open=False)

    @property
    def is_open(self) -> bool:
        """Whether the content is shown."""
        return not self._content.isHidden()

    def set_remark(self, text: str) -> None:
        """Show a text beside the title."""
        self._remark.setText(text)

    def add(self, widget: QWidget) -> None:
        """Show a widget at the end of the heading."""
        self._row.addWidget(widget)

    def set_open(self, *, is_open: bool) -> None:
        """Show or hide the content."""
        self._content.setVisible(is_open)
        self._theme.icons.put_on(self._button, "chevron-down" if is_open else "chevron-right", "text_2")
        state = self.tr("shown") if is_open else self.tr("hidden")
        self._button.setAccessibleDescription(state)
        self.toggled.emit()

    @Slot()
    def toggle(self) -> None:
        """Show the content, or hide it."""
        self.set_open(is_open=not self.is_open)
