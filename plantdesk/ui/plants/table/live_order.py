"""The sorted row ids of the current view, loaded when another view is wanted and updated when plants are added.

It never waits for the store. The previous rows stay until the first ones of a new view arrive; added plants join at the
end where the newest are, and where only the store knows their row it is queried again in the background. After a
failure the query is repeated until it succeeds.
"""

from __future__ import annotations

from array import array
from enum import Enum
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.order_loader import OrderLoader, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from plantdesk.store import Store, View
    from plantdesk.ui.plants.table.id_list_diff import Edit
    from plantdesk.ui.plants.table.order_loader import Chunk, End, Failure, Matched, Refreshed

#: Added ids are compared with so many that are there: a query may have returned them before they were reported.
_OVERLAP = 20_000
_SHORTEST_PAUSE_MS = 200
#: After a failed query, until it is repeated by itself.
_RETRY_DELAY_MS = 2000


class _State(Enum):
    """What the rows are, and what is being asked."""

    EMPTY = "no view was asked for"
    LOADING = "another view is asked for, the rows are still those of the previous one"
    FILLING = "the first rows of the view are there, the others follow"
    COMPLETE = "all rows are there"
    REFRESHING = "all rows are there, and are being compared with the store"
    FAILED = "the view could not be loaded, or only in part"


_ASKING = {_State.LOADING, _State.FILLING, _State.REFRESHING}


class Wanted(NamedTuple):
    """What is to be shown: the text that is searched, and the column that sorts."""

    text: str = ""
    column: Column = Column.ADDED
    descending: bool = True


class LiveOrder(QObject):
    """The ids of a view in their order. Belongs to the GUI thread.

    `replacing` and `replaced(places, live)` stand around an exchange of all rows, where `places` are the rows of the
    kept ids and `live` whether it is still the same view; `inserting(first, last)`, `inserted`, `removing(first, last)`
    and `removed` around lesser changes. `kept_rows_found`: kept ids in rows that came after an exchange.
    `rows_added(ids)`: added plants are in the rows now, wherever the order puts them.
    """

    replacing = Signal()
    replaced = Signal(object, bool)
    inserting = Signal(int, int)
    inserted = Signal()
    removing = Signal(int, int)
    removed = Signal()
    kept_rows_found = Signal(object)
    rows_added = Signal(object)
    busy_changed = Signal(bool)
    count_changed = Signal()
    failed = Signal(object)

    def __init__(self, store: Store, kept: Callable[[], frozenset[int]], parent: QObject | None = None) -> None:
        """Make an order without rows; `kept` is called before each query for the ids to report the rows of."""
        super().__init__(parent)
        self.ids: array[int] = array("q")
        self.total: int | None = None
        self._kept = kept
        self._wanted = Wanted()
        self._request: Request | None = None
        self._state = _State.EMPTY
        self._outdated = False  # whether the store has changed since it was last asked, in a way only it can place
        self._asked_at = 0.0
        self._met: set[int] = set()  # ids that rows_added since the store was last asked
        self._shift = 0  # how many of them stand above the rows that the store returned
        self._late: list[int] = []
        self._unplaced: set[int] = set()  # added ids whose row only the store knows
        self._pause = QTimer(self, singleShot=True, interval=_SHORTEST_PAUSE_MS)
        self._pause.timeout.connect(self._on_pause_over)
        self._loader = OrderLoader(store, self)
        self._loader.chunk_loaded.connect(self._on_chunk_loaded)
        self._loader.ended.connect(self._on_ended)
        self._loader.refreshed.connect(self._on_refreshed)
        self._loader.matched.connect(self._on_matched)
        self._loader.failed.connect(self._on_failed)

    @property
    def complete(self) -> bool:
        """Whether all rows of the view are here."""
        return self._state in {_State.COMPLETE, _State.REFRESHING}

    @property
    def busy(self) -> bool:
        """Whether the rows are still those of the view before."""
        return self._state is _State.LOADING

    @property
    def failed_to_load(self) -> bool:
        """Whether the view could not be loaded; this is retried by itself."""
        return self._state is _State.FAILED

    def ask(self, wanted: Wanted) -> None:
        """Load another view, or the same one again."""
        number = self._request.number + 1 if self._request is not None else 1
        self._wanted = wanted
        self._request = Request(number, _view(wanted), self._kept())
        self._outdated = False
        self._late.clear()
        self._unplaced.clear()
        self._start_counting()
        self._pause.stop()
        self._pause.setInterval(_SHORTEST_PAUSE_MS)
        self._set_state(_State.LOADING)
        self._loader.load(self._request)

    def add(self, ids: list[int]) -> None:
        """Bring in plants that the store has got, in the order in which they came."""
        if self.total is not None:
            self.total += len(ids)
        self._place(ids)

    def refresh_later(self) -> None:
        """Compare with the store soon; under steady change the pauses are longer than the queries."""
        self._outdated = True
        if self._state not in _ASKING and not self._pause.isActive():
            self._pause.start()

    def retry(self) -> None:
        """Repeat a query that failed, now: the store is healthy again."""
        if self._state is _State.FAILED or (self._state is _State.COMPLETE and self._outdated):
            self._pause.stop()
            self._on_pause_over()

    def close(self) -> None:
        """End the thread; no signal follows."""
        self._pause.stop()
        self._loader.close()

    @Slot(object)
    def _on_chunk_loaded(self, chunk: Chunk) -> None:
        if not self._is_current(chunk.number):
            return
        if chunk.start == 0:
            self._start_counting()
            self._replace(chunk.ids, chunk.places, live=False)
        else:
            self._insert(len(self.ids), _without(chunk.ids, self._met))
            self._tell_places(chunk.places)
        if len(self.ids) >= _OVERLAP:
            self._place_late()

    @Slot(object)
    def _on_ended(self, end: End) -> None:
        if not self._is_current(end.number):
            return
        if self.busy:  # there was no chunk: no plant is in the view
            self._replace(array("q"), {}, live=False)
        self._set_state(_State.COMPLETE)
        self._settle(end.total)

    @Slot(object)
    def _on_refreshed(self, refreshed: Refreshed) -> None:
        if not (self._is_current(refreshed.number) and self._state is _State.REFRESHING):
            return
        self._set_state(_State.COMPLETE)
        took_ms = round((monotonic() - self._asked_at) * 1000)
        self._pause.setInterval(max(_SHORTEST_PAUSE_MS, 2 * took_ms))
        if refreshed.edits is not None:
            self._edit(refreshed.edits)
        else:
            ids = self.ids[: self._shift] + _without(refreshed.ids, self._met)
            self._replace(ids, refreshed.places, live=True)
        self._report_placed(refreshed)
        self.total = refreshed.total
        self._settle(refreshed.total)

    @Slot(object)
    def _on_matched(self, matched: Matched) -> None:
        if self._is_current(matched.number):
            self._join(matched.ids)
            self.count_changed.emit()

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        if not self._is_current(failure.number):
            return
        loaded = self._state in {_State.COMPLETE, _State.REFRESHING}
        self._set_state(_State.COMPLETE if loaded else _State.FAILED)
        self._outdated = True
        self._pause.setInterval(_RETRY_DELAY_MS)
        self._pause.start()
        self.failed.emit(failure.error)

    @Slot()
    def _on_pause_over(self) -> None:
        if self._state is _State.FAILED:
            self.ask(self._wanted)
        elif self._state is _State.COMPLETE:
            self._refresh()

    def _refresh(self) -> None:
        if self._request is None:
            return
        self._set_state(_State.REFRESHING)
        self._outdated = False
        self._asked_at = monotonic()
        self._start_counting()
        self._loader.refresh(self._request._replace(kept=self._kept()), self.ids[:])

    def _settle(self, total: int) -> None:
        """Take stock after a question was answered in full."""
        if not self._wanted.text:
            self.total = len(self.ids)
        elif self.total is None:
            self.total = total
        self._place_late()
        if self._outdated:
            self.refresh_later()
        self.count_changed.emit()

    def _place(self, ids: list[int]) -> None:
        """Find the place of new ids: at an end when the order is that of arrival, else the store is asked again."""
        if self._request is None:
            return
        by_arrival, at_top = self._wanted.column is Column.ADDED, self._wanted.descending
        if self._state is _State.FAILED:
            return  # the retry reads them
        if self._state in _ASKING and not (by_arrival and at_top and self._knows_newest()):
            self._late.extend(ids)
        elif not by_arrival:
            self._unplaced.update(ids)
            self.refresh_later()
        elif self._wanted.text:
            self._loader.match(self._request, ids)
        else:
            self._join(ids)

    def _knows_newest(self) -> bool:
        """Whether enough rows are here to recognise the ids that the store has returned already."""
        return self._state is _State.REFRESHING or (self._state is _State.FILLING and len(self.ids) >= _OVERLAP)

    def _place_late(self) -> None:
        late, self._late = self._late, []
        if late:
            self._place(late)

    def _join(self, ids: list[int]) -> None:
        """Put ids to the end of the rows where the newest are."""
        at_top = self._wanted.descending
        known = set(self.ids[:_OVERLAP] if at_top else self.ids[-_OVERLAP:])
        new = array("q", _after_last(ids, known))
        if not new:
            return
        self._met.update(new)
        if at_top:
            new.reverse()
            self._shift += len(new)
        self._insert(0 if at_top else len(self.ids), new)
        self.rows_added.emit(new)

    def _edit(self, edits: list[Edit]) -> None:
        for edit in reversed(edits):
            row = edit.row + self._shift
            self._remove(row, edit.removed)
            self._insert(row, _without(edit.inserted, self._met))

    def _report_placed(self, refreshed: Refreshed) -> None:
        """Emit `rows_added` for the added plants that a comparison brought; the others are not in the view."""
        if self._unplaced:
            pieces = [refreshed.ids] if refreshed.edits is None else [edit.inserted for edit in refreshed.edits]
            placed = array("q", [plant_id for ids in pieces for plant_id in ids if plant_id in self._unplaced])
            self._unplaced.clear()
            if placed:
                self.rows_added.emit(placed)

    def _insert(self, row: int, ids: array[int]) -> None:
        if ids:
            self.inserting.emit(row, row + len(ids) - 1)
            self.ids[row:row] = ids
            self.inserted.emit()

    def _remove(self, row: int, count: int) -> None:
        if count:
            self.removing.emit(row, row + count - 1)
            del self.ids[row : row + count]
            self.removed.emit()

    def _replace(self, ids: array[int], places: dict[int, int], *, live: bool) -> None:
        self.replacing.emit()
        self.ids = ids
        if self.busy:
            self._set_state(_State.FILLING)
        self.replaced.emit(self._true_places(places), live)

    def _tell_places(self, places: dict[int, int]) -> None:
        if places:
            self.kept_rows_found.emit(self._true_places(places))

    def _true_places(self, places: dict[int, int]) -> dict[int, int]:
        """Return the places with what rows_added above them, leaving out those that are unknown."""
        moved = {plant_id: row + self._shift for plant_id, row in places.items()}
        return {plant_id: row for plant_id, row in moved.items() if self.ids[row : row + 1] == array("q", [plant_id])}

    def _start_counting(self) -> None:
        self._met.clear()
        self._shift = 0

    def _is_current(self, number: int) -> bool:
        return self._request is not None and self._request.number == number

    def _set_state(self, state: _State) -> None:
        was_busy, self._state = self.busy, state
        if self.busy is not was_busy:
            self.busy_changed.emit(self.busy)


def _without(ids: array[int], met: Collection[int]) -> array[int]:
    return ids if not met else array("q", [plant_id for plant_id in ids if plant_id not in met])


def _after_last(ids: list[int], known: Collection[int]) -> list[int]:
    """Return those of `ids` that came after every known one: a query that saw a plant saw those before it."""
    last = max((place for place, plant_id in enumerate(ids) if plant_id in known), default=-1)
    return ids[last + 1 :]


def _view(wanted: Wanted) -> View:
    from plantdesk.store import Order, View

    return View(wanted.text, Order(wanted.column.name.lower()), wanted.descending)
