"""Paints the rows of the table. Everything is laid out from the leading edge, so that it mirrors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from plantdesk.ui.plants.table.cells import PENDING, Column, cell_text
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.qt import override
from plantdesk.ui.texts import is_visible
from plantdesk.ui.theme.colors import mixed
from plantdesk.ui.theme.metrics import XS, M, S, tabular
from plantdesk.ui.widgets.line_painting import draw_line
from plantdesk.ui.widgets.tag_pill import paint_pill, pill_size

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from plantdesk.records import PlantRow
    from plantdesk.ui.plants.table.highlights import RowHighlights
    from plantdesk.ui.plants.table.row_hover import RowHover
    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

#: The corners of a row's background.
RADIUS = 6
_BAR = QSize(3, 20)


class RowDelegate(QStyledItemDelegate):
    """Paints cells: ids with digits of equal width, tags as pills, and the background of whole rows."""

    def __init__(self, theme: Theme, highlights: RowHighlights, hover: RowHover, table: QTableView) -> None:
        """Make a delegate for the rows of `table`."""
        super().__init__(table)
        self._theme = theme
        self._highlights = highlights
        self._hover = hover
        self._table = table

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: PlantRow | None = index.data(PLANT_ROLE)
        painter.save()
        self._paint_background(painter, option, index, row)
        inner = option.rect.adjusted(M, 0, -M, -1)
        if row is None:
            self._text(painter, option, inner, PENDING, "placeholder")
        else:
            self._paint_content(painter, option, inner, row, Column(index.column()))
        painter.restore()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        size.setHeight(self._theme.metrics.row)
        return size

    def _paint_background(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: PlantRow | None
    ) -> None:
        """Paint the part of the row's background that is in this cell: its ends are round, neighbours join."""
        color = self._background(option, index, row)
        starts, ends = self._ends(index.column())
        if color is not None:
            rect = option.rect.adjusted(0 if starts else -RADIUS, 0, 0 if ends else RADIUS, 0)
            joins = option.state & QStyle.StateFlag.State_Selected
            above, below = (joins and self._is_selected(index.row() + step) for step in (-1, 1))
            rect.adjust(0, -RADIUS if above else 0, 0, RADIUS if below else 0)
            self._fill_rounded(painter, option, QStyle.visualRect(option.direction, option.rect, rect), color, RADIUS)
        if color is None and not self._is_filled(index.row() + 1):
            line = option.rect.adjusted(M if starts else 0, option.rect.height() - 1, -M if ends else 0, 0)
            line = QStyle.visualRect(option.direction, option.rect, line)
            painter.fillRect(line, self._theme.colors.color("row_line"))
        if row is not None and starts and self._highlights.is_marked(row.id):
            top = option.rect.top() + (option.rect.height() - _BAR.height()) // 2
            bar = QRect(option.rect.left(), top, *_BAR.toTuple())
            bar = QStyle.visualRect(option.direction, option.rect, bar)
            self._fill_rounded(painter, option, bar, self._theme.colors.color("accent"), _BAR.width() / 2)

    def _background(self, option: QStyleOptionViewItem, index: Index, row: PlantRow | None) -> QColor | None:
        colors = self._theme.colors
        if option.state & QStyle.StateFlag.State_Selected:
            return colors.color("selection")
        if row is not None and self._theme.animated and self._highlights.is_tinted(row.id):
            return mixed(colors.color("ok_bg"), colors.color("surface"), 0.7)
        if index.row() == self._hover.row:
            return colors.hover()
        return None

    def _fill_rounded(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, color: QColor, radius: float
    ) -> None:
        painter.save()
        painter.setClipRect(option.rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(rect, radius, radius)
        painter.restore()

    def _ends(self, column: int) -> tuple[bool, bool]:
        """Whether a column is the first, and the last, that is shown."""
        shown = [each for each in Column if not self._table.isColumnHidden(each)]
        return column == shown[0], column == shown[-1]

    def _is_selected(self, row: int) -> bool:
        model = self._table.model()
        return 0 <= row < model.rowCount() and self._table.selectionModel().isSelected(model.index(row, 0))

    def _is_filled(self, row: int) -> bool:
        return row == self._hover.row or self._is_selected(row)

    def _paint_content(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, row: PlantRow, column: Column
    ) -> None:
        match column:
            case Column.NAME:
                color = "text" if is_visible(row.name) else "placeholder"
                self._text(painter, option, rect, cell_text(row, column), color)
            case Column.TAG if row.tag is not None:
                self._paint_tag(painter, option, rect, row.tag)
            case _:
                painter.setFont(tabular(option.font))
                self._text(painter, option, rect, cell_text(row, column), "text_2")

    def _text(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, text: str, color: str) -> None:
        painter.setPen(self._theme.colors.color(color))
        draw_line(painter, rect, text, option.direction)

    def _paint_tag(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, tag: str) -> None:
        """Paint a tag, whose text begins where other texts begin."""
        size = pill_size(self._theme, tag)
        height = min(size.height(), rect.height() - XS)  # apart from the row above, also in compact rows
        top = rect.top() + (rect.height() - height) // 2
        pill = QRect(rect.left() - S, top, min(size.width(), rect.width() + S), height)
        pill = QStyle.visualRect(option.direction, rect, pill)
        paint_pill(painter, self._theme, pill, tag, selected=bool(option.state & QStyle.StateFlag.State_Selected))
