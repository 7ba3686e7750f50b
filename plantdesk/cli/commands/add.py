"""`plantdesk add`: adds one plant."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.cli.commands.opening import open_store
from plantdesk.domain.records import COMMAND, parse_id
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.platform import output

if TYPE_CHECKING:
    from pathlib import Path


def run(database: Path, name: str, chosen_id: str | None, tag: str | None) -> int:
    """Add the plant and print its id. Raises InvalidPlantError, IdTakenError, StoreError."""
    values = {"name": name} if tag is None else {"name": name, "tag": tag}
    with closing(open_store(database)) as store:
        if chosen_id is None:
            added = store.add_as_next(plant_fields(values), COMMAND)
        else:
            added = store.add(new_plant({**values, "id": parse_id(chosen_id)}), COMMAND)
        plant_id = added.result().id
    try:
        output.write(str(plant_id))
    except output.OutputError as error:
        # Not a failure: a script that retries would add the plant a second time.
        print(f"plantdesk: The plant was added with ID {plant_id}. {error}", file=sys.stderr)
    return 0
