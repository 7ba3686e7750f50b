"""Adds, changes and reads the plants of a store of any kind, each by one call that waits."""

from contextlib import closing

from plantdesk.domain.edits import Edit, Undone
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, PlantRow
from plantdesk.domain.selections import Order, View
from tests.support.adding import plant
from tests.support.waiting import SECONDS


def add(store: PlantStore, plant_id: int, name: str, tag: str | None = None) -> PlantRow:
    return store.add(plant(plant_id, name, tag), FORM).result(SECONDS)


def apply(store: PlantStore, *edits: Edit) -> int:
    change = store.apply(edits, COMMAND).result(SECONDS).change
    assert change is not None
    return change.number


def undo(store: PlantStore, number: int | None = None) -> Undone:
    return store.undo(number, COMMAND).result(SECONDS)


def rows(store: PlantStore) -> list[PlantRow]:
    """All plants in insertion order."""
    with closing(store.reader()) as reader:
        ids = [plant_id for chunk in reader.ids(View(order=Order.ADDED, descending=False)) for plant_id in chunk]
        found = reader.rows(ids)
        return [found[plant_id] for plant_id in ids]


def titles(store: PlantStore) -> list[str]:
    with closing(store.reader()) as reader:
        return [str(change.title) for change in reader.history()]
