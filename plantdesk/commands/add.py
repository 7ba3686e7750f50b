"""`plantdesk add`: one plant, by the same rules as everywhere."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.errors import IdTakenError
from plantdesk.records import COMMAND, PlantRow, SourceKind, new_plant, parse_id
from plantdesk.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def run(database: Path, name: str, chosen_id: str | None, tag: str | None) -> int:
    """Add the plant and print its id. Raises InvalidPlantError, IdTakenError, StoreError."""
    values = {"name": name} if tag is None else {"name": name, "tag": tag}
    with closing(Store(database)) as store:
        row = _add_as_next(store, values) if chosen_id is None else _add(store, values, parse_id(chosen_id))
    print(row.id)
    return 0


def _add(store: Store, values: dict[str, str], plant_id: int) -> PlantRow:
    return store.add(new_plant({**values, "id": plant_id}), COMMAND).result()


def _add_as_next(store: Store, values: dict[str, str]) -> PlantRow:
    """Take the next free id; another process may be quicker, then the one after it."""
    # To the store as from a form, which is told of every used id: two commands that add the same name at the same time
    # are two plants, not one and a retry.
    source = COMMAND._replace(kind=SourceKind.FORM)
    with closing(store.reader()) as reader:
        while True:
            plant = new_plant({**values, "id": reader.next_free_id()})
            try:
                return store.add(plant, source).result()
            except IdTakenError:
                continue
