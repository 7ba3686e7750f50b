"""What the event loop does besides the window: midnight, garbage collection, Unix signals."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QDate, QObject, QSocketNotifier, QTimer, Signal, Slot

from plantdesk.platform.process import signal_socket

#: Between two checks of the date: a computer may sleep, or its clock be set, so a timer until midnight is not enough.
_DATE_INTERVAL_MS = 60_000
_INTERVAL_MS = 1000


class Midnight(QObject):
    """Emits `passed` at most a minute after the local date has changed."""

    passed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._date = QDate.currentDate()
        self._timer = QTimer(self, interval=_DATE_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timeout)
        self._timer.start()

    @Slot()
    def _on_timeout(self) -> None:
        before, self._date = self._date, QDate.currentDate()
        if self._date != before:
            self.passed.emit()


class GarbageCollector(QObject):
    """Collects on a timer, by the thresholds of the automatic collector, which stays disabled."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect_if_due)

    @Slot()
    def start(self) -> None:
        """Collect from now on, but not the objects that exist now: checking those would take 20 to 40 ms each time.

        No collection comes first: 262 of 87,000 objects of a start are garbage. Those of a window of another store are.
        """
        if not self._timer.isActive():
            if gc.get_freeze_count():
                gc.collect()
            gc.freeze()
            self._timer.start()

    @Slot()
    def collect_if_due(self) -> None:
        """Collect the oldest generation whose threshold is exceeded, with the younger ones."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = [number for number in range(3) if 0 < thresholds[number] < counts[number]]
        if due:
            gc.collect(due[-1])


@contextmanager
def quit_on_signals(leave: Callable[[], object]) -> Iterator[None]:
    """Let the signals call `leave` in the event loop; main thread."""
    with signal_socket(signal.SIGINT, signal.SIGTERM) as receiver:
        notifier = QSocketNotifier(receiver.fileno(), QSocketNotifier.Type.Read)
        notifier.activated.connect(leave)
        try:
            yield
        finally:
            notifier.setEnabled(False)
