"""Counts the new plants above the visible rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.ui.plants.table.cells import Column

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from plantdesk.ui.plants.table.model import PlantModel


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
    def _on_rows_replaced(self, _kept_rows: dict[int, int], same_query: bool) -> None:
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
