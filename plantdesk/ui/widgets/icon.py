"""An icon beside a text that says what it means: screen readers skip it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import ICON

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from plantdesk.ui.theme.theme import Theme


class Icon(QWidget):
    """Follows the theme. No QLabel: its picture would be announced as an image without a name."""

    def __init__(self, theme: Theme, name: str | None = None, color: str = "text", size: int = ICON) -> None:
        """Show an icon, by Lucide's name and a colour's name; `size` is that beside text of 13 px."""
        super().__init__()
        self._theme, self._size = theme, size
        self._name, self._color = name, color
        if name is None:
            self.hide()
        theme.changed.connect(self._fit)
        self._fit()

    def show_icon(self, name: str | None, color: str = "text") -> None:
        """Show another icon; None: none, and take no room."""
        self._name, self._color = name, color
        self.setVisible(name is not None)
        self._fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._name is not None:
            icons, ratio = self._theme.icons, self.devicePixelRatioF()
            painter = QPainter(self)
            painter.drawPixmap(self.rect(), icons.pixmap(self._name, self._color, self.width(), ratio))
            painter.end()

    @Slot()
    def _fit(self) -> None:
        size = self._theme.metrics.scaled(self._size)
        self.setFixedSize(size, size)
        self.update()
