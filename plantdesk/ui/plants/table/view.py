"""The table view of the plants: appearance, keys, type-ahead and columns."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QGuiApplication,
    QHoverEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget
from typing_extensions import override

from plantdesk.domain.plant_urls import split_url
from plantdesk.domain.records import PlantRow
from plantdesk.ui.menus import ROW_KEYS
from plantdesk.ui.plant_drag import drag_plants
from plantdesk.ui.plants.table.cells import EDITABLE, Column
from plantdesk.ui.plants.table.columns import TableColumns
from plantdesk.ui.plants.table.delegate import RADIUS, RowBackground, RowDelegate
from plantdesk.ui.plants.table.model import PlantModel
from plantdesk.ui.plants.table.selection_keeper import SelectionKeeper
from plantdesk.ui.qt import Index
from plantdesk.ui.theme.metrics import with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ReservedScrollBar
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.fields import CellEditor
from plantdesk.ui.widgets.plain_table import is_menu_key, menu_position

#: The width of the frame around the current row, in pixels.
_RING_WIDTH = 2
_ENSURE_VISIBLE = QAbstractItemView.ScrollHint.EnsureVisible
_END_KEYS = {Qt.Key.Key_Home, Qt.Key.Key_End}


class PlantTableView(QTableView):
    """The table of the plants: whole rows are selected, cells are edited in place, letters search a name."""

    #: (count) Other rows are selected.
    selection_count_changed = Signal(int)
    #: Ctrl+C was pressed.
    copy_requested = Signal()
    #: (column) Enter was pressed, or an editable cell double-clicked.
    edit_requested = Signal(int)
    #: (position) Open a context menu at a position on the screen.
    menu_requested = Signal(QPoint)
    #: Space was pressed.
    card_requested = Signal()
    #: (id) A barcode reader has typed the URL of a plant.
    scanned = Signal(object)

    def __init__(self, model: PlantModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        ReservedScrollBar(self)
        #: Paints the rows, and marks new ones.
        self.background = RowBackground(theme, model, self)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        #: Whether rows are lower than usual.
        self.is_compact = False
        self._covered_height = 0
        #: The line edit over the cell that is being edited.
        self.editor = CellEditor(self.viewport())
        self._edited_id: int | None = None
        self._edited_column = Column.NAME
        self.setAccessibleName(self.tr("Plants"))
        self._set_up_rows()
        self._set_up_columns(model)
        self.keeper = SelectionKeeper(self, model)
        self.selected_count = self.keeper.selected_count
        self.selected_ids = self.keeper.selected_ids
        self._typed = ""
        self._typed_at = float("-inf")
        model.rows_replaced.connect(self._on_rows_replaced)
        model.name_found.connect(self.keeper.go_to_plant)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.doubleClicked.connect(self._on_double_clicked)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def to_json(self) -> dict[str, object]:
        """Return order, row height and columns as a JSON object."""
        query = self._model.query
        order = {"order": query.column.order, "descending": query.descending}
        return {**order, "compact": self.is_compact, **self.columns.to_json()}

    def restore(self, values: Mapping[str, object]) -> None:
        """Set the layout from `to_json`, with defaults for invalid values."""
        self.columns.restore(values)
        self.set_compact(compact=values.get("compact") is True)
        column = next((column for column in Column if column.order == values.get("order")), Column.ADDED)
        is_ascending = values.get("descending") is False
        self.sortByColumn(column, Qt.SortOrder.AscendingOrder if is_ascending else Qt.SortOrder.DescendingOrder)

    def set_compact(self, *, compact: bool) -> None:
        """Set whether rows are lower than usual."""
        self.is_compact = compact
        self._on_theme_changed()

    def jump_to_top(self) -> None:
        """Scroll to the first row and make it current; the selection stays."""
        flags = QItemSelectionModel.SelectionFlag.NoUpdate
        self.selectionModel().setCurrentIndex(self._model.index(0, 0), flags)
        self.scrollToTop()

    @Slot()
    def go_to_first_row(self) -> None:
        """Move the focus to the table, and select the first row if none is selected; do nothing without rows."""
        if self._model.rowCount():
            if not self.selectionModel().hasSelection():
                self.keeper.go_to_row(0)
            self.setFocus(Qt.FocusReason.TabFocusReason)

    def current_id(self) -> int | None:
        """Return the id of the plant in the current row; None if no row is current."""
        index = self.currentIndex()
        return self._model.id_at(index.row()) if index.isValid() else None

    def open_editor(self, column: Column) -> None:
        """Select the current row, and show the editor over one of its cells; the editor follows the row."""
        row = self.currentIndex().row()
        self._edited_id = self.current_id()
        self._edited_column = column
        if not self.selectionModel().isRowSelected(row):
            self.keeper.go_to_row(row)
        self.scrollTo(self._model.index(row, column))
        self._place_editor()
        self.editor.show()
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_draft(self, row: PlantRow) -> None:
        """Show a plant with edited texts, until the editor is closed and the row was read again."""
        self._model.show_draft(row)

    def close_editor(self) -> None:
        """Hide the editor; its focus goes to the table."""
        self._edited_id = None
        self._model.show_draft(None)
        if self.editor.hasFocus():
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.hide()

    @Slot(int)
    def set_covered(self, height: int) -> None:
        """Set the height of a message over the lower end, so that the last row can be scrolled above it."""
        if height != self._covered_height:
            self._covered_height = height
            self.updateGeometries()
            current = self.visualRect(self.currentIndex())
            if self.hasFocus() and current.intersects(self.viewport().rect()):
                self.scrollTo(self.currentIndex())

    @override
    def updateGeometries(self) -> None:
        super().updateGeometries()
        rows_height = self._model.rowCount() * self.verticalHeader().defaultSectionSize()
        bar = self.verticalScrollBar()
        hidden_height = rows_height + self._covered_height - self.viewport().height()
        if self._covered_height and hidden_height > bar.maximum():
            bar.setMaximum(hidden_height)

    @override
    def scrollTo(self, index: Index, hint: QAbstractItemView.ScrollHint = _ENSURE_VISIBLE) -> None:
        self.updateGeometries()  # or the scroll bar would not reach a row that was just inserted
        super().scrollTo(index, hint)
        covered_part = self.visualRect(index).bottom() - (self.viewport().height() - self._covered_height)
        if self._covered_height and index.isValid() and covered_part > 0:
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + covered_part)

    @override
    def updateEditorGeometries(self) -> None:
        super().updateEditorGeometries()
        self._place_editor()

    @override
    def keyboardSearch(self, search: str) -> None:
        """Search a name that begins with the typed letters in the store; Qt would read all rows."""
        self._typed = self._typed + search if self._is_typing else search
        self._typed_at = monotonic()
        if self._typed.strip():
            self._model.find_name(self._typed)

    @property
    def _is_typing(self) -> bool:
        """Whether a further letter or a space would continue the search for a name."""
        pause = 2 * QGuiApplication.styleHints().keyboardInputInterval() / 1000
        return bool(self._typed) and monotonic() - self._typed_at <= pause

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif event.key() in ENTER_KEYS:
            self._on_enter()
        elif event.key() == Qt.Key.Key_Space and self._is_typing:
            self.keyboardSearch(" ")
        elif event.key() == Qt.Key.Key_Space and not event.modifiers():
            self._select_current()
            self.card_requested.emit()
        elif is_menu_key(event):
            self.menu_requested.emit(menu_position(self, self._current_name_index()))
        elif event.key() in _END_KEYS:  # Ctrl makes no difference; Qt would only move the current row
            event.setModifiers(event.modifiers() & ~Qt.KeyboardModifier.ControlModifier)
            super().keyPressEvent(event)
            self._scroll_to_end(event.key())
        else:
            super().keyPressEvent(event)

    def _on_enter(self) -> None:
        _, plant_id = split_url(self._typed)
        if plant_id is None or not self._is_typing:
            self.edit_requested.emit(Column.NAME)
        else:
            self.scanned.emit(plant_id)

    def _select_current(self) -> None:
        if not self.selectionModel().hasSelection() and self.currentIndex().isValid():
            self.keeper.go_to_row(self.currentIndex().row())

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Enable dragging only from a row, so that a drag from elsewhere selects rows."""
        index = self.indexAt(event.position().toPoint())
        self.setDragEnabled(index.isValid() and not event.modifiers())
        super().mousePressEvent(event)

    @override
    def startDrag(self, supportedActions: Qt.DropAction) -> None:
        """Drag the selected rows without reading them."""
        drag_plants(self, self.selected_count())

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_requested.emit(menu_position(self, self._current_name_index(), event))

    @override
    def moveCursor(self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Let Home and End go to the first and last row; Qt's table would go to the first and last column."""
        column = max(self.currentIndex().column(), 0)
        if cursorAction is QAbstractItemView.CursorAction.MoveHome:
            return self._model.index(0, column)
        if cursorAction is QAbstractItemView.CursorAction.MoveEnd:
            return self._model.index(self._model.rowCount() - 1, column)
        return super().moveCursor(cursorAction, modifiers)

    @override
    def event(self, event: QEvent) -> bool:
        """Take keys of the table before menu shortcuts do; for keys of row commands, select the current row."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.matches(QKeySequence.StandardKey.Copy) or event.key() in _END_KEYS:
                event.accept()
                return True
            if event.keyCombination() in ROW_KEYS:
                self._select_current()
        return super().event(event)

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHoverEvent):
            is_over = event.type() is not QEvent.Type.HoverLeave
            self._set_hovered_row(self.rowAt(round(event.position().y())) if is_over else -1)
        return super().viewportEvent(event)

    @Slot()
    def _on_scrolled(self) -> None:
        self._set_hovered_row(-1)

    def _set_hovered_row(self, row: int) -> None:
        if row != self.background.hovered:
            self.background.hovered = row
            self.viewport().update()

    @override
    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Notify assistive technologies once: for each cell, as Qt does it, takes 50 s for a million rows."""
        QAbstractItemView.selectionChanged(self, selected, deselected)
        self.viewport().update()  # the line above a row belongs to the previous row
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.SelectionWithin))

    @override
    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()  # Qt repaints only the cells
        self._place_editor()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self.background.paint(event.rect())
        super().paintEvent(event)
        if self.hasFocus() and self.currentIndex().isValid():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._theme.colors.color("focus"), _RING_WIDTH))
            ring = self.background.row_rect(self.currentIndex().row()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(ring, RADIUS, RADIUS)
            painter.end()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.columns.fit()
        old_height = event.oldSize().height()
        row_rect = self.visualRect(self.currentIndex())
        if event.size().height() <= row_rect.bottom() < old_height:  # the window gets lower
            self.scrollTo(self.currentIndex())

    @Slot(bool)
    def _on_rows_replaced(self, is_same_query: bool) -> None:
        if not is_same_query:
            top = max(self.rowAt(0), 0)
            self._model.read(top, top + self.viewport().height() // self.verticalHeader().defaultSectionSize() + 1)
        self._on_selection_changed()

    @Slot(QModelIndex)
    def _on_double_clicked(self, index: QModelIndex) -> None:
        if index.column() in EDITABLE:
            self.edit_requested.emit(index.column())

    @Slot()
    def _on_selection_changed(self) -> None:
        self.selection_count_changed.emit(self.selected_count())

    @Slot()
    def _on_theme_changed(self) -> None:
        metrics = self._theme.metrics
        self.horizontalHeader().setFixedHeight(metrics.header)
        self.verticalHeader().setDefaultSectionSize(metrics.compact_row if self.is_compact else metrics.row)
        self.columns.fit()
        self.viewport().update()

    def _set_up_rows(self) -> None:
        self.setFont(with_tabular_digits())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # or Qt asks every row for its height
        self.verticalHeader().hide()
        self.setItemDelegate(RowDelegate(self._theme, self))

    def _set_up_columns(self, model: PlantModel) -> None:
        self.setModel(model)
        header = self.horizontalHeader()
        # A selection model of its own, without selection: else Ctrl+A takes 20 s at a million rows.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(40)
        self.columns = TableColumns(self, self._theme)
        descending = Qt.SortOrder.DescendingOrder
        header.setSortIndicator(model.query.column, descending)
        self.setSortingEnabled(True)

    def _current_name_index(self) -> QModelIndex:
        return self.currentIndex().siblingAtColumn(Column.NAME)

    def _place_editor(self) -> None:
        """Move the editor to its row, if the row is current."""
        if self._edited_id is not None and self.current_id() == self._edited_id:
            cell = self.visualRect(self._model.index(self.currentIndex().row(), self._edited_column))
            self.editor.setGeometry(cell.adjusted(0, 0, 0, -1))

    def _scroll_to_end(self, key: int) -> None:
        if key == Qt.Key.Key_Home:
            self.scrollToTop()
        else:
            self.scrollToBottom()
