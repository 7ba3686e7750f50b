"""`plantdesk add`: one plant, by the same rules as everywhere."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.records import COMMAND, new_plant, parse_id, plant_fields
from plantdesk.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def run(database: Path, name: str, chosen_id: str | None, tag: str | None) -> int:
    """Add the plant and print its id. Raises InvalidPlantError, IdTakenError, StoreError."""
    values = {"name": name} if tag is None else {"name": name, "tag": tag}
    with closing(Store(database)) as store:
        if chosen_id is None:
            adding = store.add_as_next(plant_fields(values), COMMAND)
        else:
            adding = store.add(new_plant({**values, "id": parse_id(chosen_id)}), COMMAND)
        print(adding.result().id)
    return 0
