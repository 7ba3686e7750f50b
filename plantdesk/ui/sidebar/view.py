"""The tree view of the sidebar, and the delegate that paints its entries and edits their names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.tags import is_in_branch, levels
from plantdesk.ui.filters import filter_icon
from plantdesk.ui.plant_drag import drag_tag, has_plants, read_dragged_tag
from plantdesk.ui.qt import Index
from plantdesk.ui.sidebar.entries import SidebarEntry
from plantdesk.ui.texts import one_line, tag_text
from plantdesk.ui.theme.colors import dot_color, hue_of
from plantdesk.ui.theme.metrics import ICON, XS, FontRole, S, with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ReservedScrollBar
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.fields import LineEdit
from plantdesk.ui.widgets.painting import draw_line
from plantdesk.ui.widgets.plain_table import is_menu_key, menu_position
from plantdesk.ui.widgets.plain_text import announce, show_at_pointer, tool_tip

ENTRY_ROLE = Qt.ItemDataRole.UserRole

#: For text of 13 px. Marks and texts start at the indent of the entry.
_ROW_HEIGHT = 30
_HEADING_HEIGHT = 28
_INDENT = 16
_MARK_CENTER = 4
_TEXT_START = 20
_END_MARGIN = 11
_DOT_SIZE = 10
_CHEVRON_SIZE = 12
#: The corner radius of a background, in pixels.
_RADIUS = 6
#: The width of the focus frame, in pixels.
_FOCUS_WIDTH = 2
#: The least width of the name of the deepest tag, for text of 13 px.
_MIN_NAME_WIDTH = 64
#: The opacity of disabled entries, at which counts are readable.
_DISABLED_OPACITY = 0.6
#: Pixels from an edge at which the tree scrolls during a drag.
_SCROLL_MARGIN = 24
#: Milliseconds until a branch expands during a drag.
_EXPAND_DELAY_MS = 600
_CHOOSE_KEYS = {*ENTER_KEYS, Qt.Key.Key_Space}


class EntryDelegate(QStyledItemDelegate):
    """Paints entries, mirrored in right-to-left layouts, and makes the editor of their names."""

    def __init__(self, theme: Theme, view: SidebarView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view
        #: The entry under a drag, if it accepts the drop.
        self.target = QPersistentModelIndex()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        scaled = self._theme.metrics.scaled
        return QSize(1, scaled(_HEADING_HEIGHT + S if index.data(ENTRY_ROLE).is_heading else _ROW_HEIGHT))

    def needed_width(self, entries: Sequence[SidebarEntry], depth: int) -> int:
        """Return the width of `entries` with their counts, and of the start of a name at this `depth`."""
        scaled = self._theme.metrics.scaled
        name_metrics, count_metrics = map(QFontMetrics, self._make_fonts(self._theme.font(), is_active=True))
        count_width = max((count_metrics.horizontalAdvance(entry.count_text) for entry in entries), default=0)
        name_width = max((name_metrics.horizontalAdvance(one_line(entry.text)) for entry in entries), default=0)
        name_width = max(name_width, scaled(depth * _INDENT + _MIN_NAME_WIDTH))
        return S + scaled(_INDENT + _TEXT_START) + name_width + S + count_width + scaled(_END_MARGIN)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: SidebarEntry = index.data(ENTRY_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if entry.is_heading:
            painter.setFont(self._theme.metrics.font(FontRole.CAPTION))
            painter.setPen(self._theme.colors.color("muted"))
            rect = self._rect_from_start(option, -XS, option.rect.width()).adjusted(0, S, 0, 0)
            draw_line(painter, rect, index.data(), option.direction)
        else:
            painter.setOpacity(1 if option.state & QStyle.StateFlag.State_Enabled else _DISABLED_OPACITY)
            self._paint_background(painter, option, entry, is_target=index == self.target)
            self._paint_marks(painter, option, entry)
            self._paint_texts(painter, option, entry)
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
            editor.setText(entry.tag or entry.text)
            editor.setSelection(len(editor.text()), -len(editor.text()))  # from the end, so that the start is visible

    @override
    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit) and editor.isModified():
            self._view.renamed.emit(index.data(ENTRY_ROLE), editor.text().strip())

    @override
    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        start = self._theme.metrics.scaled(_MARK_CENTER + ICON // 2) + 2  # right of the mark
        editor.setGeometry(self._rect_from_start(option, start, option.rect.width() - start - S))

    def _paint_background(
        self, painter: QPainter, option: QStyleOptionViewItem, entry: SidebarEntry, *, is_target: bool
    ) -> None:
        colors = self._theme.colors
        rect = QRect(0, option.rect.top(), self._view.viewport().width(), option.rect.height())
        if entry.is_active or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("selection") if entry.is_active else colors.hover("sidebar"))
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        if is_target or option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(colors.color("focus"), _FOCUS_WIDTH))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    def _paint_marks(self, painter: QPainter, option: QStyleOptionViewItem, entry: SidebarEntry) -> None:
        if entry.children:
            collapsed = "chevron-right" if option.direction is Qt.LayoutDirection.LeftToRight else "chevron-left"
            icon = "chevron-down" if option.state & QStyle.StateFlag.State_Open else collapsed
            self._paint_icon(painter, entry, icon, self._square_rect(option, -_INDENT // 2, _CHEVRON_SIZE))
        if entry.tag is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(dot_color(hue_of(entry.tag), self._theme.colors))
            painter.drawEllipse(self._square_rect(option, _MARK_CENTER, _DOT_SIZE))
        else:
            icon = "sprout" if entry.search is None else "bookmark"
            if entry.term is not None:
                icon = filter_icon(entry.term)
            self._paint_icon(painter, entry, icon, self._square_rect(option, _MARK_CENTER, ICON))

    def _paint_icon(self, painter: QPainter, entry: SidebarEntry, icon: str, rect: QRect) -> None:
        self._theme.icons.paint(painter, rect, icon, "accent" if entry.is_active else "muted")

    def _paint_texts(self, painter: QPainter, option: QStyleOptionViewItem, entry: SidebarEntry) -> None:
        colors = self._theme.colors
        scaled = self._theme.metrics.scaled
        font, count_font = self._make_fonts(option.font, is_active=entry.is_active)
        room = option.rect.width() - scaled(_TEXT_START) - scaled(_END_MARGIN)
        painter.setFont(count_font)
        painter.setPen(colors.color("text" if entry.is_active else "muted"))
        rect = self._rect_from_start(option, scaled(_TEXT_START), room)
        trailing = Qt.AlignmentFlag.AlignRight
        draw_line(painter, rect, entry.count_text, option.direction, trailing)
        room -= S + painter.fontMetrics().horizontalAdvance(entry.count_text)
        painter.setFont(font)
        painter.setPen(colors.color("text"))
        rect = self._rect_from_start(option, scaled(_TEXT_START), room)
        middle = Qt.TextElideMode.ElideMiddle
        draw_line(painter, rect, one_line(entry.text), option.direction, elided=middle)

    def _make_fonts(self, font: QFont, *, is_active: bool) -> tuple[QFont, QFont]:
        """Return the fonts of name and count, derived from the view's font."""
        fonts = QFont(font), with_tabular_digits(self._theme.metrics.font(FontRole.CAPTION))
        for derived in fonts:
            derived.setWeight(QFont.Weight.DemiBold if is_active else QFont.Weight.Normal)
        return fonts

    def _square_rect(self, option: QStyleOptionViewItem, middle: int, size: int) -> QRect:
        scaled = self._theme.metrics.scaled
        rect = self._rect_from_start(option, scaled(middle) - scaled(size) // 2, scaled(size))
        return QRect(rect.left(), rect.center().y() - scaled(size) // 2 + 1, scaled(size), scaled(size))

    def _rect_from_start(self, option: QStyleOptionViewItem, start: int, width: int) -> QRect:
        rect = QRect(option.rect.left() + start, option.rect.top(), width, option.rect.height())
        return QStyle.visualRect(option.direction, option.rect, rect)


class SidebarView(QTreeView):
    """The tree of filters and saved searches: the user chooses, renames, removes and collapses entries."""

    #: (entry, add) An entry was clicked, with Ctrl to add it to the filters.
    chosen = Signal(object, bool)
    #: (entry, name) A name was edited.
    renamed = Signal(object, str)
    #: (entry) Delete was pressed.
    removal_requested = Signal(object)
    #: (entry, position) Right click, Menu key or Shift+F10.
    menu_requested = Signal(object, QPoint)
    #: (tag) The selected plants were dropped on a tag, or on “No tag” (None).
    plants_dropped = Signal(object)
    #: (tag, new) A tag was dropped on another tag or a heading.
    moved = Signal(str, str)
    #: A tag was expanded or collapsed.
    collapsed_tags_changed = Signal()
    #: The editor was closed.
    renaming_ended = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        #: All items in their order. PySide deletes items below one that has no Python reference.
        self._items: dict[tuple[object, str], QStandardItem] = {}
        self._is_entry_pressed = False
        #: The tags whose branches are collapsed.
        self.collapsed_tags: set[str] = set()
        #: Whether plants can be given other tags.
        self.can_change_tags = True
        self._delegate = EntryDelegate(theme, self)
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setProperty("pane", "sidebar")
        self.setAccessibleName(self.tr("Tags and other filters"))
        self.setHeaderHidden(True)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        ReservedScrollBar(self, slim=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setDragDropMode(QTreeView.DragDropMode.DragDrop)
        self.setAutoScrollMargin(_SCROLL_MARGIN)
        # Qt's own timer uses the position of the cursor.
        self._expand_timer = QTimer(self, singleShot=True, interval=_EXPAND_DELAY_MS)
        self._expand_timer.timeout.connect(self._expand_target)
        self.clicked.connect(self._on_clicked)
        self.expanded.connect(self._on_expansion_changed)
        self.collapsed.connect(self._on_expansion_changed)
        theme.changed.connect(self._set_indentation)
        self._set_indentation()

    @property
    def is_renaming(self) -> bool:
        """Whether a name is being edited; its entry must not be removed then."""
        return self.state() is QTreeView.State.EditingState

    def needed_width(self) -> int:
        """Return the least width that the entries above the first heading and the deepest tag need."""
        entries = [item.data(ENTRY_ROLE) for item in self._items.values()]
        first = list(takewhile(lambda entry: not entry.is_heading, entries))
        depth = max((len(levels(entry.tag)) - 1 for entry in entries if entry.tag is not None), default=0)
        return self._delegate.needed_width(first, depth) + self.verticalScrollBar().sizeHint().width()

    def show_entries(self, entries: Sequence[SidebarEntry]) -> None:
        """Show other entries; an entry with the same key keeps its item, and so may stay current."""
        items: dict[tuple[object, str], QStandardItem] = {}
        _update_children(self._model, entries, items)
        self._items = items
        for item in items.values():
            if item.hasChildren():
                self.setExpanded(item.index(), item.data(ENTRY_ROLE).tag not in self.collapsed_tags)

    def entry(self, index: Index) -> SidebarEntry:
        """Return the entry at a valid index."""
        entry: SidebarEntry = index.data(ENTRY_ROLE)
        return entry

    def current(self) -> SidebarEntry | None:
        """Return the entry that the keyboard acts on; None if no index is current."""
        return self.entry(self.currentIndex()) if self.currentIndex().isValid() else None

    def can_rename(self, entry: SidebarEntry) -> bool:
        """Return whether the user may rename or remove an entry now: a saved search, or a tag."""
        return entry.search is not None or (entry.tag is not None and self.can_change_tags)

    def focus_list(self) -> None:
        """Move the focus to the tree; without a current entry, make the first one current."""
        if not self.currentIndex().isValid():
            self.setCurrentIndex(self._model.index(0, 0))
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_current(self, key: tuple[object, str]) -> bool:
        """Make the entry with a key current, and scroll to it; return whether there is one."""
        if key in self._items:
            self.setCurrentIndex(self._items[key].index())
            self.scrollTo(self.currentIndex())
        return key in self._items

    def start_renaming(self, key: tuple[object, str]) -> None:
        """Open the editor for the name of an entry, if it is shown; accept an open editor before."""
        self.accept_renaming()
        if self.set_current(key):
            self.edit(self.currentIndex())
            # Qt makes no accessible object for the editor of an entry, so the focus on it would not be spoken.
            announce(self, self.tr("New name of {name}").format(name=self.entry(self.currentIndex()).text))

    def accept_renaming(self) -> None:
        """Close an open editor, and accept its text."""
        if self.is_renaming:
            self.setFocus()

    @override
    def closeEditor(self, editor: QWidget, hint: EntryDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        self.renaming_ended.emit()

    @override
    def event(self, event: QEvent) -> bool:
        """Handle keys of the tree before shortcuts of menus, and pass clicks on the margins to the viewport."""
        if isinstance(event, QMouseEvent):
            position = self.viewport().mapFromParent(event.position())
            position.setX(min(max(position.x(), 0), self.viewport().width() - 1))
            buttons = event.button(), event.buttons(), event.modifiers()
            return QApplication.sendEvent(
                self.viewport(), QMouseEvent(event.type(), position, event.globalPosition(), *buttons)
            )
        keys = {Qt.Key.Key_F2, Qt.Key.Key_Delete, *_CHOOSE_KEYS}
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in keys:
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        entry = self.current()
        if self.is_renaming:  # the line edit passes Enter and the arrows on to the tree
            event.setAccepted(event.key() != Qt.Key.Key_F6)
        elif entry is None:
            super().keyPressEvent(event)
        elif event.key() in _CHOOSE_KEYS:
            self.chosen.emit(entry, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        elif event.key() == Qt.Key.Key_F2 and self.can_rename(entry):
            self.start_renaming(entry.key)
        elif event.key() == Qt.Key.Key_Delete and self.can_rename(entry):
            self.removal_requested.emit(entry)
        elif is_menu_key(event):
            self.menu_requested.emit(entry, menu_position(self, self.currentIndex()))
        else:
            super().keyPressEvent(event)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        position = event.position().toPoint()
        self._is_entry_pressed = self.visualRect(self.indexAt(position)).contains(position)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the entry that was pressed: Qt would drag only selected entries, and none is selected."""
        if event.buttons() & Qt.MouseButton.LeftButton and self._is_entry_pressed:
            self.setState(QTreeView.State.DraggingState)
        super().mouseMoveEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Let the second click of a double click act like the first one."""
        self.mousePressEvent(event)

    @override
    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Paint nothing: the delegate paints chevrons, after the background."""

    @override
    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()  # the focus ring includes the indent of the entry

    @override
    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        """Let clicks and keys select nothing."""
        return self.selectionModel().SelectionFlag.NoUpdate

    @override
    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Choose an entry that a screen reader has activated: Qt selects it then."""
        self.clearSelection()
        for index in selected.indexes():
            self._on_clicked(index)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.indexAt(event.pos())
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.setCurrentIndex(index)
            self.menu_requested.emit(self.entry(index), menu_position(self, index, event))

    @override
    def startDrag(self, actions: Qt.DropAction) -> None:
        entry = self.current()
        self._is_entry_pressed = False
        if entry is not None and entry.tag is not None and self.can_change_tags:
            drag_tag(self, entry.tag)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.setAccepted(has_plants(event.mimeData()) or read_dragged_tag(event.mimeData()) is not None)

    @override
    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls at the edges
        index, new = self._find_drop_target(event)
        self._set_target(index)
        text = "" if new is None else self.tr("Becomes {tag}").format(tag=tag_text(new))
        show_at_pointer(self.viewport(), event.position().toPoint(), text)
        event.setAccepted(index.isValid())

    @override
    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._set_target(QModelIndex())

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        index, new = self._find_drop_target(event)
        if index.isValid():
            event.acceptProposedAction()
        super().dropEvent(event)  # ends the scrolling
        self._set_target(QModelIndex())
        if new is not None:
            self.moved.emit(read_dragged_tag(event.mimeData()), new)
        elif index.isValid():
            self.plants_dropped.emit(self.entry(index).tag)

    def _find_drop_target(self, event: QDropEvent) -> tuple[QModelIndex, str | None]:
        """Return the entry that accepts the drop, or an invalid index; and the new name of a dragged tag.

        The tag moves below the tag of the entry, or, on a heading, to the top level.
        """
        index = self.indexAt(event.position().toPoint())
        tag = read_dragged_tag(event.mimeData())
        if not index.isValid() or not self.can_change_tags:
            return QModelIndex(), None
        entry = self.entry(index)
        if tag is None:
            return index if entry.takes_plants and has_plants(event.mimeData()) else QModelIndex(), None
        *_, name = levels(tag)
        new = name if entry.tag is None else f"{entry.tag}/{name}"
        if (entry.tag is None and not entry.is_heading) or is_in_branch(new, tag):
            return QModelIndex(), None
        return index, new

    def _set_target(self, index: QModelIndex) -> None:
        """Mark the entry that a drop would change; if it is collapsed, expand it after a delay."""
        if index != self._delegate.target:
            self._delegate.target = QPersistentModelIndex(index)
            self.viewport().update()
            self._expand_timer.start()

    @Slot()
    def _expand_target(self) -> None:
        target = self._delegate.target
        self.expand(self._model.index(target.row(), 0, target.parent()))

    @Slot(QModelIndex)
    def _on_expansion_changed(self, index: QModelIndex) -> None:
        tag = {self.entry(index).tag or ""}
        collapsed = self.collapsed_tags - tag if self.isExpanded(index) else self.collapsed_tags | tag
        if collapsed != self.collapsed_tags:
            self.collapsed_tags = collapsed
            self.collapsed_tags_changed.emit()

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:
            add = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier
            self.chosen.emit(self.entry(index), bool(add))

    @Slot()
    def _set_indentation(self) -> None:
        self.setIndentation(self._theme.metrics.scaled(_INDENT))
        self.scheduleDelayedItemsLayout()


def _update_children(
    parent: QStandardItemModel | QStandardItem,
    entries: Sequence[SidebarEntry],
    items: dict[tuple[object, str], QStandardItem],
) -> None:
    """Update the children of a model or an item to `entries`, and add their items to `items`."""
    child = parent.item if isinstance(parent, QStandardItemModel) else parent.child
    keys = {entry.key for entry in entries}
    for row in reversed(range(parent.rowCount())):
        if child(row).data(ENTRY_ROLE).key not in keys:
            parent.removeRow(row)
    for row, entry in enumerate(entries):
        item = child(row) if row < parent.rowCount() else None
        if item is None or item.data(ENTRY_ROLE).key != entry.key:
            item = QStandardItem(one_line(entry.text))
            item.setEnabled(not entry.is_heading)
            _update_item(item, entry)
            parent.insertRow(row, item)
        elif item.data(ENTRY_ROLE) != entry:
            _update_item(item, entry)
        items[entry.key] = item
        _update_children(item, entry.children, items)
    parent.setRowCount(len(entries))


def _update_item(item: QStandardItem, entry: SidebarEntry) -> None:
    item.setData(entry, ENTRY_ROLE)
    item.setData(tool_tip(entry.tool_tip), Qt.ItemDataRole.ToolTipRole)
    item.setData(entry.accessible_text, Qt.ItemDataRole.AccessibleTextRole)
