"""`plantdesk add`: one plant, by the same rules as everywhere."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk import output
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
        plant_id = adding.result().id
    try:
        output.write(str(plant_id))
    except output.OutputError as error:
        # Still a success: whoever took it for a failure would add the plant a second time.
        print(f"plantdesk: The plant was added with ID {plant_id}. {error}", file=sys.stderr)
    return 0
