"""Delivers results, store changes and server states of other threads to the GUI thread.

A result has a receiver, a QObject, and is dropped when the receiver has been deleted. Store changes are merged into at
most five signals a second, the first one at once: a script that adds thousands of plants leaves the GUI thread time for
the user.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from plantdesk.domain.errors import StoreError
from plantdesk.domain.records import Changes, PlantRow
from plantdesk.ui.background import Tasks, Worker

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: Milliseconds from the end of one `changed` signal to the next.
_PAUSE_MS = 200
#: The most plants in a signal; after more changes, all rows are read again.
_MAX_LISTED_PLANTS = 1000


class Bridge(QObject):
    """Passes events of other threads to the GUI thread. Any thread may call `notify_…`, `call` and `post`."""

    #: (changes) The commits since the last signal.
    changed = Signal(object)
    #: (state) The state of the API.
    server_changed = Signal(object)
    #: (error) The error of the last write, or None.
    health_changed = Signal(object)
    #: (error) The error of the last automatic backup, or None.
    backup_changed = Signal(object)
    _changes_added = Signal()
    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._pending: list[Changes] = []
        self._is_closed = False
        self._dropped_functions: list[Callable[[], object]] = []
        self._results: deque[Callable[[], object]] = deque()
        self.short_tasks = self.new_worker("window-worker")
        self.long_tasks = Tasks(self.post)
        self._pause_timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._pause_timer.timeout.connect(self._signal_changes)
        self._changes_added.connect(self._on_changes_added, Qt.ConnectionType.QueuedConnection)
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)

    def notify_changes(self, changes: Changes) -> None:
        """Let `changed` report a commit soon, on the GUI thread; any thread may call this."""
        with self._lock:
            self._pending.append(changes)
            if len(self._pending) == 1 and not self._is_closed:
                self._changes_added.emit()

    def notify_server_state(self, state: object) -> None:
        """Let `server_changed` report the state of the API server; any thread may call this."""
        self.call(self, self.server_changed.emit, state)

    def notify_health(self, error: StoreError | None) -> None:
        """Let `health_changed` report why the store cannot save plants (None: it can); any thread."""
        self.call(self, self.health_changed.emit, error)

    def notify_backup(self, error: StoreError | None) -> None:
        """Let `backup_changed` report why a backup could not be made (None: it was made); any thread."""
        self.call(self, self.backup_changed.emit, error)

    def call(self, receiver: QObject, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the GUI thread, unless `receiver` is deleted by then. Any thread may call this."""
        self.post(partial(_call, receiver, function, args))

    def post(self, function: Callable[[], object]) -> None:
        """Call `function` on the GUI thread soon, unless the bridge is closed by then. Any thread may call this."""
        with self._lock:
            if self._is_closed:
                self._dropped_functions.append(function)  # kept, as its objects must not be destroyed on this thread
            else:
                self._posted.emit(function)

    def new_worker(self, name: str) -> Worker:
        """Return a worker with a new thread. The caller must close it."""
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

        def on_done(finished: Future[Any]) -> None:
            if finished.cancelled():
                return
            error = finished.exception()
            if error is None:
                self._add_result(partial(_call, receiver, done, (finished.result(),)))
            elif failed is not None and isinstance(error, Exception):
                self._add_result(partial(_call, receiver, failed, (error,)))
            else:
                _log.error("A write of the window failed", exc_info=error)

        future.add_done_callback(on_done)

    def close(self) -> None:
        """Drop all later results, and wait for the short task that runs; long tasks are not waited for."""
        with self._lock:
            self._is_closed = True
        self._pause_timer.stop()
        self.short_tasks.close()

    @Slot()
    def _on_changes_added(self) -> None:
        if not self._pause_timer.isActive():
            self._signal_changes()

    @Slot()
    def _signal_changes(self) -> None:
        with self._lock:
            burst = self._pending
            self._pending = []
        self._deliver_results()  # first those of these changes: a commit sets its result, then notifies the bridge
        if burst and not self._is_closed:
            self.changed.emit(_merge(burst))
            self._pause_timer.start(_PAUSE_MS)

    def _add_result(self, function: Callable[[], object]) -> None:
        """Deliver the result of a write on the GUI thread, before `changed` reports it. Any thread."""
        self._results.append(function)
        self.post(self._deliver_results)

    def _deliver_results(self) -> None:
        while self._results and not self._is_closed:
            deliver = self._results.popleft()
            deliver()

    @Slot(object)
    def _on_posted(self, function: Callable[[], object]) -> None:
        if not self._is_closed:
            function()


def _call(receiver: QObject, function: Callable[..., object], args: tuple[object, ...]) -> None:
    if isValid(receiver):
        function(*args)


def _merge(burst: Sequence[Changes]) -> Changes:
    """Return one Changes for several commits, with the last state of each plant."""
    added: dict[int, PlantRow] = {}
    updated: dict[int, PlantRow] = {}
    removed: dict[int, None] = {}
    needs_reload = False
    for changes in burst:
        new, changed = ({row.id: row for row in rows} for rows in (changes.added, changes.updated))
        for plant_id in changes.removed:
            added.pop(plant_id, None)
            updated.pop(plant_id, None)
        # If an id was deleted and given again, `removed` and `added` would not show which came first.
        needs_reload |= changes.needs_reload or not removed.keys().isdisjoint(new)
        for plant_id in (*new, *changed):
            updated.pop(plant_id, None)
            removed.pop(plant_id, None)
        added |= new
        updated |= changed
        removed |= dict.fromkeys(changes.removed)
    return Changes(
        tuple(added.values())[-_MAX_LISTED_PLANTS:],
        tuple(updated.values())[-_MAX_LISTED_PLANTS:],
        tuple(removed)[-_MAX_LISTED_PLANTS:],
        needs_reload or max(len(added), len(updated), len(removed)) > _MAX_LISTED_PLANTS,
        any(changes.tokens_changed for changes in burst),
        any(changes.history_changed for changes in burst),
    )
