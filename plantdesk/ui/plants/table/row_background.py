"""Paints what is behind the cells of the table: each row as a whole, once, rather than in every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle

from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.pending_bars import paint_bar
from plantdesk.ui.theme.colors import mixed
from plantdesk.ui.theme.metrics import M

if TYPE_CHECKING:
    from PySide6.QtGui import QColor, QRegion
    from PySide6.QtWidgets import QTableView

    from plantdesk.ui.plants.table.highlights import RowHighlights
    from plantdesk.ui.plants.table.model import PlantModel
    from plantdesk.ui.plants.table.row_hover import RowHover
    from plantdesk.ui.theme.theme import Theme

#: The corners of a row's background.
RADIUS = 6
_BAR = QSize(3, 20)


class RowBackground:
    """Paints selection, pointer, new rows, and the lines between rows. Neighbours that are selected join."""

    def __init__(
        self, theme: Theme, plants: PlantModel, highlights: RowHighlights, hover: RowHover, table: QTableView
    ) -> None:
        """Paint the rows of `table`, whose model is `plants`."""
        self._theme = theme
        self._plants = plants
        self._highlights = highlights
        self._hover = hover
        self._table = table

    def paint(self, region: QRegion) -> None:
        """Paint the rows that are in a region of the viewport."""
        painter = QPainter(self._table.viewport())
        painter.setPen(Qt.PenStyle.NoPen)
        for row in self._rows(region.boundingRect()):
            if region.intersects(self.rect(row)):
                self._paint_row(painter, row)
        painter.end()

    def paint_opening(self) -> None:
        """Paint the rows of a table whose plants are not there yet."""
        table, header = self._table, self._table.horizontalHeader()
        height, visible = table.verticalHeader().defaultSectionSize(), table.viewport().rect()
        painter = QPainter(table.viewport())
        for row in range(visible.height() // height + 1):
            whole = QRect(0, row * height, header.length(), height)
            line = QStyle.visualRect(table.layoutDirection(), visible, whole).adjusted(M, height - 1, -M, 0)
            painter.fillRect(line, self._theme.colors.color("row_line"))
            for column in Column:
                cell = QRect(table.columnViewportPosition(column), whole.top(), table.columnWidth(column), height)
                inner = cell.adjusted(M, 0, -M, -1)
                if not table.isColumnHidden(column):
                    paint_bar(painter, self._theme, table.layoutDirection(), inner, row, column)
        painter.end()

    def rect(self, row: int) -> QRect:
        """Return where a row is in the viewport."""
        table, header = self._table, self._table.horizontalHeader()
        rect = QRect(-header.offset(), table.rowViewportPosition(row), header.length(), table.rowHeight(row))
        return QStyle.visualRect(table.layoutDirection(), table.viewport().rect(), rect)

    def _rows(self, rect: QRect) -> range:
        """Return the rows in a rectangle; below the last row there is none."""
        first, last = self._table.rowAt(rect.top()), self._table.rowAt(rect.bottom())
        return range(first, last + 1) if last >= 0 else range(first, self._plants.rowCount() if first >= 0 else first)

    def _paint_row(self, painter: QPainter, row: int) -> None:
        rect, plant_id = self.rect(row), self._plants.id_at(row)
        color = self._color(row, plant_id)
        if color is not None:
            above, below = (self._is_selected(row) and self._is_selected(row + step) for step in (-1, 1))
            joined = rect.adjusted(0, -RADIUS if above else 0, 0, RADIUS if below else 0)
            _fill_rounded(painter, rect, joined, color, RADIUS)
        elif row + 1 != self._hover.row and not self._is_selected(row + 1):
            line = rect.adjusted(M, rect.height() - 1, -M, 0)
            painter.fillRect(line, self._theme.colors.color("row_line"))
        if self._highlights.is_marked(plant_id):
            bar = QRect(rect.left(), rect.top() + (rect.height() - _BAR.height()) // 2, *_BAR.toTuple())
            bar = QStyle.visualRect(self._table.layoutDirection(), rect, bar)
            _fill_rounded(painter, rect, bar, self._theme.colors.color("accent"), _BAR.width() / 2)

    def _color(self, row: int, plant_id: int) -> QColor | None:
        colors = self._theme.colors
        if self._is_selected(row):
            return colors.color("selection")
        if self._theme.animated and self._highlights.is_tinted(plant_id):
            return mixed(colors.color("ok_bg"), colors.color("surface"), 0.7)
        return colors.hover() if row == self._hover.row else None

    def _is_selected(self, row: int) -> bool:
        within = 0 <= row < self._plants.rowCount()
        return within and self._table.selectionModel().isSelected(self._plants.index(row, 0))


def _fill_rounded(painter: QPainter, row: QRect, rect: QRect, color: QColor, radius: float) -> None:
    """Fill the part of a rounded rectangle that is in its row."""
    painter.save()
    painter.setClipRect(row)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(color)
    painter.drawRoundedRect(rect, radius, radius)
    painter.restore()
