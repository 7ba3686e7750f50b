"""New rows: those added last are highlighted, those above the visible ones are counted."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from plantdesk.ui.plants.table.cells import Column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QTableView

    from plantdesk.ui.plants.table.model import PlantModel


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


class UnseenRows(QObject):
    """They are the rows above the one that was the first before; make it after what scrolls the table.

    Not the plants that were reported: long lists of them are cut, and some may be deleted again. `changed(count)`.
    """

    changed = Signal(int)

    def __init__(self, table: QTableView, model: PlantModel) -> None:
        super().__init__(table)
        self._bar = table.verticalScrollBar()
        self._model = model
        self._count = 0
        self._newest_seen: int | None = None
        for signal in (model.rowsAboutToBeInserted, model.rowsAboutToBeRemoved, model.modelAboutToBeReset):
            signal.connect(self._note_newest)
        for signal in (model.rowsInserted, model.rowsRemoved):
            signal.connect(self._update)
        model.rows_replaced.connect(self._on_rows_replaced)
        self._bar.valueChanged.connect(self._on_scrolled)

    @Slot()
    def clear(self) -> None:
        """Take all rows as seen."""
        self._set(0)

    @Slot()
    def _note_newest(self) -> None:
        if not self._count:
            self._newest_seen = self._model.id_at(0) if self._model.rowCount() else None

    @Slot()
    def _update(self) -> None:
        query = self._model.query
        is_newest_first = query.column is Column.ADDED and query.descending
        if not is_newest_first or not self._bar.value() or self._newest_seen is None:
            self._set(0)
        elif (row := self._model.row_of(self._newest_seen)) is not None:  # else it was deleted
            self._set(row)

    @Slot(object, bool)
    def _on_rows_replaced(self, _retained_rows: dict[int, int], same_query: bool) -> None:
        if same_query:
            self._update()
        else:
            self._set(0)

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        if value == 0:
            self._set(0)

    def _set(self, count: int) -> None:
        if count != self._count:
            self._count = count
            self.changed.emit(count)
