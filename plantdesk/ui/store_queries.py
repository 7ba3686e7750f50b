"""Queries of one store from the window, on a worker's thread with one read connection."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from PySide6.QtCore import QObject

    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.ui.background import Task, Worker

_Result = TypeVar("_Result")


class StoreQueries:
    """Asks like `Tasks.ask`; its functions get a reader as well. Lives on the GUI thread.

    After a failed query the next one gets a new connection.
    """

    def __init__(self, worker: Worker, store: PlantStore) -> None:
        self._worker = worker
        self._store = store
        self._tasks: list[Task] = []
        self._reader: PlantReader | None = None

    def ask(
        self,
        receiver: QObject,
        query: Callable[[PlantReader, Task], _Result],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object] | None = None,
        *,
        progress: Callable[[Any], object] | None = None,
    ) -> Task:
        """Run `query`; without `failed`, store errors are ignored: `health_changed` reports them."""
        run = partial(self._run, query)
        task = self._worker.ask(receiver, run, done, failed or _ignore, progress=progress)
        self._tasks = [*(each for each in self._tasks if not each.ended), task]
        return task

    def cancel(self) -> None:
        """Cancel all queries that wait or run."""
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()

    def close(self) -> None:
        """Cancel all queries and close the connection, and wait for that: the file is closed next."""
        self.cancel()
        self._worker.run(self._close_reader)

    # --- on the worker's thread ---

    def _run(self, query: Callable[[PlantReader, Task], _Result], task: Task) -> _Result:
        if self._reader is None:
            self._reader = self._store.reader()
        try:
            with task.interrupted_by(self._reader.interrupt):
                return query(self._reader, task)
        except InterruptedError:
            raise
        except Exception:
            self._close_reader()
            raise

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()


def next_free_id(reader: PlantReader, _task: Task) -> int:
    """Return the id that a new plant may have."""
    return reader.next_free_id()


def _ignore(_error: Exception) -> None:
    """Do nothing."""
