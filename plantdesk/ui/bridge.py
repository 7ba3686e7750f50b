"""The one place where other threads reach the GUI thread: background tasks, store changes, server states.

A result has a receiver, a QObject, and is dropped when the receiver has been deleted. Store changes are merged into at
most ten signals a second, the first of a burst at once, and to fewer where the window is slow to show them: a script
that posts thousands of plants takes at most a quarter of the GUI thread, whose user or screen reader waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from plantdesk.ui.background import LongTasks, Worker

if TYPE_CHECKING:
    from concurrent.futures import Future

    from plantdesk.domain.errors import StoreError
    from plantdesk.domain.records import Changes

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: Seconds between two signals `changed`: at least, and at most.
_PAUSE, _MAX_PAUSE = 0.1, 0.5
#: Between two signals, how many times as long as the GUI thread has worked since the first.
_WORK_FACTOR = 4
#: With more plants than this the rows are read again.
_MAX_LISTED = 1000


class Bridge(QObject):
    """Lives on the GUI thread. `notify_…`, `call` and `post` may be called on any thread."""

    changed = Signal(object)
    server_changed = Signal(object)
    health_changed = Signal(object)
    backup_changed = Signal(object)
    _changes_added = Signal()
    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._pending: Changes | None = None
        self._closed = False
        self._unposted: list[Callable[[], object]] = []
        self._signalled_at = float("-inf")
        self._cpu_at_signal = 0.0
        self.short_tasks = self.worker("window-worker")
        self.long_tasks = LongTasks(self.post)
        self._pause = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._pause.timeout.connect(self._on_changes_added)
        self._changes_added.connect(self._on_changes_added, Qt.ConnectionType.QueuedConnection)
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)

    def notify_changes(self, changes: Changes) -> None:
        """Signal what the store changed, soon; any thread."""
        with self._lock:
            first = self._pending is None
            self._pending = changes if first else _merged(self._pending, changes)
            if first and not self._closed:
                self._changes_added.emit()

    def notify_server_state(self, state: object) -> None:
        """Signal what the server is doing; any thread."""
        self.call(self, self.server_changed.emit, state)

    def notify_health(self, error: StoreError | None) -> None:
        """Signal what keeps the store from saving plants, or None; any thread."""
        self.call(self, self.health_changed.emit, error)

    def notify_backup(self, error: StoreError | None) -> None:
        """Signal why no automatic backup could be made, or None; any thread."""
        self.call(self, self.backup_changed.emit, error)

    def call(self, receiver: QObject, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the GUI thread, soon, unless `receiver` is deleted by then; any thread.

        After `close` nothing is called any more.
        """
        self.post(partial(_call, receiver, function, args))

    def post(self, function: Callable[[], object]) -> None:
        """Call `function` on the GUI thread, soon; any thread. After `close` it is not called any more."""
        with self._lock:
            if self._closed:
                self._unposted.append(function)  # what it refers to must not be destroyed on this thread
            else:
                self._posted.emit(function)

    def worker(self, name: str) -> Worker:
        """Return a new thread for tasks in their order, whose results come through this bridge; close it."""
        return Worker(self.post, name)

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
                _log.error("A write of the window failed", exc_info=error)

        future.add_done_callback(pass_on)

    def close(self) -> None:
        """Drop all later results, and wait for the short task that runs; long tasks are not waited for."""
        with self._lock:
            self._closed = True
        self._pause.stop()
        self.short_tasks.close()

    @Slot()
    def _on_changes_added(self) -> None:
        worked = time.thread_time() - self._cpu_at_signal  # its painting included
        pause = min(max(_PAUSE, _WORK_FACTOR * worked), _MAX_PAUSE)
        wait = self._signalled_at + pause - time.monotonic()
        if wait > 0:
            self._pause.start(ceil(wait * 1000))
        else:
            self._signal_changes()

    @Slot()
    def _signal_changes(self) -> None:
        with self._lock:
            changes, self._pending = self._pending, None
        if changes is not None and not self._closed:
            self._signalled_at, self._cpu_at_signal = time.monotonic(), time.thread_time()
            self.changed.emit(changes)

    @Slot(object)
    def _on_posted(self, function: Callable[[], object]) -> None:
        if not self._closed:
            function()


def _call(receiver: QObject, function: Callable[..., object], args: tuple[object, ...]) -> None:
    if isValid(receiver):
        function(*args)


def _merged(first: Changes | None, second: Changes) -> Changes:
    if first is None:
        return second
    removed, seen_again = set(second.removed), {row.id for row in (*second.added, *second.updated)}
    added = (*(row for row in first.added if row.id not in removed), *second.added)
    updated = (*(row for row in first.updated if row.id not in removed | seen_again), *second.updated)
    gone = (*(plant_id for plant_id in first.removed if plant_id not in removed | seen_again), *second.removed)
    return second._replace(
        added=added[-_MAX_LISTED:],
        updated=updated[-_MAX_LISTED:],
        removed=gone[-_MAX_LISTED:],
        needs_reload=first.needs_reload or second.needs_reload or max(map(len, (added, updated, gone))) > _MAX_LISTED,
        tokens=first.tokens or second.tokens,
        history=first.history or second.history,
    )
