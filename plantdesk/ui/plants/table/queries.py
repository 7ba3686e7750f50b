"""What the table asks the store: the order of its rows, until it is that of the store, and recently used rows by id.

Nothing here waits for the store. What is outdated is asked for again at once, under steady change with pauses that are
longer than the queries; a failed query is repeated until it succeeds.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.search import parse_search
from plantdesk.domain.views import Order, View
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.row_order import Answer, Replacement, State, id_list_diff

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.domain.records import Changes, PlantRow
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.plants.table.row_order import RowOrder


#: After a query, until the next one; twice the time that the query took, if that is longer.
_MIN_PAUSE_MS = 200
#: After a failed query, until it is repeated.
_RETRY_DELAY_MS = 2000


class Query(NamedTuple):
    """What the table shows: the text that is searched for, and the column that sorts."""

    text: str = ""
    column: Column = Column.ADDED
    descending: bool = True

    @property
    def view(self) -> View:
        """Its plants in their order."""
        return View(parse_search(self.text), Order(self.column.order), self.descending)


class LiveOrder(QObject):
    """The queries of a `RowOrder`. Belongs to the GUI thread.

    `edited(edits)`: the rows are to be edited now. `settled`: their edits are applied, or another query runs.
    """

    edited = Signal(object)
    settled = Signal()
    failed = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, rows: RowOrder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._ask_again)
        self._worker = bridge.worker("plant-order")
        self._queries = StoreQueries(self._worker, store)

    def load(self, view: View) -> None:
        """Load the rows of another view, or of the same one from the beginning."""
        self._pause.stop()
        self._queries.cancel()
        self._rows.load(view)
        self._ask(None)
        self.settled.emit()

    def apply(self, changes: Changes) -> None:
        """Show what a commit changed."""
        self._rows.outdated |= changes.needs_reload
        self._rows.update([row.id for row in changes.updated])
        self.edited.emit(self._rows.add([row.id for row in changes.added]))
        self.edited.emit(self._rows.remove(changes.removed))
        self._settle()

    def retry(self) -> None:
        """Repeat a query that failed, now: the store is healthy again."""
        self._pause.stop()
        self._ask_again()

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._pause.stop()
        self._queries.close()
        self._worker.close()

    def _ask(self, old: array[int] | None) -> None:
        read = partial(read_order, view=self._rows.view, old=old)
        done = partial(self._on_read, monotonic())
        self._queries.ask(self, read, done, self._on_failed, progress=self._on_begun)

    def _settle(self) -> None:
        if not self._pause.isActive():
            self._ask_again()
        self.settled.emit()

    @Slot()
    def _ask_again(self) -> None:
        """Ask for the rows that are missing or outdated."""
        if self._rows.state is State.FAILED:
            self.load(self._rows.view)
        elif self._rows.state is State.COMPLETE and self._rows.outdated:
            self._rows.refresh()
            self._ask(self._rows.ids)

    def _on_begun(self, ids: array[int]) -> None:
        self.edited.emit(self._rows.begin(ids))
        self.settled.emit()

    def _on_read(self, asked_at: float, answer: Answer) -> None:
        self._pause.start(max(_MIN_PAUSE_MS, round(2000 * (monotonic() - asked_at))))
        self.edited.emit(self._rows.finish(answer))
        self._settle()

    def _on_failed(self, error: Exception) -> None:
        self._rows.fail()
        self._pause.start(_RETRY_DELAY_MS)
        self.settled.emit()
        self.failed.emit(error)


def read_order(reader: PlantReader, task: Task, view: View, old: array[int] | None) -> Answer:
    """Return the order of a view as edits of `old`, which must not change meanwhile, or else report its first rows."""
    ids = array("q")
    for chunk in reader.ids(view):
        if task.cancelled:
            raise InterruptedError
        ids += chunk
        if old is None:
            old = chunk
            task.report(chunk)
    edits = [Replacement(ids, same_query=False)] if old is None else id_list_diff(old, ids)
    return Answer(edits, ids, len(ids) if view.plants.is_everything else reader.count())


_MAX_ROWS = 8000
#: Characters; a name may be a megabyte long, a cell and its tooltip show no more than this.
MAX_TEXT = 600
#: While the user drags the scroll bar, only the newest pages are worth reading.
_MAX_WAITING = 6


class PageCache(QObject):
    """Rows by id. Belongs to the GUI thread. `loaded`: requested rows are loaded."""

    loaded = Signal()
    failed = Signal(object)

    def __init__(self, bridge: Bridge, store: PlantStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[int, tuple[int, PlantRow | None]] = {}  # each with the generation in which it was asked for
        self._generation = 0
        self._waiting: deque[Sequence[int]] = deque(maxlen=_MAX_WAITING)
        self._finding: Task | None = None
        self._worker = bridge.worker("plant-pages")
        self._queries = StoreQueries(self._worker, store)

    def row(self, plant_id: int) -> PlantRow | None:
        """Return a row if it is loaded, its texts shortened; an expired one until it is read again."""
        return self._rows.get(plant_id, (0, None))[1]

    def is_missing(self, plant_id: int) -> bool:
        """Whether the row has to be read. A row that the store no longer has counts as loaded."""
        return self._rows.get(plant_id, (-1, None))[0] < self._generation

    def ask(self, ids: Sequence[int]) -> None:
        """Read the rows of `ids` in the background. When too many pages wait, the oldest are dropped."""
        self._waiting.append(ids)
        self._queries.ask(self, self._read, partial(self._on_read, self._generation), self.failed.emit)

    def find(self, view: View, start: str, found: Callable[[int | None], object]) -> None:
        """Find the first plant of a view whose name begins with `start`, instead of what was searched before."""
        if self._finding is not None:
            self._finding.cancel()
        self._finding = self._queries.ask(
            self, lambda reader, _task: reader.first_with_name(view, start), found, self.failed.emit
        )

    def put(self, rows: Iterable[PlantRow]) -> None:
        """Store rows that are known already."""
        self._set(self._generation, {row.id: _cut(row) for row in rows})

    def expire(self) -> None:
        """Read each row again when it is next needed: it may have changed."""
        self._generation += 1

    def close(self) -> None:
        """Cancel the queries and end the thread; no signal follows."""
        self._queries.close()
        self._worker.close()

    def _read(self, reader: PlantReader, _task: Task) -> dict[int, PlantRow | None]:
        """Read the newest page that waits; on the thread of the pages."""
        if not self._waiting:  # the page was dropped, its query was not
            return {}
        ids = self._waiting.pop()
        rows = reader.rows_cut(ids, MAX_TEXT)
        return {plant_id: _cut(rows[plant_id]) if plant_id in rows else None for plant_id in ids}

    def _on_read(self, generation: int, rows: dict[int, PlantRow | None]) -> None:
        """Store a page, except for rows that became known while it was read."""
        self._set(generation, {plant_id: row for plant_id, row in rows.items() if self.is_missing(plant_id)})
        if rows:
            self.loaded.emit()

    def _set(self, generation: int, rows: Mapping[int, PlantRow | None]) -> None:
        for plant_id, row in rows.items():
            self._rows.pop(plant_id, None)  # so that it counts as the newest
            self._rows[plant_id] = (generation, row)
        while len(self._rows) > _MAX_ROWS:  # without those that were read first
            del self._rows[next(iter(self._rows))]


def _cut(row: PlantRow) -> PlantRow:
    tag = row.tag[:MAX_TEXT] if row.tag is not None else None
    return row._replace(name=row.name[:MAX_TEXT], tag=tag, note=None)
