"""Background work of the window: `ask` runs a function on another thread and delivers its result on the GUI thread.

A `Worker` runs short tasks in the order in which they were asked, on one thread; `LongTasks` runs each on a thread of
its own. A result has a receiver, a QObject, and is dropped when the receiver has been deleted or the task cancelled.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from plantdesk.errors import PlantDeskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from PySide6.QtCore import QObject

    #: `Bridge.call`: calls a function on the GUI thread for a receiver.
    Call: TypeAlias = Callable[..., None]

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: An interrupt has no effect before SQLite begins the query, so it is repeated until the task has ended.
_INTERRUPT_INTERVAL = 0.02


class Task:
    """One task: its function checks `cancelled` and calls `report`; whoever asked for it may `cancel` it."""

    def __init__(self, deliver: Callable[..., None], progress: Callable[[Any], object] | None = None) -> None:
        """Make a task; `deliver` calls a function on the GUI thread, soon."""
        self.cancelled = False
        self._deliver = deliver
        self._progress = progress
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None
        self._begun = False
        self._ended = threading.Event()

    def cancel(self) -> None:
        """Drop the result, and interrupt the query that runs; any thread."""
        with self._lock:
            self.cancelled = True
            if not self._begun:
                self._ended.set()
        self._repeat_interrupt()

    @property
    def ended(self) -> bool:
        """Whether the function has returned, or will never be called."""
        return self._ended.is_set()

    def wait(self) -> None:
        """Wait until the function has returned, or will never be called."""
        self._ended.wait()

    def report(self, progress: object) -> None:
        """Pass `progress` to the function that `ask` was given for it; on the thread of the task."""
        if self._progress is not None:
            self._deliver(self._call_unless_cancelled, self._progress, progress)

    @contextmanager
    def interrupted_by(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call `interrupt`, which makes the query that runs raise InterruptedError, when the task is cancelled."""
        with self._lock:
            if self.cancelled:
                raise InterruptedError
            self._interrupt = interrupt
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None

    def run(
        self,
        function: Callable[[Task], _Result],
        done: Callable[[_Result], object] | None,
        failed: Callable[[Exception], object] | None,
    ) -> None:
        """Call `function` and deliver its result or exception. An unexpected exception, a defect, is logged."""
        with self._lock:
            self._begun = not self._ended.is_set()
        if not self._begun:
            return
        try:
            result = function(self)
        except InterruptedError:
            pass
        except Exception as error:  # noqa: BLE001  the top of a thread: a defect must not end it silently
            self._fail(error, failed)
        else:
            if done is not None:
                self._deliver(self._call_unless_cancelled, done, result)
        finally:
            self._ended.set()

    def _fail(self, error: Exception, failed: Callable[[Exception], object] | None) -> None:
        if failed is None or not isinstance(error, PlantDeskError | OSError):
            _log.error("A background task of the window failed", exc_info=error)
        if failed is not None:
            self._deliver(self._call_unless_cancelled, failed, error)

    def _call_unless_cancelled(self, function: Callable[[Any], object], value: object) -> None:
        if not self.cancelled:
            function(value)

    def _repeat_interrupt(self) -> None:
        with self._lock:  # so that an interrupt never meets a later task of the thread
            if self._interrupt is None:
                return
            self._interrupt()
        timer = threading.Timer(_INTERRUPT_INTERVAL, self._repeat_interrupt)
        timer.daemon = True
        timer.start()


class Worker:
    """One thread, which runs short tasks in their order."""

    def __init__(self, call: Call, name: str) -> None:
        """Deliver results by `call`; the thread is called `name`."""
        self._call = call
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def ask(
        self,
        receiver: QObject,
        function: Callable[[Task], _Result],
        done: Callable[[_Result], object] | None = None,
        failed: Callable[[Exception], object] | None = None,
        *,
        progress: Callable[[Any], object] | None = None,
    ) -> Task:
        """Run `function`; `done` gets its result, `failed` its exception, `progress` what it reports.

        Without `failed`, every exception is logged as a defect.
        """
        task = Task(partial(self._call, receiver), progress)
        self._executor.submit(task.run, function, done, failed)
        return task

    def run(self, function: Callable[[], object]) -> None:
        """Run `function` after the tasks that wait, and wait for it."""
        self._executor.submit(function).result()

    def close(self) -> None:
        """Drop the tasks that wait, and wait for the one that runs."""
        self._executor.shutdown(wait=True, cancel_futures=True)


class LongTasks:
    """Tasks that may take long, each on a daemon thread: they delay neither other tasks nor the end of the program."""

    def __init__(self, call: Call) -> None:
        """Deliver results by `call`."""
        self._call = call

    def ask(
        self,
        receiver: QObject,
        function: Callable[[Task], _Result],
        done: Callable[[_Result], object] | None = None,
        failed: Callable[[Exception], object] | None = None,
        *,
        progress: Callable[[Any], object] | None = None,
    ) -> Task:
        """Run `function`, as `Worker.ask` does."""
        task = Task(partial(self._call, receiver), progress)
        threading.Thread(target=task.run, args=(function, done, failed), name="window-task", daemon=True).start()
        return task
