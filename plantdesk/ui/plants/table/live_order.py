"""Asks the store for the order of the rows, until they are those of the store.

Nothing here waits for the store. What is outdated is asked for again at once, under steady change with pauses that are
longer than the queries; a failed query is repeated until it succeeds.
"""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.domain.search import parse_search
from plantdesk.domain.views import Order, View
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.queries import read_order
from plantdesk.ui.plants.table.row_order import State

if TYPE_CHECKING:
    from array import array

    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import Changes
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.plants.table.row_order import Answer, RowOrder

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
