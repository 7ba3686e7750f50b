"""The list of the sidebar: one tab stop, arrows inside, Enter and clicks choose, plants can be dropped on tags.

Its delegate paints the entries, and edits their names in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFont,
    QFontMetrics,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.tags import is_in_branch, levels
from plantdesk.ui.filters import filter_icon
from plantdesk.ui.plant_drag import drag_tag, dragged_tag, is_plants
from plantdesk.ui.sidebar.entries import (
    ACTIVE_ROLE,
    ENTRY_ROLE,
    FIXED_ENTRIES,
    Kind,
    SidebarEntry,
    SidebarModel,
    count_text,
    tag_term,
)
from plantdesk.ui.texts import tag_text
from plantdesk.ui.theme.colors import dot_color
from plantdesk.ui.theme.metrics import ICON, FontRole, S, tabular
from plantdesk.ui.widgets.containers import ReservedScrollBar
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.fields import LineEdit
from plantdesk.ui.widgets.plain_table import is_menu_key, menu_position
from plantdesk.ui.widgets.plain_text import announce, show_at_pointer

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel

    from plantdesk.ui.qt import Index
    from plantdesk.ui.theme.theme import Theme


#: For text of 13 px.
_ITEM, _HEADING = 30, 28
#: `_END` without the scroll bar, whose room is always there.
_HEADING_TEXT, _MARK, _TEXT, _END = 20, 28, 44, 11
_DOT, _RADIUS, _RING = 10, 6, 2
#: The chevron of a branch: its middle, size, and half the width of where it is clicked; a level, and the most of them.
_CHEVRON, _CHEVRON_SIZE, _CHEVRON_HIT, _LEVEL, _MAX_LEVELS = 15, 12, 12, 16, 5
#: Of entries that cannot be chosen now: the counts are still read.
_DISABLED_OPACITY = 0.6
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
            painter.setOpacity(1 if option.state & QStyle.StateFlag.State_Enabled else _DISABLED_OPACITY)
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
        # The icon or dot stays in sight.
        start = self._theme.metrics.scaled(_MARK + ICON // 2) + self._indent(index.data(ENTRY_ROLE)) + 2
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
        start, end = scaled(_TEXT) + self._indent(entry), scaled(_END)
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
        text = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(self._placed(option, start, room), QStyle.visualAlignment(option.direction, _LEADING), text)

    def _paint_mark(self, painter: QPainter, option: QStyleOptionViewItem, entry: SidebarEntry, color: str) -> None:
        scaled = self._theme.metrics.scaled
        size = scaled(_DOT if entry.tag is not None else ICON)
        indent, ratio = self._indent(entry), painter.device().devicePixelRatioF()
        if entry.is_branch:
            chevron = scaled(_CHEVRON_SIZE)
            pixmap = self._theme.icons.pixmap(_chevron(entry, option.direction), color, chevron, ratio)
            painter.drawPixmap(self._square(option, scaled(_CHEVRON) + indent, chevron), pixmap)
        rect = self._square(option, scaled(_MARK) + indent, size)
        if entry.tag is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(dot_color(self._theme.tags.hue(entry.tag), self._theme.colors))
            painter.drawEllipse(rect)
            return
        icons = {Kind.EVERYTHING: "sprout", Kind.SEARCH: "bookmark"}
        name = icons.get(entry.kind) or (filter_icon(entry.term) if entry.term is not None else "search")
        painter.drawPixmap(rect, self._theme.icons.pixmap(name, color, size, ratio))

    def is_on_chevron(self, rect: QRect, direction: Qt.LayoutDirection, entry: SidebarEntry, x: int) -> bool:
        """Whether a place in the row of an entry is on its chevron."""
        scaled = self._theme.metrics.scaled
        at = x - rect.left() if direction is Qt.LayoutDirection.LeftToRight else rect.right() - x
        return entry.is_branch and abs(at - scaled(_CHEVRON) - self._indent(entry)) <= scaled(_CHEVRON_HIT) - 1

    def _indent(self, entry: SidebarEntry) -> int:
        return self._theme.metrics.scaled(_LEVEL * min(entry.depth, _MAX_LEVELS))

    def _square(self, option: QStyleOptionViewItem, middle: int, size: int) -> QRect:
        rect = self._placed(option, middle - size // 2, size)
        return QRect(rect.left(), rect.center().y() - size // 2 + 1, size, size)

    def _count_font(self, *, is_active: bool) -> QFont:
        font = tabular(self._theme.metrics.font(FontRole.CAPTION))
        font.setWeight(QFont.Weight.DemiBold if is_active else QFont.Weight.Normal)
        return font

    def _placed(self, option: QStyleOptionViewItem, start: int, width: int) -> QRect:
        rect = QRect(option.rect.left() + start, option.rect.top(), width, option.rect.height())
        return QStyle.visualRect(option.direction, option.rect, rect)


def _chevron(entry: SidebarEntry, direction: Qt.LayoutDirection) -> str:
    if not entry.is_folded:
        return "chevron-down"
    return "chevron-right" if direction is Qt.LayoutDirection.LeftToRight else "chevron-left"


#: Pixels until a tag that is pressed is dragged.
_DRAG_DISTANCE = 8
#: While plants are dragged so close to an edge, the list scrolls by so many pixels each time.
_EDGE, _SCROLL_STEP, _SCROLL_MS = 24, 12, 40
#: Until a folded branch under a drag is unfolded.
_UNFOLD_MS = 600
_TREE_KEYS = {Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Asterisk}
_CHOOSING = {*ENTER_KEYS, Qt.Key.Key_Space}


class SidebarView(QListView):
    """Shows the entries.

    `chosen(entry, add)`: an entry was clicked, with Ctrl to add it. `renamed(entry, name)`: a name was edited.
    `removal_requested(entry)`: Delete. `menu_requested(entry, position)`: right click, Menu key or Shift+F10.
    `plants_dropped(entry)`: the selected plants were dropped on a tag. `moved(tag, new)`: a tag was dropped where it
    gets another name. `folding_requested(tag, folded, whole)`: what is below a tag is to be hidden, or shown,
    or all levels of it. `left`: it was hidden while it had the focus. `renaming_ended`: the editor of a name was
    closed.
    """

    chosen = Signal(object, bool)
    renamed = Signal(object, str)
    removal_requested = Signal(object)
    menu_requested = Signal(object, QPoint)
    plants_dropped = Signal(object)
    moved = Signal(str, str)
    folding_requested = Signal(str, bool, bool)
    left = Signal()
    renaming_ended = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries = SidebarModel(self)
        self._delegate = EntryDelegate(theme, self)
        self.setModel(self.entries)
        self.setItemDelegate(self._delegate)
        self.setProperty("pane", "sidebar")
        self.setAccessibleName(self.tr("Tags and other filters"))
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        ReservedScrollBar(self, slim=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self._theme = theme
        self._pressed_at: QPoint | None = None
        self._scroll_step = 0
        self._scrolling = QTimer(self, interval=_SCROLL_MS)
        self._scrolling.timeout.connect(self._on_scroll_due)
        self._unfolding = QTimer(self, singleShot=True, interval=_UNFOLD_MS)
        self._unfolding.timeout.connect(self._on_unfold_due)
        self.clicked.connect(self._on_clicked)
        self._delegate.renamed.connect(self.renamed)
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        theme.tags.changed.connect(self.viewport().update)

    @property
    def is_renaming(self) -> bool:
        """Whether a name is being edited: Qt would drop what was typed when the entry is removed."""
        return self.state() is QListView.State.EditingState

    def needed_width(self) -> int:
        """Return the width at which the counts of all plants, of today and without a tag are shown with their names."""
        rows = range(min(FIXED_ENTRIES, self.entries.rowCount()))
        needed = (self._delegate.needed_width(self.entries.index(row, 0)) for row in rows)
        return max(needed, default=0) + self.verticalScrollBar().sizeHint().width()

    def current(self) -> SidebarEntry | None:
        """Return the entry that the keyboard acts on."""
        index = self.currentIndex()
        return self.entries.entry(index) if index.isValid() else None

    def focus_list(self) -> None:
        """Put the focus into the list, on its first entry if it was not there before."""
        if not self.currentIndex().isValid():
            self.setCurrentIndex(self.entries.index(0, 0))
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go_to(self, key: tuple[object, ...]) -> bool:
        """Make an entry the current one; False where there is none of this key."""
        index = self.entries.index_of(key)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)
        return index.isValid()

    def start_renaming(self, key: tuple[object, ...]) -> None:
        """Let the user edit the name of an entry in place."""
        self.accept_renaming()
        if self.go_to(key):
            index = self.currentIndex()
            self.edit(index)
            # Qt makes no accessible object for what edits an entry of a list: the focus on it would not be spoken.
            text = self.tr("New name of {name}").format(name=self.entries.entry(index).text)
            announce(self, text)

    def accept_renaming(self) -> None:
        """Take over the name that is being edited."""
        if self.is_renaming:
            self.setFocus()

    @override
    def closeEditor(self, editor: QWidget, hint: EntryDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        self.renaming_ended.emit()

    @override
    def event(self, event: QEvent) -> bool:
        """Handle the keys of the list before a menu does."""
        keys = {Qt.Key.Key_F2, Qt.Key.Key_Delete, *_CHOOSING}
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in keys:
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        entry, index = self.current(), self.currentIndex()
        if self.is_renaming:  # the line edit leaves Enter and the arrows to the list
            event.setAccepted(event.key() != Qt.Key.Key_F6)
        elif entry is None:
            super().keyPressEvent(event)
        elif event.key() in _CHOOSING:
            self.chosen.emit(entry, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        elif event.key() == Qt.Key.Key_F2 and self.entries.can_rename(entry):
            self.start_renaming(entry.key)
        elif event.key() == Qt.Key.Key_Delete and self.entries.can_rename(entry):
            self.removal_requested.emit(entry)
        elif event.key() in _TREE_KEYS and entry.tag is not None:
            self._move_in_tree(entry, event.key())
        elif is_menu_key(event):
            self.menu_requested.emit(entry, menu_position(self, index))
        else:
            super().keyPressEvent(event)

    def _move_in_tree(self, entry: SidebarEntry, key: int) -> None:
        """Unfold or fold, or go to the first tag below or to the one above; the asterisk unfolds all below."""
        tag, forward = entry.tag or "", Qt.Key.Key_Right
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            forward = Qt.Key.Key_Left
        if key == Qt.Key.Key_Asterisk:
            self.folding_requested.emit(tag, False, True)
        elif (key == forward) is bool(entry.is_folded) and entry.is_branch:
            self.folding_requested.emit(tag, key != forward, False)
        elif key == forward and entry.is_branch:
            self.setCurrentIndex(self.entries.index(self.currentIndex().row() + 1, 0))
        elif key != forward and entry.depth:
            self.go_to((Kind.FILTER, tag_term(tag.rpartition("/")[0], is_branch=True)))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold by the chevron, which chooses nothing."""
        self._pressed_at = event.position().toPoint()
        index = self.indexAt(self._pressed_at)
        entry = self.entries.entry(index) if index.isValid() else None
        place = self.visualRect(index), self.layoutDirection()
        if entry is not None and self._delegate.is_on_chevron(*place, entry, self._pressed_at.x()):
            self._pressed_at = None
            self.folding_requested.emit(entry.tag, not entry.is_folded, False)
        else:
            super().mousePressEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Let a second click on the chevron fold again."""
        self.mousePressEvent(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the tag that was pressed; Qt would drag only what is selected, and nothing is."""
        if not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
        elif self._pressed_at is not None:
            index = self.indexAt(self._pressed_at)
            way = (event.position().toPoint() - self._pressed_at).manhattanLength()
            if way >= _DRAG_DISTANCE and index.flags() & Qt.ItemFlag.ItemIsDragEnabled:
                self._pressed_at = None
                drag_tag(self, self.entries.entry(index).tag or "", self._theme)

    @override
    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        """Let clicks and keys select nothing."""
        return QItemSelectionModel.SelectionFlag.NoUpdate

    @override
    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Choose the entry whose action a screen reader has pressed: Qt lets that select it."""
        self.clearSelection()
        for index in selected.indexes():
            self._on_clicked(index)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        if self.hasFocus():
            self.left.emit()
        super().hideEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.setCurrentIndex(index)
            self.menu_requested.emit(self.entries.entry(index), menu_position(self, index, event))

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.setAccepted(is_plants(event.mimeData()) or dragged_tag(event.mimeData()) is not None)

    @override
    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        index = self._target(event)
        self._scroll_at_edges(event.position().y())
        self._mark(index)
        new = self._moved_tag(event)
        text = "" if new is None else self.tr("Becomes {tag}").format(tag=tag_text(new))
        show_at_pointer(self.viewport(), event.position().toPoint(), text)
        event.setAccepted(index.isValid())

    @override
    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._mark(QModelIndex())
        self._scrolling.stop()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        index = self._target(event)
        self._mark(QModelIndex())
        self._scrolling.stop()
        tag, new = dragged_tag(event.mimeData()), self._moved_tag(event)
        if index.isValid():
            event.acceptProposedAction()
        if tag is not None and new is not None:
            self.moved.emit(tag, new)
        elif index.isValid():
            self.plants_dropped.emit(self.entries.entry(index))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:
            add = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier
            self.chosen.emit(self.entries.entry(index), bool(add))

    def _target(self, event: QDropEvent) -> QModelIndex:
        """Return the tag under the pointer, an invalid index where plants, or the tag, cannot be dropped."""
        index = self.indexAt(event.position().toPoint())
        if dragged_tag(event.mimeData()) is not None:
            return index if self._moved_tag(event) is not None else QModelIndex()
        is_target = index.isValid() and is_plants(event.mimeData()) and self.entries.entry(index).takes_plants
        return index if is_target else QModelIndex()

    def _moved_tag(self, event: QDropEvent) -> str | None:
        """Return what the dragged tag becomes at the pointer: below another one, or on a heading, of the top."""
        index, tag = self.indexAt(event.position().toPoint()), dragged_tag(event.mimeData())
        if tag is None or not index.isValid() or not self.entries.can_change_tags:
            return None
        entry, new = self.entries.entry(index), levels(tag)[-1]
        if entry.tag is not None:
            new = f"{entry.tag}/{new}"
        elif entry.kind is not Kind.HEADING:
            return None
        return None if is_in_branch(new, tag) else new

    def _scroll_at_edges(self, y: float) -> None:
        """Scroll while plants are dragged along the upper or lower edge."""
        self._scroll_step = -_SCROLL_STEP if y < _EDGE else _SCROLL_STEP if y > self.viewport().height() - _EDGE else 0
        if not self._scroll_step:
            self._scrolling.stop()
        elif not self._scrolling.isActive():
            self._scrolling.start()

    @Slot()
    def _on_scroll_due(self) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self._scroll_step)

    @Slot()
    def _on_unfold_due(self) -> None:
        entry = self.entries.entry(self.entries.index(self._delegate.drop_row, 0))
        self.folding_requested.emit(entry.tag, False, False)

    def _mark(self, index: QModelIndex) -> None:
        """Show where what is dragged would be dropped; a folded branch opens there after a while."""
        if index.row() == self._delegate.drop_row:
            return
        self._delegate.drop_row = index.row()
        self.viewport().update()
        if index.isValid() and self.entries.entry(index).is_folded:
            self._unfolding.start()
        else:
            self._unfolding.stop()
