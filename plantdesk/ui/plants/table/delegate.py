"""Paints cells, row backgrounds and marks of new rows, mirrored in right-to-left layouts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from time import monotonic

from PySide6.QtCore import QObject, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView
from typing_extensions import override

from plantdesk.domain.records import PlantRow
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PLANT_ROLE, PlantModel
from plantdesk.ui.qt import Index
from plantdesk.ui.texts import is_visible
from plantdesk.ui.theme.colors import mix_colors
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.painting import draw_line, paint_pill, pill_size

#: The corners of a row's background.
RADIUS = 6
_BAR_SIZE = QSize(3, 20)
#: Seconds for which a new row is tinted, and marked by a bar.
_TINT_SECONDS = 2.0
_MARK_SECONDS = 10.0
_MAX_MARKED = 500


class RowBackground(QObject):
    """Paints behind the cells: selection as one block, hover, lines, and marks of new rows."""

    def __init__(self, theme: Theme, model: PlantModel, table: QTableView) -> None:
        super().__init__(table)
        self._theme = theme
        self._model = model
        self._table = table
        self._added: dict[int, float] = {}
        self._marks_timer = QTimer(self, interval=250)
        self._marks_timer.timeout.connect(self._remove_old_marks)
        #: The row under the pointer, -1 if there is none.
        self.hovered = -1

    def mark(self, plant_ids: Iterable[int]) -> None:
        """Mark plants as new for ten seconds; of very many, only the first ones."""
        room = max(_MAX_MARKED - len(self._added), 0)
        self._added |= dict.fromkeys(islice(plant_ids, room), monotonic())
        self._marks_timer.start()
        self._table.viewport().update()

    @Slot()
    def _remove_old_marks(self) -> None:
        oldest = monotonic() - _MARK_SECONDS
        self._added = {plant_id: added for plant_id, added in self._added.items() if added > oldest}
        self._table.viewport().update()
        if not self._added:
            self._marks_timer.stop()

    def paint(self, area: QRect) -> None:
        """Paint the backgrounds of the rows that are in `area`, a rectangle of the viewport."""
        painter = QPainter(self._table.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for row in self._rows_in(area):
            painter.setClipRect(self.row_rect(row))
            self._paint_row(painter, row)
        painter.end()

    def row_rect(self, row: int) -> QRect:
        """Return the rectangle of a row in the viewport."""
        table = self._table
        header = self._table.horizontalHeader()
        rect = QRect(-header.offset(), table.rowViewportPosition(row), header.length(), table.rowHeight(row))
        return QStyle.visualRect(table.layoutDirection(), table.viewport().rect(), rect)

    def _rows_in(self, rect: QRect) -> range:
        first = self._table.rowAt(rect.top())
        last = self._table.rowAt(rect.bottom())
        return range(first, last + 1) if last >= 0 else range(first, self._model.rowCount() if first >= 0 else first)

    def _paint_row(self, painter: QPainter, row: int) -> None:
        """Paint the background of a row, or the line below it, and the bar that marks it as new."""
        rect = self.row_rect(row)
        plant_id = self._model.id_at(row)
        color = self._background_color(row, plant_id)
        if color is not None:
            joins_above, joins_below = (self._is_selected(row) and self._is_selected(row + step) for step in (-1, 1))
            block = rect.adjusted(0, -RADIUS if joins_above else 0, 0, RADIUS if joins_below else 0)
            painter.setBrush(color)
            painter.drawRoundedRect(block, RADIUS, RADIUS)
        elif row + 1 != self.hovered and not self._is_selected(row + 1):
            line = rect.adjusted(M, rect.height() - 1, -M, 0)
            painter.fillRect(line, self._theme.colors.color("row_line"))
        if plant_id in self._added:
            bar = QRect(rect.left(), rect.top() + (rect.height() - _BAR_SIZE.height()) // 2, *_BAR_SIZE.toTuple())
            painter.setBrush(self._theme.colors.color("accent"))
            radius = _BAR_SIZE.width() / 2
            painter.drawRoundedRect(QStyle.visualRect(self._table.layoutDirection(), rect, bar), radius, radius)

    def _background_color(self, row: int, plant_id: int) -> QColor | None:
        colors = self._theme.colors
        if self._is_selected(row):
            return colors.color("selection")
        if monotonic() - self._added.get(plant_id, float("-inf")) < _TINT_SECONDS:
            return mix_colors(colors.color("ok_bg"), colors.color("surface"), 0.7)
        return colors.hover() if row == self.hovered else None

    def _is_selected(self, row: int) -> bool:
        is_row = 0 <= row < self._model.rowCount()
        return is_row and self._table.selectionModel().isSelected(self._model.index(row, 0))


class RowDelegate(QStyledItemDelegate):
    """Paints texts, and tags as pills. `RowBackground` paints the background of the cells."""

    def __init__(self, theme: Theme, table: QTableView) -> None:
        super().__init__(table)
        self._theme = theme

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: PlantRow | None = index.data(PLANT_ROLE)
        painter.save()
        inner = option.rect.adjusted(M, 0, -M, -1)
        if row is not None and row.tag is not None and index.column() == Column.TAG:
            self._paint_tag(painter, option, inner, row.tag)
        else:
            color = "text" if index.column() == Column.NAME else "muted"
            if row is None or (index.column() == Column.NAME and not is_visible(row.name)):
                color = "placeholder"
            painter.setPen(self._theme.colors.color(color))
            draw_line(painter, inner, index.data(), option.direction)
        painter.restore()

    def _paint_tag(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, tag: str) -> None:
        """Paint a tag as a pill, its text aligned with other texts."""
        size = pill_size(self._theme, tag)
        height = min(size.height(), rect.height() - XS)  # not touching the row above, even in compact rows
        top = rect.top() + (rect.height() - height) // 2
        pill = QRect(rect.left() - S, top, min(size.width(), rect.width() + S), height)
        pill = QStyle.visualRect(option.direction, rect, pill)
        paint_pill(painter, self._theme, pill, tag, selected=bool(option.state & QStyle.StateFlag.State_Selected))
