"""Where other threads meet the window: their news become Qt signals here, and nowhere else.

Changes of the store come together to at most ten a second, the first of a burst at once: a script that posts thousands
of plants must not keep the window from answering its person.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

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
    """Lives on the GUI thread; `tell_…`, `run` and `follow` take what other threads bring."""

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

    def tell_changes(self, changes: Changes) -> None:
        """Take what the store changed; any thread."""
        with self._lock:
            first = self._pending is None
            self._pending = changes if first else _together(self._pending, changes)
            if first and not self._closed:
                self._woken.emit()

    def tell_server_state(self, state: object) -> None:
        """Take what the server is doing; any thread."""
        self.call(self.server_changed.emit, state)

    def tell_health(self, trouble: StoreError | None) -> None:
        """Take what keeps the store from taking plants, or None; any thread."""
        self.call(self.health_changed.emit, trouble)

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the GUI thread, soon; any thread. After `close` nothing is called any more."""
        with self._lock:
            if not self._closed:
                self._called.emit((function, args))

    def run(self, task: Callable[[], _Result]) -> Future[_Result]:
        """Run `task` on the worker thread, one after the other."""
        return self._worker.submit(task)

    def follow(
        self,
        future: Future[_Result],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """Call `done` with the result, or `failed` with the exception, on the GUI thread; GUI thread."""

        def pass_on(finished: Future[Any]) -> None:
            if finished.cancelled():
                return
            error = finished.exception()
            if error is None:
                self.call(done, finished.result())
            elif failed is not None and isinstance(error, Exception):
                self.call(failed, error)
            else:
                _log.error("a task of the window failed", exc_info=error)

        future.add_done_callback(pass_on)

    def close(self) -> None:
        """Let nothing through any more and end the worker thread; before the objects behind it are deleted."""
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
    def _on_called(self, call: tuple[Callable[..., object], tuple[object, ...]]) -> None:
        function, args = call
        if not self._closed:
            function(*args)


def _together(first: Changes | None, second: Changes) -> Changes:
    if first is None:
        return second
    added = first.added + second.added
    beyond = first.beyond or second.beyond or len(added) > _LISTED
    return second._replace(added=added[-_LISTED:], beyond=beyond, tokens=first.tokens or second.tokens)
