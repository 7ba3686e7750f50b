"""Background work of the window: `run` calls a function on another thread and delivers its result on the GUI thread.

A `Worker` runs short tasks in the order of their requests, on one thread; `Tasks` runs each on a thread of its
own. A result has a receiver, a QObject, and is dropped when the receiver has been deleted or the task cancelled.
`StoreQueries` runs the queries of one store on a worker, with one read connection. A `RepeatedQuery` runs its query
again while the store changes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Slot
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import PlantReader, PlantStore

#: `Bridge.post`: calls a function on the GUI thread, soon.
Post: TypeAlias = Callable[[Callable[[], object]], None]
_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: An interrupt has no effect before SQLite begins the query, so it is repeated until the task has ended.
_INTERRUPT_INTERVAL_SECONDS = 0.02
_MIN_PAUSE_MS = 50
_RETRY_DELAY_MS = 2000


class Task:
    """A function that runs on another thread. It gets the task, reports progress by it, and ends when it is cancelled.

    References to the receiver and the functions are released on the GUI thread, where a QObject must be destroyed.
    """

    def __init__(
        self,
        post: Post,
        receiver: QObject,
        function: Callable[[Task], Any],
        done: Callable[[Any], object] | None,
        failed: Callable[[Exception], object] | None,
        progress: Callable[[Any], object] | None,
    ) -> None:
        """Prepare a task; the parameters are those of `Tasks.run`, and results are delivered by `post`."""
        self.is_cancelled = False
        self._post = post
        self._receiver: QObject | None = receiver
        self._function: Callable[[Task], Any] | None = function
        self._done = done
        self._failed = failed
        self._progress = progress
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None
        self._has_started = False
        self._ended = threading.Event()

    def cancel(self) -> None:
        """Let the result be dropped, and interrupt the query that runs. Any thread may call this."""
        with self._lock:
            self.is_cancelled = True
            if not self._has_started:
                self._ended.set()
        self._repeat_interrupt()

    def call_unless_cancelled(self, function: Callable[[], object]) -> bool:
        """Call `function` unless the task is cancelled; return whether it was. `cancel` blocks meanwhile."""
        with self._lock:
            if not self.is_cancelled:
                function()
            return not self.is_cancelled

    @property
    def has_ended(self) -> bool:
        """Whether the function has returned, or will never be called as the task was cancelled."""
        return self._ended.is_set()

    def wait(self) -> None:
        """Block until the function has returned, or will never be called as the task was cancelled."""
        self._ended.wait()

    def report(self, progress: object) -> None:
        """Let the GUI thread call the task's progress function. Only the function of the task calls this."""
        if self._progress is not None:
            self._post(partial(self._call, self._progress, progress))

    def raise_if_cancelled(self) -> None:
        """Raise InterruptedError if the task is cancelled."""
        if self.is_cancelled:
            raise InterruptedError

    def report_or_raise(self, progress: object) -> None:
        """Report `progress`, or raise InterruptedError if the task is cancelled."""
        self.raise_if_cancelled()
        self.report(progress)

    @contextmanager
    def interrupted_by(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """In this context, `cancel` calls `interrupt`; the running query then raises InterruptedError."""
        with self._lock:
            self.raise_if_cancelled()
            self._interrupt = interrupt
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None

    def run(self) -> None:
        """Call the function on this thread, and post its result or exception; log exceptions that are defects."""
        with self._lock:
            self._has_started = not self._ended.is_set()
        try:
            if self._has_started and self._function is not None:
                self._post(partial(self._call, self._done, self._function(self)))
        except InterruptedError:
            pass
        except Exception as error:  # noqa: BLE001  the top of a thread: a defect must not end it silently
            if self._failed is None or not isinstance(error, PlantDeskError):
                _log.error("A background task of the window failed", exc_info=error)
            self._post(partial(self._call, self._failed, error))
        finally:
            self._ended.set()
            self._post(self._release)

    # --- on the GUI thread ---

    def _call(self, function: Callable[[Any], object] | None, value: object) -> None:
        if function is not None and not self.is_cancelled and self._receiver is not None and isValid(self._receiver):
            function(value)

    def _release(self) -> None:
        self._receiver = self._function = self._done = self._failed = self._progress = None

    def _repeat_interrupt(self) -> None:
        with self._lock:  # so that it interrupts no later task of the thread
            if self._interrupt is None:
                return
            self._interrupt()
        timer = threading.Timer(_INTERRUPT_INTERVAL_SECONDS, self._repeat_interrupt)
        timer.daemon = True
        timer.start()


class Tasks:
    """Runs tasks that may take long, each on a daemon thread: none delays another one, or the end of the program."""

    def __init__(self, post: Post) -> None:
        self._post = post

    def run(
        self,
        receiver: QObject,
        function: Callable[[Task], _Result],
        done: Callable[[_Result], object] | None = None,
        failed: Callable[[Exception], object] | None = None,
        *,
        progress: Callable[[Any], object] | None = None,
    ) -> Task:
        """Run `function`: `done` gets its result, `failed` or the log its exception, `progress` its reports."""
        task = Task(self._post, receiver, function, done, failed, progress)
        self._start(task)
        return task

    def _start(self, task: Task) -> None:
        threading.Thread(target=task.run, name="window-task", daemon=True).start()


class Worker(Tasks):
    """Runs short tasks on one thread, in the order of the calls, so that a slow one delays those after it."""

    def __init__(self, post: Post, name: str) -> None:
        """Deliver results by `post`; the thread is called `name`."""
        super().__init__(post)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    @override
    def _start(self, task: Task) -> None:
        self._executor.submit(task.run)

    def run_and_wait(self, function: Callable[[], object]) -> None:
        """Run `function` after the tasks that wait, and block until it has returned."""
        self._executor.submit(function).result()

    def close(self) -> None:
        """Drop the waiting tasks, and block until the running one has ended."""
        self._executor.shutdown(wait=True, cancel_futures=True)


class StoreQueries:
    """Runs queries on a worker; they get a reader of the store. Lives on the GUI thread.

    After a failed query the next one gets a new connection. `end` also ends the worker: it must have no other user.
    """

    def __init__(self, worker: Worker, store: PlantStore) -> None:
        self._worker = worker
        self._store = store
        self._tasks: list[Task] = []
        self._reader: PlantReader | None = None

    def run(
        self,
        receiver: QObject,
        query: Callable[[PlantReader, Task], _Result],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object] | None = None,
        *,
        progress: Callable[[Any], object] | None = None,
    ) -> Task:
        """Run `query` on the worker; without `failed`, errors are ignored: `Bridge.health_changed` reports them."""
        task = self._worker.run(receiver, partial(self._run, query), done, failed or ignore, progress=progress)
        self._tasks = [*(other for other in self._tasks if not other.has_ended), task]
        return task

    def cancel(self) -> None:
        """Cancel all queries that wait or run."""
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()

    def close(self) -> None:
        """Cancel all queries, and block until the connection is closed, so that the store can be closed."""
        self.cancel()
        self._worker.run_and_wait(self._close_reader)

    def end(self) -> None:
        """Cancel and close like `close`, then end the thread of the worker."""
        self.close()
        self._worker.close()

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
        reader = self._reader
        self._reader = None
        if reader is not None:
            reader.close()


class RepeatedQuery(QObject):
    """Runs a query on a thread of its own, and again after changes, with a pause of twice the time that it took."""

    def __init__(
        self,
        worker: Worker,
        store: PlantStore,
        query: Callable[[PlantReader, Task], Any],
        done: Callable[[Any], object],
    ) -> None:
        """Pass each result of `query` to `done` on the GUI thread; `worker` must have no other user."""
        super().__init__()
        self._query = query
        self._done = done
        self._queries = StoreQueries(worker, store)
        self._is_running = self._is_outdated = False
        self._elapsed = QElapsedTimer()
        self._pause_timer = QTimer(self, singleShot=True)
        self._pause_timer.timeout.connect(self._run)

    @Slot()
    def run_soon(self) -> None:
        """Run the query after the present pause, as plants have changed; several calls cause one query."""
        self._is_outdated = True
        if not self._is_running and not self._pause_timer.isActive():
            self._pause_timer.start(0)

    def close(self) -> None:
        """Cancel the query, and block until its thread has ended; `done` is not called any more."""
        self._pause_timer.stop()
        self._queries.end()

    @Slot()
    def _run(self) -> None:
        if self._is_outdated:
            self._is_running = True
            self._is_outdated = False
            self._elapsed.start()
            self._queries.run(self, self._query, self._on_result, self._on_failed)

    def _on_result(self, result: object) -> None:
        self._start_pause(max(_MIN_PAUSE_MS, 2 * self._elapsed.elapsed()))
        self._done(result)

    def _on_failed(self, _error: Exception) -> None:
        """Try again later: `Bridge.health_changed` reports the problem of the store."""
        self._is_outdated = True
        self._start_pause(_RETRY_DELAY_MS)

    def _start_pause(self, pause_ms: int) -> None:
        self._is_running = False
        self._pause_timer.start(pause_ms)


def ignore(_error: Exception) -> None:
    """Do nothing: a `failed` function for tasks whose errors are reported elsewhere."""
