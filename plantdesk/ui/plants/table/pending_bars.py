"""Paints bars in the places of texts that are not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle

from plantdesk.ui.plants.table.cells import Column

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px; names differ in length.
_WIDTHS = {Column.ID: (34,), Column.NAME: (120, 173, 226, 149, 202, 125, 178, 231, 154, 207), Column.TAG: (60,)}
_HEIGHT = 10
_LEADING = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter


def paint_bar(
    painter: QPainter, theme: Theme, direction: Qt.LayoutDirection, cell: QRect, row: int, column: Column
) -> None:
    """Paint a bar into the inner rectangle of a cell; the columns that depend on times and sources stay empty."""
    widths = _WIDTHS.get(column)
    if widths is None:
        return
    width = min(theme.metrics.scaled(widths[row % len(widths)]), cell.width())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colors.color("line"))
    bar = QStyle.alignedRect(direction, _LEADING, QSize(width, _HEIGHT), cell)
    painter.drawRoundedRect(bar, _HEIGHT / 2, _HEIGHT / 2)
