"""Paints the entries of the sidebar, and edits their names in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from plantdesk.ui.filters import filter_icon
from plantdesk.ui.qt import override
from plantdesk.ui.sidebar.entries import Kind, SidebarEntry
from plantdesk.ui.sidebar.model import ACTIVE_ROLE, ENTRY_ROLE, count_text
from plantdesk.ui.theme.metrics import ICON, FontRole, S, tabular
from plantdesk.ui.theme.tag_colors import dot_color
from plantdesk.ui.widgets.fields import LineEdit

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel

    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

#: For text of 13 px.
_ITEM, _HEADING = 30, 28
#: `_END` without the scroll bar, whose room is always there.
_HEADING_TEXT, _MARK, _TEXT, _END = 20, 28, 44, 11
_DOT, _RADIUS, _RING = 10, 6, 2
#: Fractions of pixels that the width of a text in whole pixels leaves out.
_ROUNDING = 2
_LEADING = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class EntryDelegate(QStyledItemDelegate):
    """Paints from the leading edge, so that it mirrors. `renamed(entry, text)`: the user has typed another name."""

    renamed = Signal(object, str)

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.drop_row = -1

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        entry: SidebarEntry = index.data(ENTRY_ROLE)
        scaled = self._theme.metrics.scaled
        return QSize(1, scaled(_HEADING + S) if entry.kind is Kind.HEADING else scaled(_ITEM))

    def needed_width(self, index: Index) -> int:
        """Return the width at which name and count of an entry are shown whole, also while it is active."""
        scaled, name = self._theme.metrics.scaled, QFont(self._theme.font())
        name.setWeight(QFont.Weight.DemiBold)
        count = QFontMetrics(self._count_font(is_active=True)).horizontalAdvance(count_text(index.data(ENTRY_ROLE)))
        text = QFontMetrics(name).horizontalAdvance(index.data())
        return scaled(_TEXT) + text + _ROUNDING + S + count + scaled(_END)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: SidebarEntry = index.data(ENTRY_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if entry.kind is Kind.HEADING:
            self._paint_heading(painter, option, index)
        else:
            self._paint_background(painter, option, index)
            self._paint_entry(painter, option, index, entry)
        painter.restore()

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = LineEdit(parent)
        editor.setProperty("cell", "true")
        editor.setAccessibleName(self.tr("New name"))
        return editor

    @override
    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit) and not editor.isModified():
            entry: SidebarEntry = index.data(ENTRY_ROLE)
            editor.setText(entry.text if entry.tag is None else entry.tag)
            editor.setSelection(len(editor.text()), -len(editor.text()))  # its beginning is shown

    @override
    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit) and editor.isModified():
            self.renamed.emit(index.data(ENTRY_ROLE), editor.text().strip())

    @override
    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        start = self._theme.metrics.scaled(_MARK + ICON // 2) + 2  # the icon or dot stays in sight
        editor.setGeometry(self._placed(option, start, option.rect.width() - start - S))

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.setFont(self._theme.metrics.font(FontRole.CAPTION))
        painter.setPen(self._theme.colors.color("text_2"))
        start = self._theme.metrics.scaled(_HEADING_TEXT)
        rect = self._placed(option, start, option.rect.width() - start).adjusted(0, S, 0, 0)
        painter.drawText(rect, QStyle.visualAlignment(option.direction, _LEADING), index.data())

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        color = self._background(option, index)
        rect = QStyle.visualRect(option.direction, option.rect, option.rect.adjusted(S, 0, 0, 0))
        painter.setPen(Qt.PenStyle.NoPen)
        if color is not None:
            painter.setBrush(color)
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        if index.row() == self.drop_row or option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colors.color("focus"), _RING))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    def _background(self, option: QStyleOptionViewItem, index: Index) -> QColor | None:
        colors = self._theme.colors
        if index.data(ACTIVE_ROLE):
            return colors.color("selection")
        if option.state & QStyle.StateFlag.State_MouseOver:
            return colors.hover("sidebar")
        return None

    def _paint_entry(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, entry: SidebarEntry) -> None:
        colors, scaled = self._theme.colors, self._theme.metrics.scaled
        is_active = bool(index.data(ACTIVE_ROLE))
        self._paint_mark(painter, option, entry, "accent" if is_active else "text_2")
        count, font = count_text(entry), self._count_font(is_active=is_active)
        painter.setFont(font)
        width = painter.fontMetrics().horizontalAdvance(count) if count else 0
        start, end = scaled(_TEXT), scaled(_END)
        painter.setPen(colors.color("text" if is_active else "text_2"))
        painter.drawText(
            self._placed(option, option.rect.width() - end - width, width),
            QStyle.visualAlignment(option.direction, _TRAILING),
            count,
        )
        name = QFont(option.font)
        name.setWeight(QFont.Weight.DemiBold if is_active else QFont.Weight.Normal)
        painter.setFont(name)
        painter.setPen(colors.color("text"))
        room = option.rect.width() - start - end - width - S
        text = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(self._placed(option, start, room), QStyle.visualAlignment(option.direction, _LEADING), text)

    def _paint_mark(self, painter: QPainter, option: QStyleOptionViewItem, entry: SidebarEntry, color: str) -> None:
        scaled = self._theme.metrics.scaled
        size = scaled(_DOT if entry.tag is not None else ICON)
        rect = self._placed(option, scaled(_MARK) - size // 2, size)
        rect = QRect(rect.left(), rect.center().y() - size // 2 + 1, size, size)
        if entry.tag is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(dot_color(self._theme.tags.hue(entry.tag), self._theme.colors))
            painter.drawEllipse(rect)
            return
        icons = {Kind.EVERYTHING: "sprout", Kind.SEARCH: "bookmark"}
        name = icons.get(entry.kind) or (filter_icon(entry.term) if entry.term is not None else "search")
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(rect, self._theme.icons.pixmap(name, color, size, ratio))

    def _count_font(self, *, is_active: bool) -> QFont:
        font = tabular(self._theme.metrics.font(FontRole.CAPTION))
        font.setWeight(QFont.Weight.DemiBold if is_active else QFont.Weight.Normal)
        return font

    def _placed(self, option: QStyleOptionViewItem, start: int, width: int) -> QRect:
        rect = QRect(option.rect.left() + start, option.rect.top(), width, option.rect.height())
        return QStyle.visualRect(option.direction, option.rect, rect)
