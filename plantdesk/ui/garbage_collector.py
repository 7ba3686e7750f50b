"""Runs Python's cyclic garbage collector on the GUI thread only: a QObject must not be destroyed on another thread."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_INTERVAL_MS = 1000


class GarbageCollector(QObject):
    """Collects on a timer, by the thresholds of the automatic collector, which stays disabled."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect_if_due)

    @Slot()
    def start(self) -> None:
        """Collect from now on, but not what exists now and stays: that would take 20 to 30 ms each time."""
        if not self._timer.isActive():
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
