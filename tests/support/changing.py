"""Changes a store at random, also in a process of its own: `python -m tests.support.changing FILE SEED STEPS`."""

import random
import sys
from contextlib import closing, suppress
from pathlib import Path

from plantdesk.domain.edits import Delete, DeleteAll, SetTag, edited
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.waiting import SECONDS


def main() -> None:
    """Make changes and print the ids of the plants that were added."""
    path, seed, steps = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    with closing(SqliteStore(path)) as store:
        for step in range(steps):
            with suppress(PlantDeskError):  # conflicts with the others
                if (added := change(store, chance, seed * 10_000 + step)) is not None:
                    sys.stdout.write(f"{added}\n")


def change(store: PlantStore, chance: random.Random, new_id: int) -> int | None:
    """Do something by chance; return the id of a plant that was added. Raises PlantDeskError."""
    with closing(store.reader()) as reader:
        rows = list(reader.selected(Selection()))
        newest = max((change.number for change in reader.history(1)), default=1)
    row, tag = chance.choice(rows) if rows else None, chance.choice("abc")
    kind = chance.choice(("next", "add", "add", "edit", "delete", "tag", "delete all", "undo", "undo any", "redo"))
    if kind == "add" or row is None:
        return store.add(new_plant({"id": new_id, "name": "New", "tag": tag}), COMMAND).result(SECONDS).id
    if kind == "next":
        return store.add_as_next(plant_fields({"name": "Next", "tag": tag}), COMMAND).result(SECONDS).id
    if kind == "edit":
        store.apply([edited(row, name=f"Name {new_id}")], COMMAND).result(SECONDS)
    elif kind == "delete":
        store.apply([Delete(row.id, row.version, row.name)], COMMAND).result(SECONDS)
    elif kind in {"tag", "delete all"}:
        plants = Selection.of(HasTag(tag, is_exact=True))
        store.apply([SetTag(plants, "a") if kind == "tag" else DeleteAll(plants)], COMMAND).result(SECONDS)
    elif kind == "redo":
        store.redo(COMMAND).result(SECONDS)
    else:
        store.undo(None if kind == "undo" else chance.randint(1, newest), COMMAND).result(SECONDS)
    return None


if __name__ == "__main__":
    main()
