"""Paints the rows of the table. Everything is laid out from the leading edge, so that it mirrors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from plantdesk.ui.plants.table.cells import PENDING, Column, cell_text
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.qt import override
from plantdesk.ui.texts import is_visible
from plantdesk.ui.theme.metrics import XS, M, S, tabular

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QSize

    from plantdesk.records import PlantRow
    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

_BAR = 3
_LEADING = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RowDelegate(QStyledItemDelegate):
    """Paints cells: ids with digits of equal width, tags as pills, and new rows highlighted."""

    def __init__(self, theme: Theme, is_new: Callable[[int], bool], parent: QObject | None = None) -> None:
        """Make a delegate; `is_new` is asked with an id."""
        super().__init__(parent)
        self._theme = theme
        self._is_new = is_new

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: PlantRow | None = index.data(PLANT_ROLE)
        painter.save()
        self._paint_background(painter, option, index, row)
        inner = option.rect.adjusted(M, 0, -M, -1)
        if row is None:
            side = _TRAILING if index.column() == Column.ID else _LEADING
            self._text(painter, option, inner, PENDING, "placeholder", side)
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
        colors, rect = self._theme.colors, option.rect
        new = row is not None and self._is_new(row.id)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, colors.color("selection"))
        elif new and self._theme.animated:
            painter.fillRect(rect, colors.color("ok_bg"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colors.color("row_line"))
        if new and index.column() == 0:
            bar = QRect(rect.left(), rect.top(), _BAR, rect.height() - 1)
            painter.fillRect(QStyle.visualRect(option.direction, rect, bar), colors.color("accent"))

    def _paint_content(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, row: PlantRow, column: Column
    ) -> None:
        match column:
            case Column.ID:
                painter.setFont(tabular(option.font))
                self._text(painter, option, rect, cell_text(row, column), "text_2", _TRAILING)
            case Column.NAME:
                color = "text" if is_visible(row.name) else "placeholder"
                self._text(painter, option, rect, cell_text(row, column), color, _LEADING)
            case Column.TAG if row.tag is not None:
                self._paint_tag(painter, option, rect, row.tag, cell_text(row, column))
            case _:
                painter.setFont(tabular(option.font))
                self._text(painter, option, rect, cell_text(row, column), "text_2", _LEADING)

    def _text(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        rect: QRect,
        text: str,
        color: str,
        side: Qt.AlignmentFlag,
    ) -> None:
        painter.setPen(self._theme.colors.color(color))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # “6:23 PM” stays so in a mirrored window
        painter.drawText(rect, QStyle.visualAlignment(option.direction, side), shown)

    def _paint_tag(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, tag: str, shown: str) -> None:
        """Paint a tag; one without a visible character only as an outline."""
        visible = is_visible(tag)
        metrics = QFontMetrics(option.font)
        text = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, rect.width() - 2 * S)
        height = min(metrics.height() + 2 * XS, rect.height() - XS)  # apart from the row above, also in compact rows
        top = rect.top() + (rect.height() - height) // 2
        pill = QRect(rect.left() - XS, top, metrics.horizontalAdvance(text) + 2 * S + 2, height)
        pill = QStyle.visualRect(option.direction, rect, pill)
        background, foreground = tag_colors(tag, dark=self._theme.colors.dark)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen if visible else self._theme.colors.color("border"))
        painter.setBrush(background if visible else Qt.BrushStyle.NoBrush)
        edge = 0.0 if visible else 0.5  # a line is centred on its pixels
        painter.drawRoundedRect(QRectF(pill).adjusted(edge, edge, -edge, -edge), height / 2, height / 2)
        painter.setPen(foreground if visible else self._theme.colors.color("text_2"))
        on_line = QRect(pill.left(), rect.top(), pill.width(), rect.height())  # level with the other cells' text
        painter.drawText(on_line, Qt.AlignmentFlag.AlignCenter, text)


@lru_cache(maxsize=1024)
def tag_colors(tag: str, *, dark: bool) -> tuple[QColor, QColor]:
    """Return background and text colour of a tag: always the same for a tag, with enough contrast for every hue."""
    hue = crc32(tag.encode()) % 360 / 360
    if dark:
        return QColor.fromHslF(hue, 0.30, 0.20), QColor.fromHslF(hue, 0.50, 0.86)
    return QColor.fromHslF(hue, 0.45, 0.90), QColor.fromHslF(hue, 0.60, 0.20)
