"""What the Qt event loop does regularly: check for midnight, collect garbage, and notice Unix signals."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QDate, QObject, QSocketNotifier, QTimer, Signal, Slot

from plantdesk.platform.process import signal_socket

#: Milliseconds between two checks of the date: a timer until midnight is wrong after sleep, or if the clock is set.
_DATE_INTERVAL_MS = 60_000
_COLLECT_INTERVAL_MS = 1000


class Midnight(QObject):
    """Emits `passed` when the local date has changed; checks it once a minute."""

    #: The date has changed, at most a minute ago.
    passed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._date = QDate.currentDate()
        self._timer = QTimer(self, interval=_DATE_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timeout)
        self._timer.start()

    @Slot()
    def _on_timeout(self) -> None:
        previous_date = self._date
        self._date = QDate.currentDate()
        if self._date != previous_date:
            self.passed.emit()


class GarbageCollector(QObject):
    """Collects garbage by a timer on the GUI thread, instead of Python's collector, which runs on any thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_COLLECT_INTERVAL_MS)
        self._timer.timeout.connect(self.collect_if_due)
        self._timer.start()

    @Slot()
    def collect_if_due(self) -> None:
        """Collect the oldest generation over its threshold; on the first call, exempt present objects."""
        if not gc.get_freeze_count():  # not again for another store: the window of the one before is garbage
            gc.freeze()  # to check these objects would take 20 to 40 ms
        counts = gc.get_count()
        thresholds = gc.get_threshold()
        due = [number for number in range(3) if 0 < thresholds[number] < counts[number]]
        if due:
            gc.collect(due[-1])


@contextmanager
def quit_on_signals(leave: Callable[[], object]) -> Iterator[None]:
    """In this context, call `leave` from the event loop on SIGINT and SIGTERM. Main thread only."""
    with signal_socket(signal.SIGINT, signal.SIGTERM) as receiver:
        notifier = QSocketNotifier(receiver.fileno(), QSocketNotifier.Type.Read)
        notifier.activated.connect(leave)
        try:
            yield
        finally:
            notifier.setEnabled(False)
