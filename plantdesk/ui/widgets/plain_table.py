"""A table of texts with single selection for dialogs, and the base classes of its model and delegate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
)
from typing_extensions import override

from plantdesk.ui.qt import Index, fill
from plantdesk.ui.theme.metrics import ICON, XS
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.painting import draw_line
from plantdesk.ui.widgets.plain_text import tool_tip

Row = TypeVar("Row")
_MIN_VISIBLE_ROWS = 4
#: From the edge of its rectangle to a text.
_TEXT_MARGIN = 3
_SELECT = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
_SELECT_ONLY = _SELECT | QItemSelectionModel.SelectionFlag.Clear
_ARROW_KEYS = frozenset({Qt.Key.Key_Down, Qt.Key.Key_Up})
_LEADING = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
_TRAILING = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
_NO_INDEX = QModelIndex()


def is_menu_key(event: QKeyEvent) -> bool:
    """Return whether Shift+F10 was pressed; for the Menu key Qt sends a context menu event."""
    return event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier


def menu_position(view: QAbstractItemView, index: QModelIndex, event: QContextMenuEvent | None = None) -> QPoint:
    """Return the position of a context menu on the screen: at the pointer or, for a key, below the item `index`."""
    if event is not None and event.reason() is not QContextMenuEvent.Reason.Keyboard:
        return event.globalPos()
    if not index.isValid():
        return view.viewport().mapToGlobal(QPoint())
    view.scrollTo(index)
    cell = view.visualRect(index)
    return view.viewport().mapToGlobal(cell.bottomRight() if view.isRightToLeft() else cell.bottomLeft())


class CellDelegate(QStyledItemDelegate):
    """Paints the texts of cells at whole pixels, also in a mirrored table."""

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        text = cell.text
        style = cell.widget.style()
        rect = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, cell, cell.widget).adjusted(
            _TEXT_MARGIN, 0, -_TEXT_MARGIN, 0
        )
        cell.text = ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)
        cell.text = text
        painter.save()
        self.paint_text(painter, cell, rect, index)
        painter.restore()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of a cell; beside a check box, the style leaves out the margins of the text."""
        has_box = index.data(Qt.ItemDataRole.CheckStateRole) is not None
        return super().sizeHint(option, index) + QSize(4 * _TEXT_MARGIN if has_box else 0, 0)

    def paint_text(self, painter: QPainter, cell: QStyleOptionViewItem, rect: QRect, _index: Index) -> None:
        """Paint the text of a cell into `rect`. Subclasses override it."""
        painter.setFont(cell.font)
        painter.setPen(cell.palette.color(QPalette.ColorRole.Text))
        draw_line(painter, rect, cell.text, cell.direction, cell.displayAlignment)


class Cell(NamedTuple):
    """A cell. `icon`: name and colour of an icon before the text. `value`: the data of `UserRole`."""

    text: str
    tool_tip: str = ""
    icon: tuple[str, str] | None = None
    color: str | None = None
    value: object = None


class RowModel(QAbstractTableModel, Generic[Row]):
    """The base of table models of a list of rows. A subclass implements `data`."""

    def __init__(self, headings: Sequence[str], parent: QObject) -> None:
        super().__init__(parent)
        self._headings = headings
        self.rows: list[Row] = []

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Replace all rows; this resets the model."""
        self.beginResetModel()
        self.rows = [*rows]
        self.endResetModel()

    def append(self, rows: Sequence[Row]) -> None:
        """Show further rows at the end."""
        if rows:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(rows) - 1)
            self.rows += rows
            self.endInsertRows()

    def report_changed(self) -> None:
        """Emit `dataChanged` for all cells."""
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self._headings) - 1))

    @override
    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._headings)

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        is_title = orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return self._headings[section] if is_title else None


class _CellModel(RowModel[list[Cell]]):
    """The cells of a `PlainTable`; the columns `numbers` are aligned at their end."""

    def __init__(self, theme: Theme, headings: Sequence[str], numbers: Collection[int], parent: QTableView) -> None:
        super().__init__(headings, parent)
        self._theme = theme
        self._numbers = numbers

    def show_rows(self, rows: list[list[Cell]], headings: Sequence[str] | None, *, is_same: bool) -> None:
        """Replace all rows, or if `is_same` only the cells that have changed."""
        if not is_same:
            self._headings = headings or self._headings
            self.set_rows(rows)
        elif rows != self.rows:
            self.rows = rows
            self.report_changed()

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        cell = self.rows[index.row()][index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cell.text
            case Qt.ItemDataRole.TextAlignmentRole:
                return _TRAILING if index.column() in self._numbers else _LEADING
            case Qt.ItemDataRole.ToolTipRole:
                return tool_tip(cell.tool_tip)
            case Qt.ItemDataRole.DecorationRole if cell.icon:
                return self._theme.icons.icon(*cell.icon, self._theme.metrics.scaled(ICON))
            case Qt.ItemDataRole.ForegroundRole if cell.color:
                return self._theme.colors.color(cell.color)
        return cell.value if role == Qt.ItemDataRole.UserRole else None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and section in self._numbers:
            return _TRAILING
        return super().headerData(section, orientation, role)


class PlainTable(QTableView):
    """A table whose columns are as wide as their texts, except one that is stretched."""

    #: (position) Open a context menu for the selected row, at a position on the screen.
    menu_requested = Signal(QPoint)

    def __init__(
        self,
        theme: Theme,
        name: str,
        headings: Sequence[str],
        *,
        wide: int = 0,
        numbers: Collection[int] = (),
        max_rows: int | None = None,
    ) -> None:
        """Make a table with an accessible `name`; `wide` is the stretched column, `numbers` are aligned at their end.

        With `max_rows` the table is as high as its rows, up to this number.
        """
        super().__init__()
        self._theme = theme
        self._model = _CellModel(theme, headings, numbers, self)
        self._keys: Sequence[object] = ()
        self.setModel(self._model)
        self._max_rows = max_rows
        self.setItemDelegate(CellDelegate(self))
        size = theme.metrics.scaled(ICON)
        self.setIconSize(QSize(size, size))
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
            self.setMinimumHeight(_MIN_VISIBLE_ROWS * theme.metrics.row + 4)

    @property
    def selected_rows(self) -> list[int]:
        """The selected rows in ascending order."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    @property
    def selected_row(self) -> int | None:
        """The first selected row; None if no row is selected."""
        return next(iter(self.selected_rows), None)

    def show_rows(
        self,
        rows: Sequence[Sequence[str | Cell]],
        keys: Sequence[object] = (),
        headings: Sequence[str] | None = None,
    ) -> None:
        """Replace the rows. With a key for each row, the selected keys stay selected."""
        cells = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
        previous_keys = self._keys
        self._keys = keys
        is_same = bool(keys) and keys == previous_keys
        selected_keys = [previous_keys[row] for row in self.selected_rows] if previous_keys else []
        self._model.show_rows(cells, headings, is_same=is_same)
        if not is_same:
            self._select_keys(selected_keys)
        self._fit_height()

    def _select_keys(self, keys: Sequence[object]) -> None:
        """Select the rows with these keys, as far as there are any; the last one becomes current."""
        rows = [self._keys.index(key) for key in keys if key in self._keys]
        for number, row in enumerate(rows):
            self.selectionModel().setCurrentIndex(self._model.index(row, 0), _SELECT if number else _SELECT_ONLY)

    @override
    def selectRow(self, row: int) -> None:
        self.setCurrentIndex(self.model().index(row, 0))  # Qt's `selectRow` does nothing in a mirrored table

    @override
    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return hint if self._max_rows is None else QSize(hint.width(), self._fitting_height())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ARROW_KEYS and self.selected_row is None and self.model().rowCount():
            self.selectRow(max(self.currentIndex().row(), 0))  # Qt would move from the invisible current row
        elif is_menu_key(event):
            self.menu_requested.emit(menu_position(self, self._selected_index()))
        else:
            super().keyPressEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_requested.emit(menu_position(self, self._selected_index(), event))

    def make_frame(self) -> QFrame:
        """Return a new frame with round corners that contains the table."""
        card = QFrame()
        card.setProperty("card", "true")
        fill(QVBoxLayout(card), self, margins=XS)
        return card

    def _selected_index(self) -> QModelIndex:
        row = self.selected_row
        return self.model().index(-1 if row is None else row, 0)

    def _fit_height(self) -> None:
        if self._max_rows is not None:
            self.setFixedHeight(self._fitting_height())

    def _fitting_height(self) -> int:
        count = self.model().rowCount()
        rows = min(max(count, 1), self._max_rows or count)
        header = self.horizontalHeader()
        return rows * self._theme.metrics.row + (0 if header.isHidden() else header.sizeHint().height()) + 2 * XS
