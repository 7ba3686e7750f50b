"""Keeps selection, current row and scroll position on the same plants while rows change; counts new rows above."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from typing import NamedTuple

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QObject, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QTableView

from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PlantModel
from plantdesk.ui.plants.table.row_order import RowsState

_Flag = QItemSelectionModel.SelectionFlag
_Hint = QAbstractItemView.ScrollHint
#: The most selected plants that stay selected when all rows are replaced; after another search, one.
_MAX_RETAINED = 10_000


class _RowRange(NamedTuple):
    first: int
    last: int


class SelectionKeeper(QObject):
    """Keeps selection and scroll position of a table on the same plants while its rows change."""

    #: (is_found) `select` has ended: some of its plants have rows and are selected, or none has one.
    selected = Signal(bool)
    #: (count) The number of rows inserted above the visible ones, and not seen yet, has changed.
    unseen_changed = Signal(int)

    def __init__(self, table: QTableView, model: PlantModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        #: Before all rows were replaced: the selected plants that have no row yet, the current one, and the top one.
        self._ids_to_reselect: frozenset[int] = frozenset()
        self._current_id: int | None = None
        self._top_id: int | None = None
        self._top_offset = 0  # pixels of the top row that are scrolled out
        self._requested_id: int | None = None
        self._kept_visible_id: int | None = None
        self._ids_to_select: Collection[int] = ()
        self._top_row = self._unseen_count = 0
        self._keeps_rows_in_place = self._is_filling = self._selects_inserted_rows = False
        model.modelAboutToBeReset.connect(self._on_about_to_reset)
        model.rows_replaced.connect(self._on_rows_replaced)
        model.state_changed.connect(self._on_state_changed)
        model.rowsAboutToBeInserted.connect(self._on_about_to_change)
        model.rowsAboutToBeRemoved.connect(self._on_about_to_change)
        model.rowsInserted.connect(self._on_inserted)
        model.rowsRemoved.connect(self._on_removed)
        table.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def go_to_plant(self, plant_id: int) -> bool:
        """Select a plant and scroll to it, now or when its row is loaded; return whether it has a row now."""
        row = self._model.rows.row_of(plant_id)
        is_loading = self._model.rows.state is RowsState.LOADING
        self._requested_id = plant_id if row is None or is_loading else None
        if row is not None:
            self.go_to_row(row, _Hint.PositionAtCenter)
        return row is not None

    def keep_visible(self, plant_id: int) -> None:
        """Scroll to a plant, and again when its row moves while it is current."""
        self._kept_visible_id = plant_id
        if (row := self._model.rows.row_of(plant_id)) is not None:
            self._table.scrollTo(self._model.index(row, 0))

    def select(self, plant_ids: Collection[int]) -> None:
        """Select those of the plants that have rows, as soon as the rows are current; emits `selected`."""
        self._ids_to_select = plant_ids
        self._select_requested()

    def select_next(self) -> None:
        """Select the row after the selected ones, which are being deleted, else the row before."""
        ranges = self._find_selected_ranges()
        row = ranges[-1].last + 1
        if row == self._model.rowCount():
            row -= 1
            while ranges and ranges[-1].last == row:
                row = ranges.pop().first - 1
        if row < 0:
            self._table.clearSelection()
        else:
            self.go_to_row(row)

    def selected_count(self) -> int:
        """Return the number of selected rows, in constant time."""
        return sum(last - first + 1 for first, last in self._find_selected_ranges())

    def selected_ids(self) -> array[int]:
        """Return the ids of the selected rows from top to bottom: 8 MB for a million."""
        ids = array("q")
        for first, last in self._find_selected_ranges():
            ids += self._model.rows.ids[first : last + 1]
        return ids

    @Slot()
    def _on_about_to_reset(self) -> None:
        top = self._table.rowAt(0)
        is_searched = self._model.query.text != self._model.shown_query.text
        max_count = 1 if is_searched else _MAX_RETAINED  # after a search, no invisible rows stay selected
        self._ids_to_reselect = frozenset(self.selected_ids() if self.selected_count() <= max_count else ())
        self._current_id = self._id_at(self._table.currentIndex().row())
        self._top_id = self._id_at(top)
        self._top_offset = -self._table.rowViewportPosition(top)
        self._keeps_rows_in_place = self._should_keep_rows()

    @Slot(bool)
    def _on_rows_replaced(self, is_same_query: bool) -> None:
        """Restore selection and scroll position; a new query begins at the top."""
        self._table.updateGeometries()
        self._is_filling = not self._model.rows.is_complete
        if not is_same_query:
            self._ids_to_select = ()
            self._set_unseen_count(0)
        self._reselect()
        if self._go_to_requested():
            return
        current = self._table.currentIndex()
        if not is_same_query:
            self._go_to_selected(current)
        elif current.isValid() and self._id_at(current.row()) == self._kept_visible_id:
            self._table.scrollTo(current)
        elif self._keeps_rows_in_place and (top := self._row_of(self._top_id)) is not None:
            self._table.verticalScrollBar().setValue(top * self._table.rowHeight(0) + self._top_offset)

    @Slot()
    def _on_state_changed(self) -> None:
        if not self._model.rows.is_complete:
            return
        if self._is_filling:
            self._is_filling = False
            if self._reselect() and not self._is_scrolled():
                self._go_to_selected(self._table.currentIndex())
        self._select_requested()
        self._go_to_requested()

    @Slot(QModelIndex, int, int)
    def _on_about_to_change(self, _parent: QModelIndex, first: int, _last: int) -> None:
        self._selects_inserted_rows = self._is_filling and first == self._model.rowCount() == self.selected_count()
        self._top_row = max(self._table.rowAt(0), 0)
        self._keeps_rows_in_place = self._should_keep_rows()

    @Slot(QModelIndex, int, int)
    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        """Keep the visible rows in place, and count the rows inserted above as unseen."""
        if self._selects_inserted_rows:  # Ctrl+A was pressed before all rows were read
            self._select_ranges([_RowRange(first, last)])
        if self._keeps_rows_in_place and first <= self._top_row:
            self._scroll_rows(last - first + 1)
        query = self._model.query
        is_newest_first = query.column is Column.ADDED and query.descending
        if is_newest_first and self._is_scrolled() and first <= self._unseen_count:
            self._set_unseen_count(self._unseen_count + last - first + 1)

    @Slot(QModelIndex, int, int)
    def _on_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        if first < self._top_row:
            self._scroll_rows(first - min(last + 1, self._top_row))
        self._set_unseen_count(self._unseen_count - max(0, min(last + 1, self._unseen_count) - first))

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        if value == 0:
            self._set_unseen_count(0)

    def _set_unseen_count(self, count: int) -> None:
        if count != self._unseen_count:
            self._unseen_count = count
            self.unseen_changed.emit(count)

    def _reselect(self) -> bool:
        """Select again the plants that have rows now; return whether one of them became current."""
        row = self._row_of(self._current_id)
        rows = self._model.rows_of(self._ids_to_reselect)
        self._select_ranges(_group_rows(sorted(rows.values())))
        self._ids_to_reselect -= rows.keys()
        if row is None or self._table.currentIndex().isValid():
            return False
        self._table.selectionModel().setCurrentIndex(self._model.index(row, 0), _Flag.NoUpdate)
        return True

    def _go_to_selected(self, current: QModelIndex) -> None:
        """Scroll to the current row if it is selected and there is no search, else to the top."""
        if self._table.selectionModel().isSelected(current) and not self._model.query.text:
            self._table.scrollTo(current)
        else:
            self._table.scrollToTop()

    def _go_to_requested(self) -> bool:
        row = self._row_of(self._requested_id)
        if row is not None:
            self.go_to_row(row, _Hint.PositionAtCenter)
            self._requested_id = None
        return row is not None

    def _select_requested(self) -> None:
        if self._ids_to_select and self._model.rows.is_current:
            rows = sorted(self._model.rows_of(self._ids_to_select).values())
            self._ids_to_select = ()
            if rows:
                self.go_to_row(rows[0])
                self._select_ranges(_group_rows(rows))
            self.selected.emit(bool(rows))

    def _find_selected_ranges(self) -> list[_RowRange]:
        ranges = self._table.selectionModel().selection().toList()
        return sorted(_RowRange(item.top(), item.bottom()) for item in ranges if item.left() == 0)

    def _select_ranges(self, ranges: Iterable[_RowRange]) -> None:
        selection = QItemSelection()
        last_column = self._model.columnCount() - 1
        for first, last in ranges:
            selection.select(self._model.index(first, 0), self._model.index(last, last_column))
        self._table.selectionModel().select(selection, _Flag.Select)

    def go_to_row(self, row: int, hint: _Hint = _Hint.EnsureVisible) -> None:
        """Select only this row, and scroll to it; `QTableView.selectRow` does nothing in a mirrored table."""
        index = self._model.index(row, 0)
        self._table.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect | _Flag.Rows)
        self._table.scrollTo(index, hint)

    def _scroll_rows(self, rows: int) -> None:
        self._table.updateGeometries()  # else the scroll bar has the old range
        bar = self._table.verticalScrollBar()
        bar.setValue(bar.value() + rows * self._table.rowHeight(0))

    def _id_at(self, row: int) -> int | None:
        return None if row < 0 else self._model.id_at(row)

    def _row_of(self, plant_id: int | None) -> int | None:
        return None if plant_id is None else self._model.rows.row_of(plant_id)

    def _should_keep_rows(self) -> bool:
        """Return whether visible rows must stay in place, and new ones not move them down."""
        last = self._table.rowAt(self._table.viewport().height() - 1)  # -1: all rows are visible
        is_selection_seen = any(first <= last or last < 0 for first, _ in self._find_selected_ranges())
        return self._is_scrolled() or is_selection_seen

    def _is_scrolled(self) -> bool:
        return self._table.verticalScrollBar().value() > 0


def _group_rows(rows: list[int]) -> list[_RowRange]:
    """Return the ranges of consecutive numbers in ascending `rows`."""
    ranges: list[_RowRange] = []
    for row in rows:
        if ranges and row == ranges[-1].last + 1:
            ranges[-1] = _RowRange(ranges[-1].first, row)
        else:
            ranges.append(_RowRange(row, row))
    return ranges
