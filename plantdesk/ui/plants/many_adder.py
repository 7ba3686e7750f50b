"""Adds several plants as one change, those without an ID with the next free ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject

from plantdesk.errors import IdTakenError, InvalidPlantError
from plantdesk.records import FORM
from plantdesk.ui.store_queries import next_free_id
from plantdesk.validation import new_plant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plantdesk.store import Applied, PlantStore
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.store_queries import StoreQueries
    from plantdesk.validation import NewPlant

#: Scripts may take the free IDs meanwhile.
_MAX_ATTEMPTS = 5


class Entry(NamedTuple):
    """A plant to be added; without an `id` it gets the next free one."""

    name: str
    tag: str | None
    id: int | None = None
    note: str | None = None


class ManyAdder(QObject):
    """Works for one store. All plants are added, or none."""

    def __init__(self, bridge: Bridge, store: PlantStore, queries: StoreQueries, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._store = store
        self._queries = queries

    def add(
        self,
        entries: Sequence[Entry],
        done: Callable[[Applied], object],
        failed: Callable[[Exception], object],
        attempts: int = _MAX_ATTEMPTS,
    ) -> None:
        """Add plants; `failed` gets InvalidPlantError, IdTakenError or StoreError. One of both is called."""

        def retry(error: Exception) -> None:
            if isinstance(error, IdTakenError) and attempts > 1 and any(entry.id is None for entry in entries):
                self.add(entries, done, failed, attempts - 1)
            else:
                failed(error)

        def insert(first_id: int) -> None:
            from plantdesk.store import Insert

            try:
                plants = numbered(entries, first_id)
            except InvalidPlantError as error:
                failed(error)
                return
            edits = [Insert(plant, entry.note) for plant, entry in zip(plants, entries, strict=True)]
            self._bridge.follow(self, self._store.apply(edits, FORM), done, retry)

        self._queries.ask(self, next_free_id, insert, failed)


def numbered(entries: Sequence[Entry], first_id: int) -> list[NewPlant]:
    """Return plants with the IDs of `entries`, else those from `first_id` on. Raises InvalidPlantError."""
    given = {entry.id for entry in entries}
    free = (plant_id for plant_id in range(first_id, first_id + 2 * len(entries)) if plant_id not in given)
    plants = []
    for entry in entries:
        values: dict[str, object] = {"id": next(free) if entry.id is None else entry.id, "name": entry.name}
        plants.append(new_plant(values if entry.tag is None else {**values, "tag": entry.tag}))
    return plants
