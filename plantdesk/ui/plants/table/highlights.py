"""Highlights rows added in the last two seconds."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable

_DURATION = 2.0
_MAX_ROWS = 500


class RowHighlights(QObject):
    """Remembers ids for two seconds; `faded`: some are no longer new."""

    faded = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._until: dict[int, float] = {}
        self._timer = QTimer(self, interval=250)
        self._timer.timeout.connect(self._forget)

    def add(self, ids: Iterable[int]) -> None:
        """Mark ids as new; of a great many only the first ones, which are those on top."""
        until = monotonic() + _DURATION
        for plant_id in ids:
            if len(self._until) >= _MAX_ROWS:
                break
            self._until[plant_id] = until
        self._timer.start()

    def is_new(self, plant_id: int) -> bool:
        """Whether a plant was added within the last two seconds."""
        return plant_id in self._until

    @Slot()
    def _forget(self) -> None:
        now = monotonic()
        left = {plant_id: until for plant_id, until in self._until.items() if until > now}
        if len(left) < len(self._until):
            self._until = left
            self.faded.emit()
        if not left:
            self._timer.stop()
