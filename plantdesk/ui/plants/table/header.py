"""The header of the table, fast also when a million rows are selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Slot
from PySide6.QtGui import QCursor, QFontMetrics, QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionHeader, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import XS, FontRole, M
from plantdesk.ui.widgets.wheel import Wheel

if TYPE_CHECKING:
    from plantdesk.ui.plants.table.model import PlantModel
    from plantdesk.ui.theme.theme import Theme

_Position = QStyleOptionHeader.SectionPosition
_ARROW = 12
#: Below the line.
_GAP = 4


class PlantHeader(QHeaderView):
    """A horizontal header that never asks whether a whole column is selected.

    The stock header asks that of every row for every section it paints: 20 s after Ctrl+A at a million rows. The arrow
    belongs to the rows: it moves when they are in the new order. A wheel is in its place while that takes long.
    """

    def __init__(self, theme: Theme, model: PlantModel, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._theme = theme
        self._plants = model
        self._wheel = Wheel(theme, self.viewport())
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        model.busy_changed.connect(self._on_busy_changed)
        model.count_changed.connect(self._on_count_changed)
        model.failed.connect(self._wheel.stop)

    @override
    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        option.section = logicalIndex
        option.text = self._text(logicalIndex)
        option.textAlignment = self.defaultAlignment()
        option.position = self._position(logicalIndex)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        colors = self._theme.colors
        is_sorted = self._plants.shown_query.column == logicalIndex
        is_sorting = self._wheel.is_shown and self._plants.query.column == logicalIndex
        painter.save()
        painter.fillRect(rect, colors.color("surface"))
        font = self._theme.font(FontRole.CAPTION)
        painter.setFont(font)
        painter.setPen(colors.color("text" if is_sorted or self._is_hovered(logicalIndex) else "text_2"))
        inner = rect.adjusted(M, 0, -M, -_GAP)
        room = inner.width() - (XS + self._theme.metrics.scaled(_ARROW) if is_sorted or is_sorting else 0)
        title = QFontMetrics(font).elidedText(self._text(logicalIndex), Qt.TextElideMode.ElideRight, room)
        painter.drawText(inner, QStyle.visualAlignment(self.layoutDirection(), self.defaultAlignment()), title)
        self._paint_line(painter, rect, logicalIndex)
        beside = QStyle.visualRect(self.layoutDirection(), inner, self._beside(painter, inner, title))
        if is_sorting:
            self._wheel.paint(painter, beside)
        elif is_sorted:
            self._paint_arrow(painter, beside)
        painter.restore()

    @Slot(bool)
    def _on_busy_changed(self, busy: bool) -> None:
        wanted, shown = self._plants.query, self._plants.shown_query
        if busy and (wanted.column, wanted.descending) != (shown.column, shown.descending):
            self._wheel.start()
        self.viewport().update()

    @Slot()
    def _on_count_changed(self) -> None:
        if self._plants.complete:
            self._wheel.stop()

    def _paint_line(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Paint the line under the headings, from the start of the text to its end."""
        shown = [each for each in range(self.count()) if not self.isSectionHidden(each)]
        start, end = M if section == shown[0] else 0, M if section == shown[-1] else 0
        line = QRect(rect.left() + start, rect.bottom() - _GAP, rect.width() - start - end, 1)
        line = QStyle.visualRect(self.layoutDirection(), rect, line)
        painter.fillRect(line, self._theme.colors.color("line"))

    def _beside(self, painter: QPainter, inner: QRect, title: str) -> QRect:
        """Return the place beside the title; the end of the section would be beside the next title."""
        x = inner.left() + painter.fontMetrics().horizontalAdvance(title) + XS
        size = self._theme.metrics.scaled(_ARROW)
        return QRect(x, inner.center().y() - size // 2 + 1, size, size)

    def _paint_arrow(self, painter: QPainter, rect: QRect) -> None:
        name = "chevron-down" if self._plants.shown_query.descending else "chevron-up"
        pixmap = self._theme.icons.pixmap(name, "text_2", rect.width(), self.devicePixelRatioF())
        painter.drawPixmap(rect, pixmap)

    def _is_hovered(self, section: int) -> bool:
        position = self.viewport().mapFromGlobal(QCursor.pos())
        return self.viewport().underMouse() and self.logicalIndexAt(position) == section

    def _text(self, section: int) -> str:
        return str(self.model().headerData(section, self.orientation(), Qt.ItemDataRole.DisplayRole) or "")

    def _position(self, section: int) -> QStyleOptionHeader.SectionPosition:
        position, last = self.visualIndex(section), self.count() - 1
        if last == 0:
            return _Position.OnlyOneSection
        return {0: _Position.Beginning, last: _Position.End}.get(position, _Position.Middle)
