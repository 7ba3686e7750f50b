"""The model of the table, for a million rows. `data()` does not read the store.

The order of the rows is an array of ids (8 MB per million). Queries on a thread of their own update it, with pauses
longer than the queries. A failed query is repeated until it succeeds. The rows are read in pages into a cache. Cells of
a row that is not loaded yet show "…".
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, QTimer, Signal, Slot
from typing_extensions import override

from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import Changes, PlantRow
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import View
from plantdesk.ui.background import StoreQueries, Task
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.table.cells import PENDING, Column, cell_text, column_title, spoken_text, tool_tip
from plantdesk.ui.plants.table.row_order import (
    Insertion,
    Removal,
    RowEdit,
    RowOrder,
    RowReplacement,
    RowsState,
    TableQuery,
)
from plantdesk.ui.qt import Index

#: The role under which a delegate gets the PlantRow itself, None while it is not loaded.
PLANT_ROLE = Qt.ItemDataRole.UserRole

_ROW_FLAGS = (  # a constant, as Qt requests it three times for each cell that it paints
    Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemIsDragEnabled
    | Qt.ItemFlag.ItemNeverHasChildren
)
_PREFETCH_ROWS = 100
_MAX_PAGE_ROWS = 2000
_MAX_CACHED_ROWS = 8000
#: The most pages that wait; while the user drags the scroll bar, older ones are dropped.
_MAX_WAITING_PAGES = 6
#: Characters of a text in the cache; cells and tooltips show no more.
MAX_TEXT = 600
#: The least pause before the next query of the order, which is at least twice as long as the last query took.
_MIN_PAUSE_MS = 200
#: The pause after a failed query until it is repeated.
_RETRY_DELAY_MS = 2000
_TEXT_FUNCTIONS: dict[int, Callable[[PlantRow, Column], str | None]] = {
    Qt.ItemDataRole.DisplayRole: cell_text,
    Qt.ItemDataRole.ToolTipRole: tool_tip,
    Qt.ItemDataRole.AccessibleTextRole: spoken_text,
}
_ROLES = {*_TEXT_FUNCTIONS, PLANT_ROLE}


class _CachedRow(NamedTuple):
    """A row (None: the store has none), and the generation of the cache in which it was requested."""

    generation: int
    row: PlantRow | None


_UNCACHED = _CachedRow(-1, None)


class PageCache(QObject):
    """A cache of rows by id, which reads pages on a thread of its own. Used on the GUI thread only."""

    #: Requested rows were read.
    loaded = Signal()
    #: (error) Requested rows were not read.
    failed = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[int, _CachedRow] = {}
        self._generation = 0
        self._waiting_pages: deque[Sequence[int]] = deque(maxlen=_MAX_WAITING_PAGES)
        self._name_search: Task | None = None
        self._queries = StoreQueries(bridge.new_worker("plant-pages"), store)

    def row(self, plant_id: int) -> PlantRow | None:
        """Return a row with shortened texts; None if it is not loaded. An expired row stays until it is read."""
        return self._rows.get(plant_id, _UNCACHED).row

    def is_missing(self, plant_id: int) -> bool:
        """Return whether a row must be read, as it was never read or has expired."""
        return self._rows.get(plant_id, _UNCACHED).generation < self._generation

    def request(self, ids: Sequence[int]) -> None:
        """Read a page of rows in the background; if too many pages wait, the oldest is dropped."""
        self._waiting_pages.append(ids)
        self._queries.run(self, self._read_page, partial(self._on_read, self._generation), self.failed.emit)

    def find(self, view: View, start: str, done: Callable[[int | None], object]) -> None:
        """Find the first plant of a view whose name begins with `start`, for `done`; cancel an earlier search."""
        if self._name_search is not None:
            self._name_search.cancel()
        self._name_search = self._queries.run(
            self, lambda reader, _task: reader.find_first_by_name_start(view, start), done, self.failed.emit
        )

    def add(self, rows: Iterable[PlantRow]) -> None:
        """Add rows that are known already, as from a commit, so that they need not be read."""
        self._store_rows(self._generation, {row.id: _shorten(row) for row in rows})

    def expire(self) -> None:
        """Let each row be read again when it is needed, as it may have changed."""
        self._generation += 1

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._queries.end()

    def _read_page(self, reader: PlantReader, _task: Task) -> dict[int, PlantRow | None]:
        """Read the newest page that waits; runs on the thread `plant-pages`."""
        if not self._waiting_pages:  # its page was dropped
            return {}
        ids = self._waiting_pages.pop()
        rows = reader.shortened_rows(ids, MAX_TEXT)
        return {plant_id: _shorten(rows[plant_id]) if plant_id in rows else None for plant_id in ids}

    def _on_read(self, generation: int, rows: dict[int, PlantRow | None]) -> None:
        """Add a page, except for rows that were added while it was read."""
        self._store_rows(generation, {plant_id: row for plant_id, row in rows.items() if self.is_missing(plant_id)})
        if rows:
            self.loaded.emit()

    def _store_rows(self, generation: int, rows: Mapping[int, PlantRow | None]) -> None:
        for plant_id, row in rows.items():
            self._rows.pop(plant_id, None)  # to become the newest
            self._rows[plant_id] = _CachedRow(generation, row)
        while len(self._rows) > _MAX_CACHED_ROWS:  # drop the rows that were read first
            del self._rows[next(iter(self._rows))]


class PlantModel(QAbstractTableModel):
    """The plants that a query finds in the store. GUI thread only; errors of the store are signalled, not raised."""

    #: The query or the state of `rows` has changed.
    state_changed = Signal()
    #: (is_same_query) All rows were replaced.
    rows_replaced = Signal(bool)
    #: (plant_id) The result of `find_name`.
    name_found = Signal(object)
    #: (error) A query has failed.
    failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        #: The requested query, and the query of the present rows.
        self.query = self.shown_query = TableQuery()
        #: The order of the rows.
        self.rows = RowOrder()
        self._queries: StoreQueries | None = None
        self._pause_timer = QTimer(self, singleShot=True)
        self._pause_timer.timeout.connect(self._query_if_needed)
        self._cache: PageCache | None = None
        self._draft: PlantRow | None = None
        self._missing_rows: set[int] = set()

    def set_store(self, store: PlantStore) -> None:
        """Begin to read and show the plants of `store`, on two threads that `close` ends."""
        self.close()
        self._cache = PageCache(self._bridge, store, self)
        self._cache.loaded.connect(self._repaint_all)
        self._cache.failed.connect(self.failed)
        self._queries = StoreQueries(self._bridge.new_worker("plant-order"), store)
        self.shown_query = self.query
        self._restart_query()

    def show(self, query: TableQuery) -> None:
        """Show the rows of another query; the present rows stay until the first new ones are loaded."""
        if query != self.query:
            self.query = query
            self._restart_query()

    @Slot()
    def reload_if_relative(self) -> None:
        """Update cells as the date has changed, and query again if the search depends on today."""
        if parse_search(self.query.text).depends_on_today:
            self.refresh()
        self._repaint_all()  # times of today become “Yesterday”

    def refresh(self) -> None:
        """Query the order of the rows again, with the same search and sort column."""
        if self._cache is not None:
            self._apply_edits(self.rows.apply(Changes(needs_reload=True)))

    def retry(self) -> None:
        """Repeat a failed query now; otherwise that happens every two seconds."""
        self._pause_timer.stop()
        self._query_if_needed()
        self._repaint_all()

    def apply(self, changes: Changes) -> None:
        """Update order and cached rows after a commit."""
        if self._cache is None:
            return
        if changes.needs_reload:
            self._cache.expire()
            self._repaint_all()  # painting requests what is missing
        self._cache.add((*changes.added, *changes.updated))
        self._apply_edits(self.rows.apply(changes))
        if changes.updated:
            self._repaint_all()

    def show_draft(self, row: PlantRow | None) -> None:
        """Show a plant with texts that are being edited; None: show it again as it is stored."""
        previous_draft = self._draft
        self._draft = row
        if self._cache is not None and previous_draft is not None:
            self._cache.add([previous_draft])
            self._cache.expire()
        self._repaint_all()

    def find_name(self, start: str) -> None:
        """Search the first row whose name begins with `start`; emits `name_found` if there is one."""
        if self._cache is not None:
            self._cache.find(self.query.view, start, self._on_name_found)

    def close(self) -> None:
        """End the threads, before the store is closed, and forget the rows."""
        if self._cache is None or self._queries is None:
            return
        self._cache.close()
        self._pause_timer.stop()
        self._queries.end()
        self._cache = self._queries = None
        self.beginResetModel()
        self.rows = RowOrder()
        self.endResetModel()
        self.state_changed.emit()

    def read(self, first: int, last: int) -> None:
        """Read rows of this range soon, before they are painted."""
        self._missing_rows.update(range(first, last + 1))
        self._request_page()

    def id_at(self, row: int) -> int:
        """Return the id of the plant in a row."""
        return self.rows.ids[row]

    def loaded_row(self, plant_id: int) -> PlantRow | None:
        """Return the loaded row of a plant, with long texts cut; None if it is not loaded."""
        return self._cache.row(plant_id) if self._cache is not None else None

    def rows_of(self, plant_ids: Collection[int]) -> dict[int, int]:
        """Return the row numbers of those plants that are in the table. Takes 70 ms at a million rows."""
        requested = frozenset(plant_ids)
        if not requested:
            return {}
        return {plant_id: row for row, plant_id in enumerate(self.rows.ids) if plant_id in requested}

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        has_parent = parent is not None and parent.isValid()
        return 0 if has_parent else len(self.rows.ids)

    @override
    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or role not in _ROLES:
            return None
        row = self._row_or_request(index.row())
        if role == PLANT_ROLE:
            return row
        return _TEXT_FUNCTIONS[role](row, Column(index.column())) if row is not None else PENDING

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        return _ROW_FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        title = column_title(Column(section))
        if role == Qt.ItemDataRole.DisplayRole and section == self.shown_query.column:
            return f"{title} {'↓' if self.shown_query.descending else '↑'}"
        return title if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole} else None

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        is_descending = order is Qt.SortOrder.DescendingOrder
        self.show(self.query._replace(column=Column(column), descending=is_descending))

    @Slot()
    def _request_page(self) -> None:
        """Request the rows that were painted before they were loaded, and rows around them."""
        missing = sorted(self._missing_rows)
        self._missing_rows = set()
        if self._cache is None or not missing:
            return
        ids = self.rows.ids
        cache = self._cache
        rows: Iterable[int] = range(max(missing[0] - _PREFETCH_ROWS, 0), min(missing[-1] + _PREFETCH_ROWS, len(ids)))
        if missing[-1] - missing[0] > _MAX_PAGE_ROWS:  # too far apart to read the rows between them
            rows = [row for row in missing[:_MAX_PAGE_ROWS] if row < len(ids)]
        if requested := [ids[row] for row in rows if cache.is_missing(ids[row])]:
            cache.request(requested)
        else:
            self._repaint_all()

    @Slot()
    def _repaint_all(self) -> None:
        rows = self.rowCount()
        if rows:
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, len(Column) - 1))

    def _restart_query(self) -> None:
        """Cancel the running query, and query all rows anew; the present rows stay meanwhile."""
        self._pause_timer.stop()
        if self._queries is not None:
            self._queries.cancel()
            self._query_order(RowsState.LOADING)
            self.state_changed.emit()

    def _query_order(self, state: RowsState) -> None:
        if self._queries is not None:
            view = self.query.view
            self.rows.mark_querying(state, view)
            read = partial(_read_order, view=view, reports_first=state is RowsState.LOADING)
            done = partial(self._on_order_read, monotonic())
            self._queries.run(self, read, done, self._on_order_failed, progress=self._on_first_ids_read)

    @Slot()
    def _query_if_needed(self) -> None:
        match self.rows.needed_query:
            case RowsState.LOADING:
                self._restart_query()
            case RowsState.REFRESHING as state:
                self._query_order(state)

    def _on_first_ids_read(self, ids: array[int]) -> None:
        self._apply_edits(self.rows.take_first(ids))

    def _on_order_read(self, started_at: float, answer: tuple[array[int], int]) -> None:
        self._pause_timer.start(max(_MIN_PAUSE_MS, round(2000 * (monotonic() - started_at))))
        self._apply_edits(self.rows.take_all(*answer))

    def _on_order_failed(self, error: Exception) -> None:
        self._pause_timer.start(_RETRY_DELAY_MS)
        self.rows.mark_failed()
        self.state_changed.emit()
        self.failed.emit(error)

    def _apply_edits(self, edits: Iterable[RowEdit]) -> None:
        for edit in edits:
            self._apply_edit(edit)
        if not self._pause_timer.isActive():
            self._query_if_needed()
        self.state_changed.emit()

    def _apply_edit(self, edit: RowEdit) -> None:
        """Apply an edit to `rows.ids`, and tell the views about it."""
        match edit:
            case Insertion(row, ids):
                self.beginInsertRows(QModelIndex(), row, row + len(ids) - 1)
                self.rows.ids[row:row] = ids
                self.endInsertRows()
            case Removal(row, size):
                self.beginRemoveRows(QModelIndex(), row, row + size - 1)
                del self.rows.ids[row : row + size]
                self.endRemoveRows()
            case RowReplacement(ids, is_same_query):
                self.beginResetModel()
                self._missing_rows.clear()
                self.rows.ids = ids
                self.shown_query = self.shown_query if is_same_query else self.query
                self.endResetModel()
                self.rows_replaced.emit(is_same_query)

    def _on_name_found(self, plant_id: int | None) -> None:
        if plant_id is not None:
            self.name_found.emit(plant_id)

    def _row_or_request(self, row: int) -> PlantRow | None:
        """Return a row, or None; if it has to be read, request it."""
        if self._cache is None:
            return None
        plant_id = self.rows.ids[row]
        if self._cache.is_missing(plant_id):
            if not self._missing_rows:
                QTimer.singleShot(0, self, self._request_page)  # after all of them are painted
            self._missing_rows.add(row)
        is_draft = self._draft is not None and self._draft.id == plant_id
        return self._draft if is_draft else self._cache.row(plant_id)


def _read_order(reader: PlantReader, task: Task, view: View, *, reports_first: bool) -> tuple[array[int], int]:
    """Return the ids of a view, and the number of plants in the store; report the first ids before that."""
    ids = array("q")
    for chunk in reader.ids(view):
        task.raise_if_cancelled()
        if reports_first and not ids:
            task.report(chunk)
        ids += chunk
    return ids, len(ids) if view.plants.is_everything else reader.count()


def _shorten(row: PlantRow) -> PlantRow:
    tag = row.tag[:MAX_TEXT] if row.tag is not None else None
    return row._replace(name=row.name[:MAX_TEXT], tag=tag, note=None)
