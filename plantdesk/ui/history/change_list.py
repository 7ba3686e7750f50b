"""The list of the history: two lines for each change, and its action at the end of the row."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu, QStyle, QStyledItemDelegate

from plantdesk.domain.history import ChangeKind
from plantdesk.ui.history.model import ENTRY_ROLE, action_text, detail_text, title_text, widest_clock
from plantdesk.ui.qt import override
from plantdesk.ui.texts import clock_time
from plantdesk.ui.theme.metrics import ICON, XS, FontRole, L, M, S, tabular
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.plain_table import is_menu_key, menu_position

if TYPE_CHECKING:
    from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
    from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

    from plantdesk.domain.history import HistoryEntry
    from plantdesk.ui.history.model import HistoryModel
    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

_ICONS = {
    ChangeKind.DELETE: "trash-2",
    ChangeKind.INSERT: "plus",
    ChangeKind.IMPORT: "file-down",
    ChangeKind.RESTORE: "refresh-cw",
    ChangeKind.TAG: "tag",
    ChangeKind.MERGE: "merge",
    ChangeKind.NOTE: "sticky-note",
}
_LEADING = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RADIUS, _RING = 6, 2
#: Border and padding of the style sheet.
_FRAME = 6
#: For text of 13 px.
_MAX_HEIGHT = 510


class ChangeList(QListView):
    """The view of a `HistoryModel`. `action_requested(change)`: Enter, Space, a link or a menu: take this back."""

    action_requested = Signal(object)

    def __init__(self, model: HistoryModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes = model
        self._theme = theme
        self._delegate = _ChangeDelegate(theme, self)
        self._pressed = QPersistentModelIndex()  # the change whose action is being clicked
        self.setAccessibleName(self.tr("Changes"))
        self.setProperty("card", "true")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(False)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def current_number(self) -> int | None:
        """Return the number of the current change."""
        entry = self._changes.entry_at(self.currentIndex().row())
        return None if entry is None else entry.change.number

    @override
    def sizeHint(self) -> QSize:
        """Return the size at which nothing is to be scrolled, within a limit."""
        width, height = super().sizeHint().width(), _FRAME
        limit = self._theme.metrics.scaled(_MAX_HEIGHT)
        for row in range(self._changes.rowCount()):
            height += self.sizeHintForRow(row)
            if height >= limit:
                return QSize(width, limit)
        return QSize(width, height)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS or event.key() == Qt.Key.Key_Space:
            self._act(self.currentIndex())
        elif is_menu_key(event):
            self._open_menu(menu_position(self, self.currentIndex()))
        else:
            super().keyPressEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, QPersistentModelIndex()
        link = self._link_at(event)
        if link.isValid() and pressed == link:
            self._act(link)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        self._pressed = QPersistentModelIndex(self._link_at(event) if is_left else QModelIndex())

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ignore the second press: another change may have come to lie under the pointer."""
        super().mouseDoubleClickEvent(event)
        self._pressed = QPersistentModelIndex()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        on_link = self._link_at(event).isValid()
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if on_link else Qt.CursorShape.ArrowCursor)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._open_menu(menu_position(self, self.currentIndex(), event))

    def _open_menu(self, position: QPoint) -> None:
        index = self.currentIndex()
        entry = self._changes.entry_at(index.row())
        text = "" if entry is None else action_text(entry)
        if text:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(text).triggered.connect(partial(self._act, QPersistentModelIndex(index)))
            menu.popup(position)

    def link_rect(self, row: int) -> QRect:
        """Return where the action of a row is; empty where it has none."""
        return self._link_rect(self._changes.index(row, 0))

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        if value == self.verticalScrollBar().maximum() and self._changes.canFetchMore(QModelIndex()):
            self._changes.fetchMore(QModelIndex())

    def _link_at(self, event: QMouseEvent) -> QModelIndex:
        """Return the change whose action is under the pointer."""
        index = self.indexAt(event.position().toPoint())
        return index if self._link_rect(index).contains(event.position().toPoint()) else QModelIndex()

    def _link_rect(self, index: QModelIndex) -> QRect:
        entry = self._changes.entry_at(index.row())
        text = "" if entry is None else action_text(entry)
        return self._delegate.link_rect(self.visualRect(index), text) if text else QRect()

    def _act(self, index: Index) -> None:
        entry = self._changes.entry_at(index.row())
        if entry is not None and action_text(entry):
            self.action_requested.emit(entry.last)


class _ChangeDelegate(QStyledItemDelegate):
    """Paints headings and changes. Everything is laid out from the leading edge, so that it mirrors."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def link_rect(self, rect: QRect, text: str) -> QRect:
        """Return the place of the action in a row, whose text ends where the lines do."""
        width = QFontMetrics(self._strong_font()).horizontalAdvance(text) + 2 * S
        link = QRect(rect.right() + 1 - M + S - width, rect.top() + XS, width, rect.height() - 2 * XS)
        return QStyle.visualRect(self._view.layoutDirection(), rect, link)

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        metrics = self._theme.metrics
        is_heading = index.data(ENTRY_ROLE) is None
        return QSize(100, metrics.control if is_heading else 2 * metrics.line + L)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        entry: HistoryEntry | None = index.data(ENTRY_ROLE)
        inner = option.rect.adjusted(M, 0, -M, 0)
        if entry is None:
            painter.setFont(self._theme.font(FontRole.CAPTION))
            self._text(painter, option, inner, inner.adjusted(0, S, 0, 0), str(index.data()), "text_2")
        else:
            self._paint_background(painter, option, index)
            self._paint_change(painter, option, inner, entry)
        painter.restore()

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors, rect = self._theme.colors, option.rect.adjusted(XS, 0, -XS, 0)
        selected = option.state & QStyle.StateFlag.State_Selected
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("selection") if selected else colors.hover())
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        elif index.sibling(index.row() + 1, 0).data(ENTRY_ROLE) is not None:
            painter.fillRect(rect.adjusted(S, rect.height() - 1, -S, 0), colors.color("row_line"))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(colors.color("focus"), _RING))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    def _paint_change(self, painter: QPainter, option: QStyleOptionViewItem, inner: QRect, entry: HistoryEntry) -> None:
        clock = QFontMetrics(tabular(option.font)).horizontalAdvance(widest_clock()) + L
        line, size = self._theme.metrics.line, self._theme.metrics.scaled(ICON)
        painter.setFont(tabular(option.font))
        clock_rect = QRect(inner.left(), inner.top(), clock, inner.height())
        self._text(painter, option, inner, clock_rect, clock_time(entry.change.made_at), "text_2")
        icon = QRect(inner.left() + clock, inner.center().y() - size // 2, size, size)
        name = "undo-2" if entry.change.is_undone else _ICONS.get(entry.change.kind, "pencil")
        ratio = self._view.devicePixelRatioF()
        pixmap = self._theme.icons.pixmap(name, "text_2", size, ratio)
        painter.drawPixmap(QStyle.visualRect(option.direction, inner, icon), pixmap)
        link, action = QRect(), action_text(entry)
        if action:
            link = self.link_rect(option.rect, action)
            painter.setFont(self._strong_font())
            selected = option.state & QStyle.StateFlag.State_Selected
            painter.setPen(self._theme.colors.color("text" if selected else "accent"))
            painter.drawText(link, Qt.AlignmentFlag.AlignCenter, action)
        left = icon.right() + M
        texts = QRect(left, inner.top() + S, inner.right() - left - (link.width() + M if action else 0), line)
        painter.setFont(option.font)
        self._text(painter, option, inner, texts, title_text(entry), "text_2" if entry.change.is_undone else "text")
        painter.setFont(self._small_font())
        self._text(painter, option, inner, texts.translated(0, line), detail_text(entry), "text_2")

    def _text(
        self, painter: QPainter, option: QStyleOptionViewItem, within: QRect, rect: QRect, text: str, color: str
    ) -> None:
        painter.setPen(self._theme.colors.color(color))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        place = QStyle.visualRect(option.direction, within, rect)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        painter.drawText(place, QStyle.visualAlignment(option.direction, _LEADING), shown)

    def _small_font(self) -> QFont:
        font = self._theme.font(FontRole.CAPTION)
        font.setWeight(QFont.Weight.Normal)
        return font

    def _strong_font(self) -> QFont:
        font = self._theme.font()
        font.setWeight(QFont.Weight.DemiBold)
        return font
