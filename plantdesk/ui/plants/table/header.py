"""The header of the table, fast also when a million rows are selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionHeader, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import XS, FontRole, M

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

_Position = QStyleOptionHeader.SectionPosition
_ARROW = 14


class PlantHeader(QHeaderView):
    """A horizontal header that never asks whether a whole column is selected.

    The stock header asks that of every row for every section it paints: 20 s after Ctrl+A at a million rows.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._theme = theme
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    @override
    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        option.section = logicalIndex
        option.text = self._text(logicalIndex)
        option.textAlignment = self._alignment(logicalIndex)
        option.position = self._position(logicalIndex)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        painter.save()
        super().paintSection(painter, rect, logicalIndex)
        painter.restore()
        if self.isSortIndicatorShown() and self.sortIndicatorSection() == logicalIndex:
            self._paint_arrow(painter, rect, logicalIndex)

    def _paint_arrow(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Paint the sort arrow beside the title; at the end of the section it would be beside the next title."""
        width = QFontMetrics(self._theme.font(FontRole.CAPTION)).horizontalAdvance(self._text(section))
        trailing = bool(self._alignment(section) & Qt.AlignmentFlag.AlignRight)
        x = rect.right() - M - width - XS - _ARROW if trailing else rect.left() + M + width + XS
        arrow = QRect(x, rect.center().y() - _ARROW // 2 + 1, _ARROW, _ARROW)
        up = self.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
        name = "chevron-up" if up else "chevron-down"
        pixmap = self._theme.icons.pixmap(name, "text_2", _ARROW, self.devicePixelRatioF())
        painter.drawPixmap(QStyle.visualRect(self.layoutDirection(), rect, arrow), pixmap)

    def _text(self, section: int) -> str:
        return str(self.model().headerData(section, self.orientation(), Qt.ItemDataRole.DisplayRole) or "")

    def _alignment(self, section: int) -> Qt.AlignmentFlag:
        alignment = self.model().headerData(section, self.orientation(), Qt.ItemDataRole.TextAlignmentRole)
        return alignment if isinstance(alignment, Qt.AlignmentFlag) else self.defaultAlignment()

    def _position(self, section: int) -> QStyleOptionHeader.SectionPosition:
        position, last = self.visualIndex(section), self.count() - 1
        if last == 0:
            return _Position.OnlyOneSection
        return {0: _Position.Beginning, last: _Position.End}.get(position, _Position.Middle)
