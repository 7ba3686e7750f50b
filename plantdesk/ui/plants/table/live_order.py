"""The sorted row ids of the current query, kept up to date while plants are added.

Nothing here waits for the store. The previous rows stay until the first ones of a new query arrive. Added plants are
inserted at the end where the newest are; where only the store knows their row, it is queried again in the background.
After a failure the query is repeated until it succeeds. Rows that are replaced are compared by a bounded diff, as
removals and insertions, so that selection and scroll position stay.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from enum import Enum
from functools import partial
from itertools import groupby
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.search import parse_search
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.queries import insertion_points_of, load_order, matching_ids, refresh_order, rows_of

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.views import InsertionPoint, View
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.plants.table.queries import Chunk, Edit, Refreshed


#: Added ids are compared with this number of rows: a query may have returned them before they were reported.
_OVERLAP = 20_000
_MIN_PAUSE_MS = 200
#: More changed plants than this are found by a comparison with the store.
_MAX_LOOKED_UP = 10
#: More added plants than this, whose rows only the store knows, are found by a comparison as well.
_MAX_INSERTED = 100
#: After a failed query, until it is repeated.
_RETRY_DELAY_MS = 2000


class _State(Enum):
    """What the rows are, and what is being queried."""

    EMPTY = "nothing was queried yet"
    LOADING = "another query runs, the rows are still those of the previous one"
    FILLING = "the first rows of the query are there, the others follow"
    COMPLETE = "all rows are there"
    REFRESHING = "all rows are there, and are being compared with the store"
    FAILED = "the query failed, the rows are missing or incomplete"


_QUERYING = {_State.LOADING, _State.FILLING, _State.REFRESHING}


class Query(NamedTuple):
    """What the table shows: the text that is searched for, and the column that sorts."""

    text: str = ""
    column: Column = Column.ADDED
    descending: bool = True


class LiveOrder(QObject):
    """The ids of a query in their order. Belongs to the GUI thread.

    `replacing` and `replaced(retained_rows, same_query)` are emitted around a replacement of all rows; `retained_rows`
    are the rows of the retained ids; `inserting(first, last)`, `inserted`, `removing(first, last)` and `removed` around
    smaller changes. `retained_rows_found(retained_rows)`: retained ids in rows that were loaded after a replacement.
    `rows_added(ids)`: added plants are in the rows now, wherever the order puts them.
    """

    replacing = Signal()
    replaced = Signal(object, bool)
    inserting = Signal(int, int)
    inserted = Signal()
    removing = Signal(int, int)
    removed = Signal()
    retained_rows_found = Signal(object)
    rows_added = Signal(object)
    busy_changed = Signal(bool)
    count_changed = Signal()
    failed = Signal(object)

    def __init__(
        self, bridge: Bridge, store: PlantStore, retained: Callable[[], frozenset[int]], parent: QObject | None = None
    ) -> None:
        """Make an order without rows; `retained` is called before each query for the ids to report the rows of."""
        super().__init__(parent)
        self.ids: array[int] = array("q")
        self.total: int | None = None
        self._retained = retained
        self._query = self.shown_query = Query()  # the one that was requested, and that of the rows
        self._view: View | None = None
        self._state = _State.EMPTY
        self._outdated = False  # the store has changed since the last query, in a way that takes another one
        self._queried_at = 0.0
        self._added_since_query: set[int] = set()
        self._prepended = 0  # how many of them are above the rows that the store returned
        self._added_while_loading: list[int] = []
        self._added_elsewhere: set[int] = set()  # added ids whose row only the store knows
        self._matching: set[int] = set()  # added ids for which the store is asked whether the search finds them
        self._inserting: frozenset[int] = frozenset()  # those whose row is being queried
        self._revision = self._inserting_revision = 0  # of the rows now, and at that query
        self._pause = QTimer(self, singleShot=True, interval=_MIN_PAUSE_MS)
        self._pause.timeout.connect(self._on_pause_over)
        self._worker = bridge.worker("plant-order")
        self._queries = StoreQueries(self._worker, store)

    @property
    def complete(self) -> bool:
        """Whether all rows of the query are loaded."""
        return self._state in {_State.COMPLETE, _State.REFRESHING}

    @property
    def busy(self) -> bool:
        """Whether the rows are still those of the previous query."""
        return self._state is _State.LOADING

    @property
    def failed_to_load(self) -> bool:
        """Whether the query failed; it is repeated automatically."""
        return self._state is _State.FAILED

    @property
    def is_current(self) -> bool:
        """Whether all rows are loaded, and nothing is known to have changed since."""
        return self._state is _State.COMPLETE and not (self._outdated or self._added_elsewhere or self._matching)

    def load(self, query: Query) -> None:
        """Load the rows of another query, or of the same one again."""
        self._query = query
        if self._state is _State.EMPTY:
            self.shown_query = query
        self._view = view_of(query)
        self._outdated = False
        self._added_while_loading.clear()
        self._added_elsewhere.clear()
        self._matching.clear()
        self._inserting = frozenset()
        self._forget_added()
        self._pause.stop()
        self._pause.setInterval(_MIN_PAUSE_MS)
        self._set_state(_State.LOADING)
        self._queries.cancel()
        load = partial(load_order, view=self._view, retained=self._retained())
        self._queries.ask(self, load, self._on_loaded, self._on_failed, progress=self._on_chunk_loaded)

    def add(self, ids: list[int]) -> None:
        """Insert plants that were added to the store, in the order in which they were added."""
        if self.total is not None:
            self.total += len(ids)
        self._insert_added(ids)
        self._count_rows()

    def update(self, updated: Sequence[int], removed: Sequence[int], row_of: Callable[[int], int | None]) -> None:
        """Show that plants were edited or restored (`updated`) and deleted.

        A few are looked up by `row_of`, else the rows are compared with the store.
        """
        keeps_order = self._query.column in {Column.ADDED, Column.ID} and not self._query.text
        few = len(updated) + len(removed) <= _MAX_LOOKED_UP and self._state is _State.COMPLETE
        if not few or (updated and not keeps_order) or any(row_of(plant_id) is None for plant_id in updated):
            self.refresh_later()
            return
        shown = 0
        for plant_id in removed:
            row = row_of(plant_id)
            if row is not None:
                self._remove(row, 1)
                shown += 1
        if self.total is not None:
            self.total -= shown
        if shown < len(removed) and self._query.text:  # counted, unless it was added and deleted since the last signal
            self.refresh_later()
        self.count_changed.emit()

    def refresh_later(self) -> None:
        """Compare with the store soon; under steady change the pauses are longer than the queries."""
        self._outdated = True
        if self._state not in _QUERYING and not self._pause.isActive():
            self._pause.start()

    def retry(self) -> None:
        """Repeat a query that failed, now: the store is healthy again."""
        if self._state is _State.FAILED or (self._state is _State.COMPLETE and self._outdated):
            self._pause.stop()
            self._on_pause_over()

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._pause.stop()
        self._queries.close()
        self._worker.close()

    def _on_chunk_loaded(self, chunk: Chunk) -> None:
        if chunk.start == 0:
            self._forget_added()
            self._replace(chunk.ids, chunk.retained_rows, same_query=False)
        else:
            self._insert(len(self.ids), _without(chunk.ids, self._added_since_query))
            if chunk.retained_rows:
                self.retained_rows_found.emit(self._current_rows(chunk.retained_rows))
        if len(self.ids) >= _OVERLAP:
            self._insert_added_while_loading()

    def _on_loaded(self, total: int) -> None:
        if self.busy:  # there was no chunk: the query has no rows
            self._replace(array("q"), {}, same_query=False)
        self._set_state(_State.COMPLETE)
        self._settle(total)

    def _on_refreshed(self, refreshed: Refreshed) -> None:
        if self._state is not _State.REFRESHING:  # another query has failed since
            return
        self._set_state(_State.COMPLETE)
        took_ms = round((monotonic() - self._queried_at) * 1000)
        self._pause.setInterval(max(_MIN_PAUSE_MS, 2 * took_ms))
        if refreshed.edits is not None:
            self._edit(refreshed.edits)
        else:
            ids = self.ids[: self._prepended] + _without(refreshed.ids, self._added_since_query)
            self._replace(ids, refreshed.retained_rows, same_query=True)
        self._report_added_elsewhere(refreshed)
        self.total = refreshed.total
        self._settle(refreshed.total)

    def _on_matched(self, asked: list[int], found: list[int]) -> None:
        self._matching.difference_update(asked)
        self._insert_at_end(found)
        self.count_changed.emit()

    def _on_failed(self, error: Exception) -> None:
        loaded = self._state in {_State.COMPLETE, _State.REFRESHING}
        self._set_state(_State.COMPLETE if loaded else _State.FAILED)
        self._outdated = True
        self._matching.clear()
        self._inserting = frozenset()
        self._pause.setInterval(_RETRY_DELAY_MS)
        self._pause.start()
        self.failed.emit(error)

    @Slot()
    def _on_pause_over(self) -> None:
        if self._state is _State.FAILED:
            self.load(self._query)
        elif self._state is _State.COMPLETE:
            self._refresh()

    def _refresh(self) -> None:
        if self._view is None:
            return
        self._set_state(_State.REFRESHING)
        self._outdated = False
        self._inserting = frozenset()
        self._added_elsewhere.update(self._added_while_loading)
        self._added_while_loading.clear()
        self._queried_at = monotonic()
        self._forget_added()
        refresh = partial(refresh_order, view=self._view, retained=self._retained(), old=self.ids[:])
        self._queries.ask(self, refresh, self._on_refreshed, self._on_failed)

    def _settle(self, total: int) -> None:
        """Update what depends on all rows, after a query has returned them."""
        if not self._query.text:
            self.total = len(self.ids)
        elif self.total is None:
            self.total = total
        self._insert_added_while_loading()
        if self._outdated:
            self.refresh_later()
        self.count_changed.emit()

    def _count_rows(self) -> None:
        """Count the plants of the store where all have rows: a query may have counted those that are reported now."""
        if self.is_current and not self._query.text:
            self.total = len(self.ids)

    def _insert_added(self, ids: list[int]) -> None:
        """Insert added ids: at an end when sorted by time, else where a query of the store finds them."""
        if self._view is None:
            return
        by_time, newest_first = self._query.column is Column.ADDED, self._query.descending
        if self._state is _State.FAILED:
            return  # the retry reads them
        if self._state in _QUERYING and not (by_time and newest_first and self._knows_newest()):
            self._added_while_loading.extend(ids)
        elif not by_time:
            self._added_elsewhere.update(ids)
            self._find_insertion_points()
        elif self._query.text:
            match = partial(matching_ids, view=self._view, ids=ids)
            self._matching.update(ids)
            self._queries.ask(self, match, partial(self._on_matched, ids), self._on_failed)
        else:
            self._insert_at_end(ids)

    def _find_insertion_points(self) -> None:
        """Ask the store for the rows of added plants, one query at a time; of very many by a comparison."""
        if self._state is not _State.COMPLETE or self._outdated or len(self._added_elsewhere) > _MAX_INSERTED:
            self.refresh_later()
        elif self._added_elsewhere and not self._inserting and self._view is not None:
            self._inserting, self._inserting_revision = frozenset(self._added_elsewhere), self._revision
            points = partial(insertion_points_of, view=self._view, ids=list(self._inserting), known=self.ids[:])
            self._queries.ask(self, points, self._on_points_found, self._on_failed)

    def _on_points_found(self, points: list[InsertionPoint] | None) -> None:
        inserted, self._inserting = self._inserting, frozenset()
        if points is None:
            self.refresh_later()
        elif self._state is not _State.COMPLETE or self._revision != self._inserting_revision:
            self._find_insertion_points()
        else:
            self._added_elsewhere -= inserted
            for row, group in reversed([(row, list(group)) for row, group in groupby(points, attrgetter("row"))]):
                self._insert(row, array("q", [point.id for point in group]))
            if points:
                self.rows_added.emit(array("q", [point.id for point in points]))
            self._count_rows()
            self.count_changed.emit()
            if self._added_elsewhere:
                self._find_insertion_points()

    def _knows_newest(self) -> bool:
        """Whether enough rows are loaded to recognise the ids that the store has returned already."""
        return self._state is _State.REFRESHING or (self._state is _State.FILLING and len(self.ids) >= _OVERLAP)

    def _insert_added_while_loading(self) -> None:
        ids, self._added_while_loading = self._added_while_loading, []
        if ids:
            self._insert_added(ids)

    def _insert_at_end(self, ids: list[int]) -> None:
        """Insert ids at the end of the rows where the newest are, unless they are there already."""
        if self._may_have_rows(ids):
            if self._state is _State.REFRESHING:
                self._added_while_loading.extend(ids)
            else:
                self._added_elsewhere.update(ids)
                self.refresh_later()
            return
        newest_first = self._query.descending
        known = set(self.ids[:_OVERLAP] if newest_first else self.ids[-_OVERLAP:])
        new = array("q", _after_last(ids, known))
        if not new:
            return
        self._added_since_query.update(new)
        if newest_first:
            new.reverse()
            self._prepended += len(new)
        self._insert(0 if newest_first else len(self.ids), new)
        self.rows_added.emit(new)

    def _may_have_rows(self, ids: list[int]) -> bool:
        """Whether the rows are out of date and may have these ids further down: the next comparison finds them."""
        is_out_of_date = self._outdated or self._state is _State.REFRESHING
        return is_out_of_date and (len(ids) > _MAX_LOOKED_UP or bool(rows_of(frozenset(ids), self.ids)))

    def _edit(self, edits: list[Edit]) -> None:
        for edit in reversed(edits):
            row = edit.row + self._prepended
            self._remove(row, edit.removed)
            self._insert(row, _without(edit.inserted, self._added_since_query))

    def _report_added_elsewhere(self, refreshed: Refreshed) -> None:
        """Emit `rows_added` for the added plants that a comparison found; the query does not match the others."""
        if self._added_elsewhere:
            pieces = [refreshed.ids] if refreshed.edits is None else [edit.inserted for edit in refreshed.edits]
            found = array("q", [plant_id for ids in pieces for plant_id in ids if plant_id in self._added_elsewhere])
            self._added_elsewhere.clear()
            if found:
                self.rows_added.emit(found)

    def _insert(self, row: int, ids: array[int]) -> None:
        if ids:
            self._revision += 1
            self.inserting.emit(row, row + len(ids) - 1)
            self.ids[row:row] = ids
            self.inserted.emit()

    def _remove(self, row: int, count: int) -> None:
        if count:
            self._revision += 1
            self.removing.emit(row, row + count - 1)
            del self.ids[row : row + count]
            self.removed.emit()

    def _replace(self, ids: array[int], retained_rows: dict[int, int], *, same_query: bool) -> None:
        self._revision += 1
        self.replacing.emit()
        self.ids = ids
        if self.busy:
            self.shown_query = self._query
            self._set_state(_State.FILLING)
        self.replaced.emit(self._current_rows(retained_rows), same_query)

    def _current_rows(self, retained_rows: dict[int, int]) -> dict[int, int]:
        """Return rows of a query result as they are below the prepended ones, without those that differ."""
        moved = {plant_id: row + self._prepended for plant_id, row in retained_rows.items()}
        return {plant_id: row for plant_id, row in moved.items() if self.ids[row : row + 1] == array("q", [plant_id])}

    def _forget_added(self) -> None:
        self._added_since_query.clear()
        self._prepended = 0

    def _set_state(self, state: _State) -> None:
        was_busy, self._state = self.busy, state
        if self.busy is not was_busy:
            self.busy_changed.emit(self.busy)


def _without(ids: array[int], excluded: Collection[int]) -> array[int]:
    return ids if not excluded else array("q", [plant_id for plant_id in ids if plant_id not in excluded])


def _after_last(ids: list[int], known: Collection[int]) -> list[int]:
    """Return the ids after the last known one: a query that returned a plant also returned those before it."""
    last = max((at for at, plant_id in enumerate(ids) if plant_id in known), default=-1)
    return ids[last + 1 :]


def view_of(query: Query) -> View:
    """Return the view of a query."""
    from plantdesk.domain.views import Order, View

    return View(parse_search(query.text), Order(query.column.order), query.descending)
