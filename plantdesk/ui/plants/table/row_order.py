"""The order of the rows as a list of ids. A query on its own thread keeps it equal to the order of the store.

If the newest plants are at an end, added plants get their rows at once. A few deleted plants lose theirs at once.
After every other change the whole order is queried again: at once, under steady change with pauses that are longer than
the queries. A failed query is repeated until it succeeds.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import Enum
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.search import parse_search
from plantdesk.domain.views import Order, View
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.plants.table.cells import Column

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.domain.records import Changes
    from plantdesk.ui.background import Task, Worker
    from plantdesk.ui.bridge import Bridge

#: So many of the newest rows are compared with added ids: a query may return plants before they are reported.
_OVERLAP = 20_000
#: More plants than this are not searched in the rows: each takes 10 ms at a million rows.
_MAX_LOOKED_UP = 10
#: The least pause until the next query; twice the time that the last one took, if that is longer.
_MIN_PAUSE_MS = 200
#: The pause after a failed query until it is repeated.
_RETRY_DELAY_MS = 2000


class Query(NamedTuple):
    """What the table shows: the text of the search, and the column that sorts."""

    text: str = ""
    column: Column = Column.ADDED
    descending: bool = True

    @property
    def view(self) -> View:
        """The plants of the query in their order."""
        return View(parse_search(self.text), Order(self.column.order), self.descending)


class Insertion(NamedTuple):
    """Ids that are inserted before `row`."""

    row: int
    ids: array[int]


class Removal(NamedTuple):
    """`size` rows are removed, starting at `row`."""

    row: int
    size: int


class Replacement(NamedTuple):
    """All rows are replaced; if `same_query`, by rows of the same query, else by the first rows of another one."""

    ids: array[int]
    same_query: bool


Edit: TypeAlias = Insertion | Removal | Replacement


class State(Enum):
    """What the rows are, and what is being queried."""

    EMPTY = "nothing was queried yet"
    LOADING = "another query runs, the rows are still those of the previous one"
    FILLING = "the first rows of the query are there, the others follow"
    COMPLETE = "all rows are there"
    REFRESHING = "all rows are there, and are being compared with the store"
    FAILED = "the query failed, the rows are missing or incomplete"


class RowOrder(QObject):
    """The ids of a view in their order. Belongs to the GUI thread.

    `edited(edit)`: the listener applies this edit to `ids` at once. `settled`: the state has changed, or all edits
    of a change are applied.
    """

    edited = Signal(object)
    settled = Signal()
    failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._worker: Worker | None = None
        self._queries: StoreQueries | None = None
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._ask_again)
        self._forget()

    def _forget(self) -> None:
        self.ids: array[int] = array("q")
        self.state = State.EMPTY
        self._view = View()
        self._counted: int | None = None
        #: Ids that were added while a query runs: it may return them or not.
        self._held: array[int] = array("q")
        #: Whether the rows may differ from those of the store by more than what a running query returns.
        self._is_outdated = False

    @property
    def complete(self) -> bool:
        """Whether all rows of the view are there."""
        return self.state in {State.COMPLETE, State.REFRESHING}

    @property
    def is_current(self) -> bool:
        """Whether all rows are there, and nothing is known to have changed since."""
        return self.state is State.COMPLETE and not self._is_outdated

    @property
    def total(self) -> int | None:
        """The number of plants in the store, None until it is known."""
        return len(self.ids) if self.complete and self._view.plants.is_everything else self._counted

    def row_of(self, plant_id: int) -> int | None:
        """Return the row of a plant, None if it is not there. Takes 10 ms at a million rows."""
        try:
            return self.ids.index(plant_id)
        except ValueError:
            return None

    def open(self, store: PlantStore) -> None:
        """Query this store."""
        self._worker = self._bridge.worker("plant-order")
        self._queries = StoreQueries(self._worker, store)

    def close(self) -> None:
        """Cancel the query, end the thread, and forget the rows; no signal follows."""
        self._pause.stop()
        if self._queries is not None and self._worker is not None:
            self._queries.close()
            self._worker.close()
        self._queries = self._worker = None
        self._forget()

    def load(self, view: View) -> None:
        """Load the rows of another view, or of the same one from the beginning."""
        self._counted, self._view = self.total, view
        self._pause.stop()
        if self._queries is not None:
            self._queries.cancel()
            self._ask(State.LOADING)
            self.settled.emit()

    def apply(self, changes: Changes) -> None:
        """Show what a commit changed."""
        self._is_outdated |= changes.needs_reload or bool(changes.updated or changes.removed)
        self._place(array("q", [row.id for row in changes.added]))
        if self.state is State.COMPLETE and len(changes.removed) <= _MAX_LOOKED_UP:
            for plant_id in changes.removed:
                if (row := self.row_of(plant_id)) is not None:
                    self.edited.emit(Removal(row, 1))
        self._settle()

    @Slot()
    def retry(self) -> None:
        """Repeat a query that failed, now: the store works again."""
        self._pause.stop()
        self._ask_again()

    def _place(self, added: array[int]) -> None:
        """Insert added plants where the newest are; in other orders, only the store knows their rows."""
        if not added:
            return
        is_first = self._view.descending
        has_end = self._view.plants.is_everything and self._view.order is Order.ADDED
        if not has_end or self._is_outdated:
            self._is_outdated = True
            return
        if self.state is not State.COMPLETE:
            self._held.extend(added)
            return
        newest = {*(self.ids[:_OVERLAP] if is_first else self.ids[-_OVERLAP:])}
        # A query that has returned a plant has also returned those that were added before it.
        new = added[max((at + 1 for at, plant_id in enumerate(added) if plant_id in newest), default=0) :]
        if new:
            self.edited.emit(Insertion(0, new[::-1]) if is_first else Insertion(len(self.ids), new))

    # --- the query ---

    def _ask(self, state: State) -> None:
        if self._queries is not None:
            self.state, self._is_outdated = state, False
            self._held = array("q")
            read = partial(_read, view=self._view, reports_first=state is State.LOADING)
            self._queries.ask(self, read, partial(self._on_read, monotonic()), self._on_failed, progress=self._on_begun)

    def _settle(self) -> None:
        if not self._pause.isActive():
            self._ask_again()
        self.settled.emit()

    @Slot()
    def _ask_again(self) -> None:
        """Query the rows that are missing or outdated."""
        if self.state is State.FAILED:
            self.load(self._view)
        elif self.state is State.COMPLETE and self._is_outdated:
            self._ask(State.REFRESHING)

    def _on_begun(self, ids: array[int]) -> None:
        self.state = State.FILLING
        self.edited.emit(Replacement(ids, same_query=False))
        self.settled.emit()

    def _on_read(self, asked_at: float, answer: tuple[array[int], int]) -> None:
        self._pause.start(max(_MIN_PAUSE_MS, round(2000 * (monotonic() - asked_at))))
        ids, self._counted = answer
        edit = Replacement(ids, same_query=False) if self.state is State.LOADING else difference(self.ids, ids)
        self.state = State.COMPLETE
        if edit is not None:
            self.edited.emit(edit)
        self._place(self._held)
        self._settle()

    def _on_failed(self, error: Exception) -> None:
        self.state = State.COMPLETE if self.complete else State.FAILED
        self._is_outdated = True
        self._pause.start(_RETRY_DELAY_MS)
        self.settled.emit()
        self.failed.emit(error)


def _read(reader: PlantReader, task: Task, view: View, *, reports_first: bool) -> tuple[array[int], int]:
    """Return the order of a view, and the number of plants in the store; before that, report the first rows."""
    ids = array("q")
    for chunk in reader.ids(view):
        if task.cancelled:
            raise InterruptedError
        if reports_first and not ids:
            task.report(chunk)
        ids += chunk
    return ids, len(ids) if view.plants.is_everything else reader.count()


def difference(old: array[int], new: array[int]) -> Edit | None:
    """Return the edit from one order to another: one insertion or removal, else a replacement; None if equal."""
    if old == new:
        return None
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    if start + end == len(old):
        return Insertion(start, new[start : len(new) - end])
    if start + end == len(new):
        return Removal(start, len(old) - len(new))
    return Replacement(new, same_query=True)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many elements are equal from the start; found by bisection."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
