"""Repeats a query of the store whenever plants have changed, on a thread of its own."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Slot

from plantdesk.ui.background import StoreQueries

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge

_Result = TypeVar("_Result")

_MIN_PAUSE_MS, _MAX_PAUSE_MS, _RETRY_DELAY_MS = 50, 60_000, 2000


class Counter(QObject, Generic[_Result]):
    """Runs one query at a time. Under steady change the pauses are longer than the queries, up to `max_pause_ms`."""

    def __init__(
        self,
        bridge: Bridge,
        store: PlantStore,
        name: str,
        query: Callable[[PlantReader, Task], _Result],
        done: Callable[[_Result], object],
        parent: QObject,
    ) -> None:
        """Run `query` on a thread called `name`; `done` gets its result on the GUI thread."""
        super().__init__(parent)
        self._query = query
        self._done = done
        self.max_pause_ms = _MAX_PAUSE_MS
        self._started_at = 0.0
        self._next_at = 0.0
        self._is_running = False
        self._is_outdated = False
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._ask)
        self._worker = bridge.worker(name)
        self._queries = StoreQueries(self._worker, store)

    @Slot()
    def count_soon(self) -> None:
        """Run the query again soon: plants have changed."""
        self._is_outdated = True
        if not self._is_running and not self._pause.isActive():
            self._pause.start(max(0, round((self._next_at - monotonic()) * 1000)))

    def close(self) -> None:
        """Cancel the query and end the thread; nothing follows."""
        self._pause.stop()
        self._queries.close()
        self._worker.close()

    @Slot()
    def _ask(self) -> None:
        self._is_running, self._is_outdated = True, False
        self._started_at = monotonic()
        self._queries.ask(self, self._query, self._on_counted, self._on_failed)

    def _on_counted(self, result: _Result) -> None:
        took_ms = round((monotonic() - self._started_at) * 1000)
        self._end(max(_MIN_PAUSE_MS, min(2 * took_ms, self.max_pause_ms)))
        self._done(result)

    def _on_failed(self, _error: Exception) -> None:
        """Try again later: `Bridge.health_changed` reports what is wrong with the store."""
        self._is_outdated = True
        self._end(_RETRY_DELAY_MS)

    def _end(self, pause_ms: int) -> None:
        self._is_running = False
        self._next_at = monotonic() + pause_ms / 1000
        if self._is_outdated:
            self._pause.start(pause_ms)
