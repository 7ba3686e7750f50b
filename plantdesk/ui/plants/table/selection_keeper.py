"""Keeps selection, current row and scroll position on the same plants while rows are inserted, removed or replaced.

Goes back to them also when the store is opened again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QObject, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from plantdesk.ui.plants.table.model import PlantModel


_Flag = QItemSelectionModel.SelectionFlag
#: A larger selection is dropped when all rows are replaced.
_MAX_RETAINED = 10_000
#: More moved rows than this are not looked up: each takes 10 ms at a million.
_MAX_MOVED = 10


class _Anchors(NamedTuple):
    """Selection, current row and top row by id; `offset`: pixels by which the top row is scrolled out."""

    selected: frozenset[int] = frozenset()
    current: int | None = None
    top: int | None = None
    offset: int = 0


class SelectionKeeper(QObject):
    """Watches a table whose vertical scroll bar counts pixels.

    `selected(found)`: the plants of `select` are selected, or the query does not find them.
    """

    selected = Signal(bool)

    def __init__(self, table: QTableView, model: PlantModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        self._before = _Anchors()
        self._requested_id: int | None = None
        self._requested_top: int | None = None
        self._visible_id: int | None = None
        self._returning: Collection[int] = ()
        self._removed: set[int] = set()
        self._removed_current: int | None = None
        self._top = 0
        self._holding = self._has_all_selected = False
        model.keep(self.retained_ids)
        model.modelAboutToBeReset.connect(self._on_about_to_reset)
        model.rows_replaced.connect(self._on_rows_replaced)
        model.retained_rows_found.connect(self._on_retained_rows_found)
        model.removing.connect(self._on_removing)
        model.count_changed.connect(self._on_rows_settled)
        model.rowsAboutToBeInserted.connect(self._on_about_to_change)
        model.rowsAboutToBeRemoved.connect(self._on_about_to_change)
        model.rowsInserted.connect(self._on_inserted)
        model.rowsRemoved.connect(self._on_removed)

    def retained_ids(self) -> frozenset[int]:
        """Return the ids whose rows have to be found again."""
        now = self._anchors()
        single = {plant_id for plant_id in (now.current, now.top, self._requested_id) if plant_id is not None}
        return now.selected | single

    def seek(self, plant_id: int) -> bool:
        """Select a plant and scroll to it, now if it is in the rows, and when a query returns it that runs or comes."""
        row = self._model.row_of(plant_id)
        self._requested_id = plant_id if row is None or self._model.busy else None
        if row is not None:
            self._go_to(row)
        return row is not None

    def keep_visible(self, plant_id: int) -> None:
        """Scroll to a plant, now and when its row moves while it is the current one."""
        self._visible_id = plant_id
        row = self._model.row_of(plant_id)
        if row is not None:
            self._table.scrollTo(self._model.index(row, 0))

    def select(self, plant_ids: Collection[int]) -> None:
        """Select those of some plants that the query finds, when the rows are up to date, and scroll to the first."""
        self._returning = plant_ids
        self._select_returning()

    def select_next(self) -> None:
        """Select the row after the last selected one, else the last one that is not selected, else none."""
        ranges = self._selected_ranges()
        row = ranges[-1][1] + 1
        if row == self._model.rowCount():
            for first, last in reversed(ranges):
                if last < row - 1:
                    break
                row = first
            row -= 1
        if row < 0:
            self._table.clearSelection()
        else:
            self._go_to(row, QAbstractItemView.ScrollHint.EnsureVisible)

    def position(self) -> list[int | None]:
        """Return the ids of the plant in the top row, None at the top of the table, and of a single selected one."""
        top = self._table.rowAt(0) if self._scrolled() else -1
        selected = self.selected_ids() if self.selected_count() == 1 else [None]
        return [None if top < 0 else self._model.id_at(top), *selected]

    def return_to(self, position: object) -> None:
        """Go back to a `position` when the rows of the next query are there; to the top for anything else."""
        is_valid = isinstance(position, list) and all(each is None or type(each) is int for each in position)
        ids = position if is_valid and isinstance(position, list) and len(position) == len(self.position()) else [None]
        self._requested_top, selected = ids[0], ids[-1]
        if selected is not None:
            self.seek(selected)

    def selected_count(self) -> int:
        """Return the number of selected rows, in constant time."""
        return sum(last - first + 1 for first, last in self._selected_ranges())

    def selected_ids(self) -> Iterable[int]:
        """Return the ids of the selected rows from top to bottom."""
        for first, last in self._selected_ranges():
            yield from self._model.ids_between(first, last)

    @Slot()
    def _on_about_to_reset(self) -> None:
        self._before = self._anchors()
        self._holding = self._holds_view()

    @Slot(object, bool)
    def _on_rows_replaced(self, retained_rows: dict[int, int], same_query: bool) -> None:
        self._table.updateGeometries()
        self._returning = self._returning if same_query else ()
        retained_rows = retained_rows | self._rows_of_late(retained_rows.keys())
        self._select(retained_rows)
        if self._show_requested_id(retained_rows):
            return
        if same_query and self._visible_id is not None and self._visible_id == self._before.current in retained_rows:
            self._table.scrollTo(self._table.currentIndex())
        elif same_query:
            self._return_to_top_row(retained_rows)
        elif self._before.current in self._before.selected and not self._model.query.text:
            self._table.scrollTo(self._table.currentIndex())
        else:
            self._table.scrollToTop()

    def _rows_of_late(self, known: Collection[int]) -> dict[int, int]:
        """Look up what was selected only while the query ran."""
        late = (self._before.selected | {self._before.current}) - set(known)
        if len(late) > _MAX_MOVED:
            return {}
        rows = {each: self._model.row_of(each) for each in late if each is not None}
        return {plant_id: row for plant_id, row in rows.items() if row is not None}

    @Slot(object)
    def _on_retained_rows_found(self, retained_rows: dict[int, int]) -> None:
        self._select(retained_rows)
        if (
            not self._show_requested_id(retained_rows)
            and self._before.current in retained_rows
            and not self._scrolled()
        ):
            self._table.scrollTo(self._table.currentIndex())

    @Slot(int, int)
    def _on_removing(self, first: int, last: int) -> None:
        """Note what is selected in rows that are removed: an edited plant is inserted again where the order puts it."""
        for top, bottom in self._selected_ranges():
            if top <= last and bottom >= first and len(self._removed) < _MAX_MOVED:
                start = max(top, first)
                self._removed.update(self._model.ids_between(start, min(bottom, last, start + _MAX_MOVED)))
        row = self._table.currentIndex().row()
        if first <= row <= last:
            self._removed_current = self._model.id_at(row)

    @Slot()
    def _on_rows_settled(self) -> None:
        """Select the rows that have moved where they are now."""
        removed, self._removed = self._removed, set()
        current, self._removed_current = self._removed_current, None
        if len(removed) <= _MAX_MOVED:
            rows = (self._model.row_of(each) for each in removed)
            self._select_rows(sorted(row for row in rows if row is not None))
        row = None if current is None else self._model.row_of(current)
        if row is not None:
            self._table.selectionModel().setCurrentIndex(self._model.index(row, 0), _Flag.NoUpdate)
            if current == self._visible_id:
                self._table.scrollTo(self._model.index(row, 0))
        self._select_returning()
        if self._model.complete and not self._model.busy:
            self._show_requested_id({})
        if self._requested_top is not None and self._model.complete and not self._model.busy:
            row, self._requested_top = self._model.row_of(self._requested_top), None
            if row is not None:
                self._table.scrollTo(self._model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtTop)

    def _select_returning(self) -> None:
        if self._returning and self._model.is_current:
            rows = sorted(self._model.rows_of(self._returning).values())
            self._returning = ()
            if rows:
                self._go_to(rows[0], QAbstractItemView.ScrollHint.EnsureVisible)
                self._select_rows(rows)
            self.selected.emit(bool(rows))

    @Slot(QModelIndex, int, int)
    def _on_about_to_change(self, _parent: QModelIndex, first: int, _last: int) -> None:
        is_loading = first == self._model.rowCount() and not self._model.complete
        self._has_all_selected = is_loading and self.selected_count() == first
        self._top = max(self._table.rowAt(0), 0)
        self._holding = self._holds_view()

    @Slot(QModelIndex, int, int)
    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._has_all_selected:  # Ctrl+A was pressed before all rows were read
            self._select_ranges([(first, last)])
        if self._holding and first <= self._top:
            self._scroll_rows(last - first + 1)

    @Slot(QModelIndex, int, int)
    def _on_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        if first < self._top:
            self._scroll_rows(first - min(last + 1, self._top))

    def _anchors(self) -> _Anchors:
        current, top = self._table.currentIndex(), self._table.rowAt(0)
        few = self.selected_count() <= _MAX_RETAINED
        return _Anchors(
            selected=frozenset(self.selected_ids()) if few else frozenset(),
            current=self._model.id_at(current.row()) if current.isValid() else None,
            top=self._model.id_at(top) if top >= 0 else None,
            offset=-self._table.rowViewportPosition(top) if top >= 0 else 0,
        )

    def _selected_ranges(self) -> list[tuple[int, int]]:
        ranges = self._table.selectionModel().selection().toList()
        return sorted((each.top(), each.bottom()) for each in ranges if each.left() == 0)

    def _select(self, retained_rows: dict[int, int]) -> None:
        """Select what was selected, as far as its rows are known."""
        self._select_rows(sorted(retained_rows[plant_id] for plant_id in self._before.selected & retained_rows.keys()))
        if self._before.current in retained_rows:
            index = self._model.index(retained_rows[self._before.current], 0)
            self._table.selectionModel().setCurrentIndex(index, _Flag.NoUpdate)

    def _select_rows(self, rows: list[int]) -> None:
        """Select these rows, in ascending order, as well."""
        self._select_ranges(_ranges(rows))

    def _select_ranges(self, ranges: Iterable[tuple[int, int]]) -> None:
        selection = QItemSelection()
        last_column = self._model.columnCount() - 1
        for first, last in ranges:
            selection.select(self._model.index(first, 0), self._model.index(last, last_column))
        self._table.selectionModel().select(selection, _Flag.Select)

    def _show_requested_id(self, retained_rows: dict[int, int]) -> bool:
        if self._requested_id is None:
            return False
        row = retained_rows.get(self._requested_id)
        if row is None and (row := self._model.row_of(self._requested_id)) is None:  # requested while the query ran
            return False
        self._go_to(row)
        self._requested_id = None
        return True

    def _go_to(
        self, row: int, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.PositionAtCenter
    ) -> None:
        index = self._model.index(row, 0)
        flags = _Flag.ClearAndSelect | _Flag.Rows
        self._table.selectionModel().setCurrentIndex(index, flags)
        self._table.scrollTo(index, hint)

    def _return_to_top_row(self, retained_rows: dict[int, int]) -> None:
        row = retained_rows.get(self._before.top) if self._before.top is not None else None
        if row is not None and self._holding:
            self._table.verticalScrollBar().setValue(row * self._row_height() + self._before.offset)

    def _scroll_rows(self, rows: int) -> None:
        self._table.updateGeometries()  # or the scroll bar would not yet reach that far
        bar = self._table.verticalScrollBar()
        bar.setValue(bar.value() + rows * self._row_height())

    def _row_height(self) -> int:
        return self._table.verticalHeader().defaultSectionSize()

    def _holds_view(self) -> bool:
        """Whether the visible rows stay where they are; else new rows are shown at the top."""
        return self._scrolled() or self._table.selectionModel().hasSelection()

    def _scrolled(self) -> bool:
        return self._table.verticalScrollBar().value() > 0


def _ranges(rows: list[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers in ascending `rows`."""
    ranges: list[tuple[int, int]] = []
    for row in rows:
        if ranges and ranges[-1][1] == row - 1:
            ranges[-1] = (ranges[-1][0], row)
        else:
            ranges.append((row, row))
    return ranges
