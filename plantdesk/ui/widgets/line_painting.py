"""Paints lines of text in cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QStyle

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

_PLACE = (
    Qt.AlignmentFlag.AlignLeft
    | Qt.AlignmentFlag.AlignVCenter
    | Qt.AlignmentFlag.AlignAbsolute
    | Qt.TextFlag.TextDontClip
)


def draw_line(
    painter: QPainter,
    rect: QRect,
    text: str,
    direction: Qt.LayoutDirection,
    alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    """Draw a line of text, elided. It begins at a whole pixel: text that ends at one is blurred."""
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    left = QRect(rect)
    if QStyle.visualAlignment(direction, alignment) & Qt.AlignmentFlag.AlignRight:
        left.setLeft(rect.right() + 1 - metrics.horizontalAdvance(shown))
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # “6:23 PM” stays so in a mirrored window
    painter.drawText(left, _PLACE, shown)
