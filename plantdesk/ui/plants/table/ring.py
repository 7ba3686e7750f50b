"""A table of whole rows: their background, and the ring around the current one while the table has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QTableView

from plantdesk.ui.plants.table.highlights import RowHighlights
from plantdesk.ui.plants.table.row_background import RADIUS, RowBackground
from plantdesk.ui.plants.table.row_hover import RowHover
from plantdesk.ui.qt import override
from plantdesk.ui.widgets.reserved_scroll_bar import ReservedScrollBar

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QPersistentModelIndex
    from PySide6.QtGui import QFocusEvent, QPaintEvent
    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.plants.table.model import PlantModel
    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

_WIDTH = 2


class RingTable(QTableView):
    """A table with rows that look like one item."""

    def __init__(self, theme: Theme, plants: PlantModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ring_theme = theme
        self._is_opening = False
        ReservedScrollBar(self)
        self._highlights = RowHighlights(self)
        self._background = RowBackground(theme, plants, self._highlights, RowHover(self), self)

    def set_opening(self, *, opening: bool) -> None:
        """Show bars in the places of rows, which are there soon."""
        if opening is not self._is_opening:
            self._is_opening = opening
            self.viewport().update()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        if self.currentIndex().isValid():
            self._repaint_row(self.currentIndex())  # Qt's own method repaints all rows, which takes 10 ms
        else:
            super().focusInEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._repaint_row(self.currentIndex())

    @override
    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        for index in (current, previous):  # Qt repaints only the cells
            self._repaint_row(index)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._is_opening:
            self._background.paint_opening()
        self._background.paint(event.region())
        super().paintEvent(event)
        if self.hasFocus() and self.currentIndex().isValid():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._ring_theme.colors.color("focus"), _WIDTH))
            ring = self._background.rect(self.currentIndex().row()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(ring, RADIUS, RADIUS)
            painter.end()

    def _repaint_row(self, index: Index) -> None:
        if index.isValid():
            # At 150 % a row may end within a pixel, on which the ring has left some colour.
            shared = 0 if self.devicePixelRatioF().is_integer() else 1
            self.viewport().update(self._background.rect(index.row()).adjusted(0, -shared, 0, shared))
