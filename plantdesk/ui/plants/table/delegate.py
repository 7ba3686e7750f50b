"""Paints the cells of the table. Everything is laid out from the leading edge, so that it mirrors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from plantdesk.ui.plants.table.cells import Column, cell_text
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.plants.table.pending_bars import paint_bar
from plantdesk.ui.qt import override
from plantdesk.ui.texts import is_visible
from plantdesk.ui.theme.metrics import XS, M, S, tabular
from plantdesk.ui.widgets.line_painting import draw_line
from plantdesk.ui.widgets.tag_pill import paint_pill, pill_size

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Paints cells: ids with digits of equal width, tags as pills. `RowBackground` paints what is behind them."""

    def __init__(self, theme: Theme, table: QTableView) -> None:
        """Make a delegate for the rows of `table`."""
        super().__init__(table)
        self._theme = theme
        self._font = QFont()
        self._digits = tabular(self._font)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: PlantRow | None = index.data(PLANT_ROLE)
        painter.save()
        inner = option.rect.adjusted(M, 0, -M, -1)
        if row is None:
            paint_bar(painter, self._theme, option.direction, inner, index.row(), Column(index.column()))
        else:
            self._paint_content(painter, option, inner, row, Column(index.column()))
        painter.restore()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        size.setHeight(self._theme.metrics.row)
        return size

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
                painter.setFont(self._with_equal_digits(option.font))
                self._text(painter, option, rect, cell_text(row, column), "text_2")

    def _with_equal_digits(self, font: QFont) -> QFont:
        if font != self._font:  # kept: a new one is matched with the system's fonts again, for each cell
            self._font, self._digits = QFont(font), tabular(font)  # the font of the option goes with it
        return self._digits

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
