"""Keeps selection, current row and scroll position on the same plants while rows change; counts new ones above."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from itertools import groupby

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QObject, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QTableView

from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PlantModel
from plantdesk.ui.plants.table.row_order import RowsState

_Flag = QItemSelectionModel.SelectionFlag
_Hint = QAbstractItemView.ScrollHint
#: A larger selection is dropped when all rows are replaced, and one of several plants when another search is shown.
_MAX_RETAINED = 10_000


class SelectionKeeper(QObject):
    """Watches a table whose vertical scroll bar counts pixels.

    `selected(found)`: the plants of `select` are selected, or were not found by the query. `unseen_changed(count)`: so
    many rows were inserted above the visible ones, and not seen yet.
    """

    selected = Signal(bool)
    unseen_changed = Signal(int)

    def __init__(self, table: QTableView, model: PlantModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        #: The selection before all rows were replaced, as far as it has no row yet; then the current and the top plant.
        self._lost: frozenset[int] = frozenset()
        self._current_id: int | None = None
        self._top_id: int | None = None
        self._offset = 0  # pixels by which the top row was scrolled out
        self._requested_id: int | None = None
        self._visible_id: int | None = None
        self._returning: Collection[int] = ()
        self._top = self._unseen = 0
        self._is_holding = self._is_filling = self._has_all_selected = False
        model.modelAboutToBeReset.connect(self._on_about_to_reset)
        model.rows_replaced.connect(self._on_rows_replaced)
        model.state_changed.connect(self._on_state_changed)
        model.rowsAboutToBeInserted.connect(self._on_about_to_change)
        model.rowsAboutToBeRemoved.connect(self._on_about_to_change)
        model.rowsInserted.connect(self._on_inserted)
        model.rowsRemoved.connect(self._on_removed)
        table.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def seek(self, plant_id: int) -> bool:
        """Select a plant and scroll to it, now or when a query finds it; return whether it is in the rows now."""
        row = self._model.rows.row_of(plant_id)
        is_loading = self._model.rows.state is RowsState.LOADING
        self._requested_id = plant_id if row is None or is_loading else None
        if row is not None:
            self.go_to(row, _Hint.PositionAtCenter)
        return row is not None

    def keep_visible(self, plant_id: int) -> None:
        """Scroll to a plant now, and whenever its row moves while it is the current one."""
        self._visible_id = plant_id
        if (row := self._model.rows.row_of(plant_id)) is not None:
            self._table.scrollTo(self._model.index(row, 0))

    def select(self, plant_ids: Collection[int]) -> None:
        """When the rows are up to date, select those plants that the query finds, and scroll to the first one."""
        self._returning = plant_ids
        self._select_returning()

    def select_next(self) -> None:
        """Select the row after the last selected one, else the last one that is not selected, else none."""
        ranges = self._selected_ranges()
        row = ranges[-1][1] + 1
        if row == self._model.rowCount():
            row -= 1
            while ranges and ranges[-1][1] == row:
                row = ranges.pop()[0] - 1
        if row < 0:
            self._table.clearSelection()
        else:
            self.go_to(row)

    def selected_count(self) -> int:
        """Return the number of selected rows, in constant time."""
        return sum(last - first + 1 for first, last in self._selected_ranges())

    def selected_ids(self) -> array[int]:
        """Return the ids of the selected rows from top to bottom: 8 MB for a million."""
        ids = array("q")
        for first, last in self._selected_ranges():
            ids += self._model.rows.ids[first : last + 1]
        return ids

    @Slot()
    def _on_about_to_reset(self) -> None:
        current, top = self._table.currentIndex().row(), self._table.rowAt(0)
        is_searched = self._model.query.text != self._model.shown_query.text
        most = 1 if is_searched else _MAX_RETAINED  # else several would stay selected out of sight
        self._lost = frozenset(self.selected_ids() if self.selected_count() <= most else ())
        self._current_id, self._top_id = self._id_at(current), self._id_at(top)
        self._offset = -self._table.rowViewportPosition(top)
        self._is_holding = self._holds_view()

    @Slot(bool)
    def _on_rows_replaced(self, same_query: bool) -> None:
        self._table.updateGeometries()
        self._is_filling = not self._model.rows.is_complete
        if not same_query:
            self._returning = ()
            self._set_unseen(0)
        self._select_again()
        if self._go_to_requested():
            return
        current = self._table.currentIndex()
        if not same_query:
            self._go_to_selected(current)
        elif current.isValid() and self._id_at(current.row()) == self._visible_id:
            self._table.scrollTo(current)
        elif self._is_holding and (top := self._row_of(self._top_id)) is not None:
            self._table.verticalScrollBar().setValue(top * self._table.rowHeight(0) + self._offset)

    @Slot()
    def _on_state_changed(self) -> None:
        if not self._model.rows.is_complete:
            return
        if self._is_filling:
            self._is_filling = False
            if self._select_again() and not self._is_scrolled():
                self._go_to_selected(self._table.currentIndex())
        self._select_returning()
        self._go_to_requested()

    @Slot(QModelIndex, int, int)
    def _on_about_to_change(self, _parent: QModelIndex, first: int, _last: int) -> None:
        self._has_all_selected = self._is_filling and first == self._model.rowCount() == self.selected_count()
        self._top = max(self._table.rowAt(0), 0)
        self._is_holding = self._holds_view()

    @Slot(QModelIndex, int, int)
    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._has_all_selected:  # Ctrl+A was pressed before all rows were read
            self._select_ranges([(first, last)])
        if self._is_holding and first <= self._top:
            self._scroll_rows(last - first + 1)
        query = self._model.query
        is_newest_first = query.column is Column.ADDED and query.descending
        if is_newest_first and self._is_scrolled() and first <= self._unseen:
            self._set_unseen(self._unseen + last - first + 1)

    @Slot(QModelIndex, int, int)
    def _on_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        if first < self._top:
            self._scroll_rows(first - min(last + 1, self._top))
        self._set_unseen(self._unseen - max(0, min(last + 1, self._unseen) - first))

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        if value == 0:
            self._set_unseen(0)

    def _set_unseen(self, count: int) -> None:
        if count != self._unseen:
            self._unseen = count
            self.unseen_changed.emit(count)

    def _select_again(self) -> bool:
        """Select again what was selected, if it has rows now; return whether one of them became the current row."""
        row, rows = self._row_of(self._current_id), self._model.rows_of(self._lost)
        self._select_ranges(_ranges(sorted(rows.values())))
        self._lost -= rows.keys()
        if row is None or self._table.currentIndex().isValid():
            return False
        self._table.selectionModel().setCurrentIndex(self._model.index(row, 0), _Flag.NoUpdate)
        return True

    def _go_to_selected(self, current: QModelIndex) -> None:
        """Scroll to the current row if it is selected and no search is shown, else to the top."""
        if self._table.selectionModel().isSelected(current) and not self._model.query.text:
            self._table.scrollTo(current)
        else:
            self._table.scrollToTop()

    def _go_to_requested(self) -> bool:
        row = self._row_of(self._requested_id)
        if row is not None:
            self.go_to(row, _Hint.PositionAtCenter)
            self._requested_id = None
        return row is not None

    def _select_returning(self) -> None:
        if self._returning and self._model.rows.is_current:
            rows = sorted(self._model.rows_of(self._returning).values())
            self._returning = ()
            if rows:
                self.go_to(rows[0])
                self._select_ranges(_ranges(rows))
            self.selected.emit(bool(rows))

    def _selected_ranges(self) -> list[tuple[int, int]]:
        ranges = self._table.selectionModel().selection().toList()
        return sorted((each.top(), each.bottom()) for each in ranges if each.left() == 0)

    def _select_ranges(self, ranges: Iterable[tuple[int, int]]) -> None:
        selection = QItemSelection()
        last_column = self._model.columnCount() - 1
        for first, last in ranges:
            selection.select(self._model.index(first, 0), self._model.index(last, last_column))
        self._table.selectionModel().select(selection, _Flag.Select)

    def go_to(self, row: int, hint: _Hint = _Hint.EnsureVisible) -> None:
        """Select a row alone, and scroll to it; `selectRow` of Qt does nothing in a mirrored table."""
        index = self._model.index(row, 0)
        self._table.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect | _Flag.Rows)
        self._table.scrollTo(index, hint)

    def _scroll_rows(self, rows: int) -> None:
        self._table.updateGeometries()  # or the scroll bar would not reach that far yet
        bar = self._table.verticalScrollBar()
        bar.setValue(bar.value() + rows * self._table.rowHeight(0))

    def _id_at(self, row: int) -> int | None:
        return None if row < 0 else self._model.id_at(row)

    def _row_of(self, plant_id: int | None) -> int | None:
        return None if plant_id is None else self._model.rows.row_of(plant_id)

    def _holds_view(self) -> bool:
        """Return whether the visible rows stay where they are; else new rows are shown at the top."""
        last = self._table.rowAt(self._table.viewport().height() - 1)  # -1: all rows are visible
        is_selection_seen = any(first <= last or last < 0 for first, _ in self._selected_ranges())
        return self._is_scrolled() or is_selection_seen

    def _is_scrolled(self) -> bool:
        return self._table.verticalScrollBar().value() > 0


def _ranges(rows: list[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers in ascending `rows`."""
    runs = [list(run) for _, run in groupby(enumerate(rows), lambda numbered: numbered[1] - numbered[0])]
    return [(run[0][1], run[-1][1]) for run in runs]
