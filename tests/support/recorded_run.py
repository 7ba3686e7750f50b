"""A run of 2,000 operations by a fixed seed, and what a store has after each hundred of them, as lines of text.

`python -m tests.support.recorded_run` writes the lines of a store in a file to `RECORD`. A kind of store, and a new
version of one, gives the same lines: they change only with what PlantDesk does.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from plantdesk.domain.duplicates import Kept
from plantdesk.domain.edits import (
    Delete,
    DeleteAll,
    Edit,
    Insert,
    MergePlants,
    MergeTags,
    RenameTag,
    Rewrite,
    SetTag,
    edited,
)
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, PlantRow
from plantdesk.domain.rewriting import Rule
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Order, Selection, View
from plantdesk.domain.validation import plant_fields
from plantdesk.store import location_of
from tests.support.adding import plant
from tests.support.waiting import SECONDS

RECORD = Path(__file__).with_name("recorded_run.txt")
OPERATIONS, SEEN = 2000, 100
#: More than there are of anything.
_MANY = 10_000
_NAMES = [
    "Aloe",
    "aloe vera",
    "Étoile",
    "étoile ‘Rosa’",
    "Rosa x alba",
    "Rosa × alba",
    "Salvia",
    "Fern 2",
    "Fern 10",
    "ﬁg",
]
_TAGS = ["bed 1", "Bed 1", "bed 10", "garden/bed 1", "garden/Bed 2", "garden", "Küche", "kuche"]
_SEARCHES = [
    "aloe",
    "-aloe",
    "etoile",
    "x alba",
    "tag:garden/",
    "tag:kuche",
    "tag=bed",
    "note:dry",
    "1",
    "from:import",
    "",
]
#: How often each method of `_Operations` is called.
_WEIGHTS = {
    "add": 6,
    "add_as_next": 6,
    "insert": 1,
    "edit": 4,
    "delete": 2,
    "change_set": 3,
    "change_tags": 1,
    "rewrite": 1,
    "merge": 1,
}
_WEIGHTS |= {"import_file": 1, "undo": 3, "undo_any": 2, "redo": 2}


def lines_of(store: PlantStore, operations: int = OPERATIONS) -> Iterator[str]:
    """Do so much of the run to an empty store, and yield what it has after each hundred operations."""
    chance, outcomes = random.Random(20_261_127), Counter[str]()
    run = _Operations(store, chance)
    with closing(store.reader()) as reader:
        position = reader.events(None).position
    for number in range(1, operations + 1):
        (kind,) = chance.choices([*_WEIGHTS], [*_WEIGHTS.values()])
        try:
            getattr(run, kind)()
        except PlantDeskError as error:
            outcomes[type(error).__name__] += 1
        if number % SEEN == 0:
            seen, position = _seen(store, position)
            yield f"{number:4} {seen} {' '.join(f'{name} {count}' for name, count in sorted(outcomes.items()))}"
            outcomes.clear()


class _Operations:
    """Each method is one operation."""

    def __init__(self, store: PlantStore, chance: random.Random) -> None:
        self._store = store
        self._chance = chance

    def add(self) -> None:
        self._store.add(plant(self._chance.randint(1, 600), self._name(), self._tag()), FORM).result(SECONDS)

    def add_as_next(self) -> None:
        name, tag = self._name(), self._tag()
        fields = plant_fields({"name": name} if tag is None else {"name": name, "tag": tag})
        self._store.add_as_next(fields, COMMAND).result(SECONDS)

    def insert(self) -> None:
        self._apply(*(Insert(plant(self._chance.randint(1, 600), self._name()), "dry") for _ in range(2)))

    def edit(self) -> None:
        for row in self._some_row():
            note = self._chance.choice(("dry", "Wet", None))
            self._apply(edited(row, name=self._name(), tag=self._tag(), note=note))

    def delete(self) -> None:
        for row in self._some_row():
            self._apply(Delete(row.id, row.version, row.name))

    def change_set(self) -> None:
        plants = self._some_plants()
        self._apply(SetTag(plants, self._tag()) if self._chance.random() < 0.6 else DeleteAll(plants))

    def change_tags(self) -> None:
        there, back = RenameTag("garden", "yard", branch=True), RenameTag("yard", "garden", branch=True)
        self._apply(self._chance.choice((there, back, MergeTags(("Bed 1", "bed 10"), "bed 1"))))

    def rewrite(self) -> None:
        self._apply(Rewrite(self._some_plants(), Rule(find="a", replacement="á", note_line="dry")))

    def merge(self) -> None:
        with closing(self._store.reader()) as reader:
            groups = reader.duplicates(by_tag=False)
        if groups.sizes:
            self._apply(MergePlants(groups.without(range(2, len(groups.sizes))), Kept.LOWEST_ID))

    def import_file(self) -> None:
        lines = range(1, self._chance.randint(2, 30))
        ids = self._chance.sample(range(1, 700), len(lines))
        rows = [
            ImportRow(1, line, plant_id, self._name(), self._tag(), self._chance.choice((None, "dry")))
            for line, plant_id in zip(lines, ids, strict=True)
        ]
        with closing(self._store.new_import()) as plants:
            plants.add(rows)
            plants.compare(self._chance.choice([*OnConflict]), ("name", "tag", "note"))
            plants.apply("list.csv")

    def undo(self) -> None:
        self._store.undo(None, COMMAND).result(SECONDS)

    def undo_any(self) -> None:
        with closing(self._store.reader()) as reader:
            newest = max((change.number for change in reader.history(1)), default=1)
        self._store.undo(self._chance.randint(1, newest), FORM).result(SECONDS)

    def redo(self) -> None:
        self._store.redo(COMMAND).result(SECONDS)

    # --- what they are done to ---

    def _name(self) -> str:
        return self._chance.choice(_NAMES)

    def _tag(self) -> str | None:
        return self._chance.choice((None, *_TAGS))

    def _ids(self) -> list[int]:
        with closing(self._store.reader()) as reader:
            return sorted(row.id for row in reader.selected(Selection(), _MANY))

    def _some_row(self) -> list[PlantRow]:
        ids = self._ids()
        with closing(self._store.reader()) as reader:
            return [*reader.rows([self._chance.choice(ids)]).values()] if ids else []

    def _some_plants(self) -> Selection:
        ids = self._ids()
        found = parse_search(self._chance.choice(_SEARCHES))
        return found._replace(ids=self._chance.sample(ids, len(ids) // 5))

    def _apply(self, *edits: Edit) -> None:
        self._store.apply(edits, COMMAND).result(SECONDS)


def _seen(store: PlantStore, position: str) -> tuple[str, str]:
    """Return what a reader sees, in short, and the position of the last event."""
    with closing(store.reader()) as reader:
        rows = [*reader.selected(Selection(), _MANY)]
        views = [View(order=order, descending=descending) for order in Order for descending in (False, True)]
        views += [View(plants=parse_search(text)) for text in _SEARCHES]
        shown = [[each for chunk in reader.ids(view) for each in chunk] for view in views]
        changes = reader.history(_MANY)
        counts = reader.counts()
        events = []
        while (page := reader.events(position)).events:
            events += [(str(event.kind), event.id, event.plant, event.change) for event in page.events]
            position = page.position
    texts = [(row.id, row.name, row.tag, row.note, str(row.source.kind), row.source.label) for row in rows]
    history = [(each.number, str(each.title), each.plants, each.undoes, each.is_undone) for each in changes]
    sources = sorted((str(source.kind), source.label, count) for source, count in counts.sources.items())
    tags = sorted(counts.tags.items(), key=str)
    parts: dict[str, list[Any]] = {
        "rows": texts,
        "orders": shown,
        "history": history,
        "counts": [tags, sources],
        "events": events,
    }
    found = (f"{name} {len(part)} {sha256(repr(part).encode()).hexdigest()[:8]}" for name, part in parts.items())
    return " ".join(found), position


def main() -> None:
    """Write the record anew."""
    with tempfile.TemporaryDirectory() as folder, closing(location_of(Path(folder) / "plants.db").open()) as store:
        RECORD.write_text("".join(f"{line}\n" for line in lines_of(store)), encoding="utf-8")
    sys.stdout.write(f"{RECORD}\n")


if __name__ == "__main__":
    main()
