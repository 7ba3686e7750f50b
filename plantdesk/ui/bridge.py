"""The one place where other threads reach the GUI thread: background tasks, store changes, server states.

A result has a receiver, a QObject, and is dropped when the receiver has been deleted. Store changes are merged into at
most ten signals a second, the first of a burst at once, so that a script that posts thousands of plants does not block
the window.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.errors import StoreError
    from plantdesk.records import Changes

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: Seconds between two signals `changed`.
_PAUSE = 0.1
#: More plants than this are not listed one by one: what is shown is read again.
_LISTED = 1000


class Bridge(QObject):
    """Lives on the GUI thread. `tell_…` and `call` may be called on any thread."""

    changed = Signal(object)
    server_changed = Signal(object)
    health_changed = Signal(object)
    _woken = Signal()
    _called = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._pending: Changes | None = None
        self._closed = False
        self._told_at = float("-inf")
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="window-worker")
        self._pause = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._pause.timeout.connect(self._tell)
        self._woken.connect(self._on_woken, Qt.ConnectionType.QueuedConnection)
        self._called.connect(self._on_called, Qt.ConnectionType.QueuedConnection)

    def notify_changes(self, changes: Changes) -> None:
        """Take what the store changed; any thread."""
        with self._lock:
            first = self._pending is None
            self._pending = changes if first else _together(self._pending, changes)
            if first and not self._closed:
                self._woken.emit()

    def notify_server_state(self, state: object) -> None:
        """Take what the server is doing; any thread."""
        self.call(self, self.server_changed.emit, state)

    def notify_health(self, trouble: StoreError | None) -> None:
        """Take what keeps the store from taking plants, or None; any thread."""
        self.call(self, self.health_changed.emit, trouble)

    def call(self, receiver: QObject, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the GUI thread, soon, unless `receiver` is deleted by then; any thread.

        After `close` nothing is called any more.
        """
        with self._lock:
            if not self._closed:
                self._called.emit((receiver, function, args))

    def ask(
        self,
        receiver: QObject,
        task: Callable[[], _Result],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """Run a short task, a query, on the worker thread; the tasks run in their order.

        `done` gets the result or `failed` the exception, as with `follow`.
        """
        self.follow(receiver, self.run(task), done, failed)

    def ask_long(
        self,
        receiver: QObject,
        task: Callable[[], _Result],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> Future[_Result]:
        """Run a task that may take long on a daemon thread of its own: it delays neither queries nor the exit."""
        future: Future[_Result] = Future()
        self.follow(receiver, future, done, failed)
        threading.Thread(target=_run_into, args=(future, task), name="window-task", daemon=True).start()
        return future

    def run(self, task: Callable[[], _Result]) -> Future[_Result]:
        """Run a short task on the worker thread, without a receiver."""
        return self._worker.submit(task)

    def follow(
        self,
        receiver: QObject,
        future: Future[_Result],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """Call `done` with the result, or `failed` with the exception, on the GUI thread.

        Neither is called when `receiver` is deleted by then. Without `failed`, an exception is logged as a defect.
        """

        def pass_on(finished: Future[Any]) -> None:
            if finished.cancelled():
                return
            error = finished.exception()
            if error is None:
                self.call(receiver, done, finished.result())
            elif failed is not None and isinstance(error, Exception):
                self.call(receiver, failed, error)
            else:
                _log.error("a task of the window failed", exc_info=error)

        future.add_done_callback(pass_on)

    def close(self) -> None:
        """Drop all later results and end the worker thread after the task it runs; long tasks are not waited for."""
        with self._lock:
            self._closed = True
        self._pause.stop()
        self._worker.shutdown(wait=True, cancel_futures=True)

    @Slot()
    def _on_woken(self) -> None:
        wait = self._told_at + _PAUSE - time.monotonic()
        if wait > 0:
            self._pause.start(round(wait * 1000))
        else:
            self._tell()

    @Slot()
    def _tell(self) -> None:
        with self._lock:
            changes, self._pending = self._pending, None
        if changes is not None and not self._closed:
            self._told_at = time.monotonic()
            self.changed.emit(changes)

    @Slot(object)
    def _on_called(self, call: tuple[QObject, Callable[..., object], tuple[object, ...]]) -> None:
        receiver, function, args = call
        if not self._closed and isValid(receiver):
            function(*args)


def _run_into(future: Future[_Result], task: Callable[[], _Result]) -> None:
    try:
        future.set_result(task())
    except BaseException as error:  # noqa: BLE001  the top of a thread: `follow` reports or logs it
        future.set_exception(error)


def _together(first: Changes | None, second: Changes) -> Changes:
    if first is None:
        return second
    added = first.added + second.added
    needs_reload = first.needs_reload or second.needs_reload or len(added) > _LISTED
    return second._replace(added=added[-_LISTED:], needs_reload=needs_reload, tokens=first.tokens or second.tokens)
