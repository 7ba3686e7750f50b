"""The ring around the current row of a table that has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QTableView

from plantdesk.ui.plants.table.delegate import RADIUS
from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect
    from PySide6.QtGui import QFocusEvent, QPaintEvent
    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

_WIDTH = 2


class RingTable(QTableView):
    """A table with rows that look like one item."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ring_theme = theme

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
        super().paintEvent(event)
        if self.hasFocus() and self.currentIndex().isValid():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._ring_theme.colors.color("focus"), _WIDTH))
            painter.drawRoundedRect(self._row_rect(self.currentIndex()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
            painter.end()

    def _repaint_row(self, index: Index) -> None:
        if index.isValid():
            self.viewport().update(self._row_rect(index))

    def _row_rect(self, index: Index) -> QRect:
        shown = [column for column in range(self.model().columnCount()) if not self.isColumnHidden(column)]
        first, last = (self.visualRect(index.sibling(index.row(), column)) for column in (shown[0], shown[-1]))
        return first.united(last)
