"""Where the user was in the table: the plant in the top row, and the selected one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QAbstractItemView

if TYPE_CHECKING:
    from plantdesk.ui.plants.table.model import PlantModel
    from plantdesk.ui.plants.table.view import PlantTableView


class Position(NamedTuple):
    """Ids of plants; None for `top` at the top of the table, for `selected` if not exactly one plant is."""

    top: int | None = None
    selected: int | None = None

    def as_json(self) -> list[int | None]:
        """Return a JSON list, as `position_from_json` reads it."""
        return [*self]


def position_from_json(value: object) -> Position:
    """Return the position in a JSON list; the top for anything else."""
    is_valid = isinstance(value, list) and all(each is None or type(each) is int for each in value)
    return Position(*value) if is_valid and isinstance(value, list) and len(value) == len(Position()) else Position()


class PositionKeeper(QObject):
    """Goes back to a position when all rows are there, once."""

    def __init__(self, table: PlantTableView, model: PlantModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        self._requested = Position()
        model.count_changed.connect(self._on_count_changed)

    def position(self) -> Position:
        """Return where the user is."""
        row = self._table.rowAt(0) if self._table.verticalScrollBar().value() > 0 else -1
        selected = self._table.selected_ids() if self._table.selected_count() == 1 else None
        return Position(None if row < 0 else self._model.id_at(row), None if selected is None else selected[0])

    def return_to(self, position: Position) -> None:
        """Go to a position when the rows of the next query are there."""
        self._requested = position
        if position.selected is not None:
            self._table.seek(position.selected)

    @Slot()
    def _on_count_changed(self) -> None:
        if not self._model.complete or self._model.busy:
            return
        requested, self._requested = self._requested, Position()
        row = None if requested.top is None else self._model.row_of(requested.top)
        if row is not None:
            self._table.scrollTo(self._model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtTop)
