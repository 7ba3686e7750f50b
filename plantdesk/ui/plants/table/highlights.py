"""Highlights the rows that were added last."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Seconds for which a new row is tinted, and marked by a bar.
_TINTED, _MARKED = 2.0, 10.0
_MAX_ROWS = 500


class RowHighlights(QObject):
    """Remembers ids for ten seconds; `faded`: some look different now."""

    faded = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._added: dict[int, float] = {}
        self._timer = QTimer(self, interval=250)
        self._timer.timeout.connect(self._forget)

    def add(self, ids: Iterable[int]) -> None:
        """Mark ids as new; of a great many only the first ones, which are those on top."""
        now = monotonic()
        for plant_id in ids:
            if len(self._added) >= _MAX_ROWS:
                break
            self._added[plant_id] = now
        self._timer.start()

    def is_tinted(self, plant_id: int) -> bool:
        """Whether a plant was added within the last two seconds."""
        return monotonic() - self._added.get(plant_id, float("-inf")) < _TINTED

    def is_marked(self, plant_id: int) -> bool:
        """Whether a plant was added within the last ten seconds."""
        return plant_id in self._added

    @Slot()
    def _forget(self) -> None:
        oldest = monotonic() - _MARKED
        self._added = {plant_id: added for plant_id, added in self._added.items() if added > oldest}
        self.faded.emit()
        if not self._added:
            self._timer.stop()
