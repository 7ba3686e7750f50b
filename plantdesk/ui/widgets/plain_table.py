"""A short table of texts for dialogs, with single selection, and the place of its context menu."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
)

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import ICON, XS
from plantdesk.ui.widgets.painting import draw_line
from plantdesk.ui.widgets.plain_text import tool_tip

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from PySide6.QtCore import QModelIndex, QPersistentModelIndex
    from PySide6.QtGui import QKeyEvent, QPainter

    from plantdesk.ui.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex


def is_menu_key(event: QKeyEvent) -> bool:
    """Whether Shift+F10 was pressed; for the Menu key Qt sends a context menu event."""
    return event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier


def menu_position(view: QAbstractItemView, index: QModelIndex, event: QContextMenuEvent | None = None) -> QPoint:
    """Return the pointer's position on the screen; for a key that below the start of `index`, which is scrolled to."""
    if event is not None and event.reason() is not QContextMenuEvent.Reason.Keyboard:
        return event.globalPos()
    if not index.isValid():
        return view.viewport().mapToGlobal(QPoint())
    view.scrollTo(index)
    cell = view.visualRect(index)
    return view.viewport().mapToGlobal(cell.bottomRight() if view.isRightToLeft() else cell.bottomLeft())


_MIN_ROWS = 4
#: From the edge of its rectangle to a text.
_GAP = 3
_ARROWS = frozenset({Qt.Key.Key_Down, Qt.Key.Key_Up})
_LEADING = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
_TRAILING = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter


class CellDelegate(QStyledItemDelegate):
    """Paints texts as sharp in a mirrored table as in another."""

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        text, style = cell.text, cell.widget.style()
        rect = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, cell, cell.widget).adjusted(
            _GAP, 0, -_GAP, 0
        )
        cell.text = ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)
        painter.save()
        painter.setFont(cell.font)
        painter.setPen(cell.palette.color(QPalette.ColorRole.Text))
        draw_line(painter, rect, text, cell.direction, cell.displayAlignment)
        painter.restore()


class PlainTable(QTableWidget):
    """Its columns are as wide as their texts, except one that takes the rest.

    `menu_requested(position)`: the context menu of the selected row, at a position of the screen.
    """

    menu_requested = Signal(QPoint)

    def __init__(
        self, theme: Theme, name: str, heads: Sequence[str], *, wide: int = 0, max_rows: int | None = None
    ) -> None:
        """Make it with a `name` for screen readers, and `wide`, the number of the column that takes the rest.

        With `max_rows` it is as high as its rows, but not higher than so many.
        """
        super().__init__(0, len(heads))
        self._theme = theme
        self._max_rows = max_rows
        self.setItemDelegate(CellDelegate(self))
        size = theme.metrics.scaled(ICON)
        self.setIconSize(QSize(size, size))
        self.setHorizontalHeaderLabels(list(heads))
        self.setAccessibleName(name)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(_LEADING)
        header.setHighlightSections(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.metrics.row)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if max_rows is None:
            self.setMinimumHeight(_MIN_ROWS * theme.metrics.row + 4)

    @property
    def selected_row(self) -> int | None:
        """The number of the selected row."""
        items = self.selectedItems()
        return self.row(items[0]) if items else None

    @property
    def max_rows(self) -> int | None:
        """The number of rows that the height is limited to."""
        return self._max_rows

    def set_max_rows(self, rows: int) -> None:
        """Be as high as the rows, but not higher than so many."""
        self._max_rows = rows
        self._fit_height()

    def show_rows(self, rows: Sequence[Sequence[str]], *, numbers: Collection[int] = ()) -> None:
        """Replace the rows; the columns `numbers` are aligned at their end."""
        self.setRowCount(len(rows))
        with self.changing_cells():
            for place, row in enumerate(rows):
                for column, text in enumerate(row):
                    item = QTableWidgetItem(text)
                    item.setTextAlignment(_TRAILING if column in numbers else _LEADING)
                    self.setItem(place, column, item)
        for column in numbers:
            head = self.horizontalHeaderItem(column)
            if head is not None:
                head.setTextAlignment(_TRAILING)
        self._fit_height()

    @contextmanager
    def changing_cells(self) -> Iterator[None]:
        """Change many cells in a block: after each change alone Qt would measure all rows for the widths."""
        model = self.model()
        with QSignalBlocker(model):
            yield
        if model.rowCount() and not model.signalsBlocked():
            model.dataChanged.emit(model.index(0, 0), model.index(model.rowCount() - 1, model.columnCount() - 1))

    def set_icon(self, row: int, column: int, name: str, color: str) -> None:
        """Show an icon of the theme before the text of a cell."""
        item = self.item(row, column)
        if item is not None:
            item.setIcon(self._theme.icons.icon(name, color, self.iconSize().width()))

    def set_tool_tip(self, row: int, column: int, text: str) -> None:
        """Show `text` as the tooltip of a cell."""
        item = self.item(row, column)
        if item is not None:
            item.setData(Qt.ItemDataRole.ToolTipRole, tool_tip(text))

    @override
    def selectRow(self, row: int) -> None:
        self.setCurrentCell(row, 0)  # Qt's own does nothing in a mirrored table

    @override
    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return hint if self._max_rows is None else QSize(hint.width(), self._fitting_height())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ARROWS and self.selected_row is None and self.rowCount():
            self.selectRow(max(self.currentRow(), 0))  # Qt would move from the invisible current row
        elif is_menu_key(event):
            self.menu_requested.emit(menu_position(self, self._selected_index()))
        else:
            super().keyPressEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_requested.emit(menu_position(self, self._selected_index(), event))

    def framed(self) -> QFrame:
        """Return a frame around the table, whose header has square corners."""
        card = QFrame()
        card.setProperty("card", "true")
        layout = QVBoxLayout(card)
        layout.setContentsMargins(XS, XS, XS, XS)
        layout.addWidget(self)
        return card

    def _selected_index(self) -> QModelIndex:
        row = self.selected_row
        return self.model().index(-1 if row is None else row, 0)

    def _fit_height(self) -> None:
        if self._max_rows is not None:
            self.setFixedHeight(self._fitting_height())

    def _fitting_height(self) -> int:
        rows = min(max(self.rowCount(), 1), self._max_rows or self.rowCount())
        return rows * self._theme.metrics.row + self.horizontalHeader().sizeHint().height() + 2 * XS
