"""Notices that another day has begun, on which “today” means other plants."""

from __future__ import annotations

from datetime import datetime, timedelta

from PySide6.QtCore import QObject, QTimer, Signal, Slot

#: A computer may sleep, or its clock be set: the date is compared at least as often.
_LONGEST_MS = 60_000


class Midnight(QObject):
    """`passed`: the local date is another one."""

    passed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._date = datetime.now().astimezone().date()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_timeout)
        self._start()

    def _start(self) -> None:
        now = datetime.now().astimezone()
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time())
        self._timer.start(min(_LONGEST_MS, round((midnight.timestamp() - now.timestamp()) * 1000) + 1))

    @Slot()
    def _on_timeout(self) -> None:
        before, self._date = self._date, datetime.now().astimezone().date()
        self._start()
        if self._date != before:
            self.passed.emit()
