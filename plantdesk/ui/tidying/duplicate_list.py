"""The list of plants that are alike: headings with a check mark, and cards side by side of which one is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate

from plantdesk.ui.qt import override
from plantdesk.ui.texts import translate
from plantdesk.ui.theme.metrics import ICON, XL, FontRole, M, S, tabular
from plantdesk.ui.tidying.duplicate_groups import ITEM_ROLE, note_text
from plantdesk.ui.widgets.containers import ReservedScrollBar
from plantdesk.ui.widgets.painting import draw_line, paint_pill, pill_size

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QMouseEvent
    from PySide6.QtWidgets import QStyleOptionViewItem

    from plantdesk.domain.records import PlantRow
    from plantdesk.ui.qt import Index
    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.tidying.duplicate_groups import DuplicateModel, Item

#: For text of 13 px.
_CARD_WIDTH = 207
_RADIUS = 8
#: Lines of a card, and what is around them.
_LINES, _AROUND = 4, 3 * S + 2 * M
_CURSOR = QAbstractItemView.CursorAction


class DuplicateList(QListView):
    """The view of a `DuplicateModel`. Up and Down go from group to group, Left and Right in a group, Space acts."""

    def __init__(self, model: DuplicateModel, theme: Theme) -> None:
        super().__init__()
        self._groups = model
        self._pressed = QPersistentModelIndex()
        self.setAccessibleName(self.tr("Plants that are alike"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", "strip")
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        ReservedScrollBar(self)
        self.setMouseTracking(True)
        self.setModel(model)
        self.setItemDelegate(_Delegate(model, theme, self))
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    @override
    def moveCursor(self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        row, is_mirrored = self.currentIndex().row(), self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if cursorAction in {_CURSOR.MoveUp, _CURSOR.MoveDown}:
            return self._heading(row, 1 if cursorAction == _CURSOR.MoveDown else -1)
        if cursorAction in {_CURSOR.MoveLeft, _CURSOR.MoveRight}:
            step = 1 if (cursorAction == _CURSOR.MoveRight) is not is_mirrored else -1
            return self._groups.index(min(max(0, row + step), self._groups.rowCount() - 1), 0)
        return super().moveCursor(cursorAction, modifiers)

    @override
    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if index.isValid() and index.data(ITEM_ROLE).row is None:  # with its first plants
            super().scrollTo(self._groups.index(index.row() + 1, 0), hint)
        super().scrollTo(index, hint)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._groups.act(self.currentIndex())
        else:
            super().keyPressEvent(event)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        self._pressed = QPersistentModelIndex(self.indexAt(event.position().toPoint()) if is_left else QModelIndex())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, QPersistentModelIndex()
        if pressed.isValid() and pressed == self.indexAt(event.position().toPoint()):
            self._groups.act(pressed)

    def _heading(self, row: int, step: int) -> QModelIndex:
        """Return the next heading in a direction, the present item where there is none."""
        at = row + step
        while 0 <= at < self._groups.rowCount():
            index = self._groups.index(at, 0)
            if index.data(ITEM_ROLE).row is None:
                return index
            at += step
        return self.currentIndex()


class _Delegate(QStyledItemDelegate):
    """Paints headings and cards. Everything is laid out from the leading edge, so that it mirrors."""

    def __init__(self, model: DuplicateModel, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._groups, self._theme, self._view = model, theme, view

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        metrics, width = self._theme.metrics, self._view.viewport().width()
        if index.data(ITEM_ROLE).row is None:
            return QSize(width, metrics.control + S)
        columns = max(1, width // (metrics.scaled(_CARD_WIDTH) + S))
        return QSize((width - 1) // columns, _LINES * metrics.line + _AROUND + S)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        item: Item = index.data(ITEM_ROLE)
        is_checked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
        has_ring = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if item.row is None:
            self._paint_heading(painter, option, index, item.group, is_checked=is_checked)
            self._paint_edge(painter, option.rect.adjusted(0, 2, -1, -2), "focus" if has_ring else "", 2)
        else:
            card = option.rect.adjusted(0, 0, -S, -S)
            painter.setBrush(self._theme.colors.color("surface"))
            color = "focus" if has_ring else "accent" if is_checked else "line"
            self._paint_edge(painter, card, color, 2 if has_ring or is_checked else 1)
            self._paint_card(painter, option, card.adjusted(M, S, -M, -S), item, item.row, is_kept=is_checked)
        painter.restore()

    def _paint_edge(self, painter: QPainter, rect: QRect, color: str, width: int) -> None:
        if color:
            half = width / 2
            painter.setPen(QPen(self._theme.colors.color(color), width))
            painter.drawRoundedRect(QRectF(rect).adjusted(half, half, -half, -half), _RADIUS, _RADIUS)

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, group: int, *, is_checked: bool
    ) -> None:
        size = self._theme.metrics.scaled(20)
        rect = option.rect.adjusted(S, 0, -S, 0)
        box = QRect(rect.left(), rect.center().y() - size // 2, size, size)
        self._paint_check(painter, QStyle.visualRect(option.direction, rect, box), is_checked=is_checked)
        text = rect.adjusted(size + S + 2, 0, 0, 0)
        painter.setFont(self._theme.font(weight=QFont.Weight.DemiBold))
        name, remark = str(index.data()), self._groups.remark(group)
        width = min(painter.fontMetrics().horizontalAdvance(name) + 2, text.width() * 2 // 3)
        name_rect = QRect(text.left(), text.top(), width, text.height())
        self._line(painter, option, rect, name_rect, name, "text" if is_checked else "text_2")
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._line(painter, option, rect, text.adjusted(width + M, 0, 0, 0), remark, "text_2")

    def _paint_check(self, painter: QPainter, box: QRect, *, is_checked: bool) -> None:
        colors = self._theme.colors
        painter.setPen(colors.color("accent" if is_checked else "border"))
        painter.setBrush(colors.color("accent" if is_checked else "surface"))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if is_checked:
            size = self._theme.metrics.scaled(ICON)
            pixmap = self._theme.icons.pixmap("check", "on_accent", size, self._view.devicePixelRatioF())
            painter.drawPixmap(
                QRect(box.center().x() - size // 2 + 1, box.center().y() - size // 2 + 1, size, size), pixmap
            )

    def _paint_card(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, item: Item, row: PlantRow, *, is_kept: bool
    ) -> None:
        color = "text" if self._groups.is_merged(item.group) else "text_2"
        step = rect.height() // _LINES
        rows = [QRect(rect.left(), rect.top() + at * step, rect.width(), step) for at in range(_LINES)]
        self._paint_title(painter, option, rows[0], row, is_kept=is_kept)
        name, added = self._groups.lines(row)
        painter.setFont(self._theme.font())
        self._line(painter, option, rect, rows[1], name, color)
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._line(painter, option, rect, rows[2], added, "text_2")
        left = rows[3]
        if row.tag is not None:
            size = pill_size(self._theme, row.tag)
            width = min(size.width(), rect.width() * 3 // 5)
            pill = QRect(left.left(), left.center().y() - size.height() // 2, width, size.height())
            paint_pill(painter, self._theme, QStyle.visualRect(option.direction, rect, pill), row.tag)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            left = left.adjusted(width + S, 0, 0, 0)
        painter.setFont(self._theme.font(FontRole.CAPTION, QFont.Weight.Normal))
        self._line(painter, option, rect, left, note_text(row), color if row.note else "text_2")

    def _paint_title(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, row: PlantRow, *, is_kept: bool
    ) -> None:
        """Paint the radio button, “Keep” on the plant that is kept, and the id."""
        size, colors = self._theme.metrics.scaled(ICON), self._theme.colors
        radio = QRectF(
            QStyle.visualRect(option.direction, rect, QRect(rect.left(), rect.center().y() - size // 2, size, size))
        )
        painter.setPen(QPen(colors.color("accent" if is_kept else "border"), 2 if is_kept else 1))
        painter.drawEllipse(radio.adjusted(1, 1, -1, -1))
        if is_kept:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent"))
            painter.drawEllipse(radio.adjusted(4.5, 4.5, -4.5, -4.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        text = rect.adjusted(size + S, 0, 0, 0)
        if is_kept:
            keep = translate("Duplicates", "Keep")
            painter.setFont(self._theme.font(weight=QFont.Weight.DemiBold))
            width = painter.fontMetrics().horizontalAdvance(keep)
            self._line(painter, option, rect, QRect(text.left(), text.top(), width + 1, text.height()), keep, "accent")
            text.setLeft(text.left() + width + XL)
        painter.setFont(tabular(self._theme.font()))
        plant_id = translate("Duplicates", "ID {id}").format(id=row.id)
        if is_kept:
            text.setLeft(max(text.left(), text.right() - 1 - painter.fontMetrics().horizontalAdvance(plant_id)))
        self._line(painter, option, rect, text, plant_id, "text_2")

    def _line(
        self, painter: QPainter, option: QStyleOptionViewItem, within: QRect, rect: QRect, text: str, color: str
    ) -> None:
        painter.setPen(self._theme.colors.color(color))
        draw_line(painter, QStyle.visualRect(option.direction, within, rect), text, option.direction)
