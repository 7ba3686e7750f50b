"""Desks that write at the same time: ids never collide, and all see every commit once, in one order."""

from __future__ import annotations

import random
import threading
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING

from plantdesk.domain.edits import DeleteAll, SetTag, edited
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import COMMAND, FORM, Changes
from plantdesk.domain.selections import HasId, Selection
from plantdesk.domain.validation import new_plant, plant_fields
from tests.support.cases import number
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import PlantRow
    from plantdesk.store.locations import PostgresLocation
    from tests.support.postgres_server import PostgresServer

_LAST = 1_000_000


def change(store: PlantStore, chance: random.Random) -> None:
    """Do something by chance; others may have been quicker."""
    first = chance.randrange(1, 60)
    some = Selection.of(HasId(first, first + 3))
    kind = chance.choice(["next", "next", "add", "edit", "tag", "delete", "undo", "redo"])
    if kind == "next":
        store.add_as_next(plant_fields({"name": "Fern"}), COMMAND).result(SECONDS)
    elif kind == "add":
        store.add(new_plant({"id": first, "name": "Ivy"}), FORM).result(SECONDS)
    elif kind == "edit":
        with closing(store.reader()) as reader:
            row = reader.plant(first)
        if row is not None:
            store.apply([edited(row, name=f"{row.name[:20]}!")], FORM).result(SECONDS)
    elif kind == "tag":
        store.apply([SetTag(some, chance.choice(["hall", "Küche", None]))], FORM).result(SECONDS)
    elif kind == "delete":
        store.apply([DeleteAll(some)], FORM).result(SECONDS)
    elif kind == "undo":
        store.undo(None, FORM).result(SECONDS)
    else:
        store.redo(FORM).result(SECONDS)


def follow(received: SimpleQueue[Changes], plants: dict[int, PlantRow]) -> None:
    """Do to `plants` what a desk was notified of, until the last plant was."""
    while _LAST not in plants:
        changes = received.get(timeout=SECONDS)
        assert not changes.needs_reload
        for plant_id in changes.removed:
            plants.pop(plant_id, None)
        for row in (*changes.added, *changes.updated):
            plants[row.id] = row


def test_each_desk_follows_all_others(postgres: PostgresServer, location: PostgresLocation) -> None:
    desks = [location.open() for _ in range(3)]
    queues: list[SimpleQueue[Changes]] = [SimpleQueue() for _ in desks]
    for desk, queue in zip(desks, queues, strict=True):
        desk.subscribe(queue.put)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(number(40)):
            try:
                change(desks[seed % 3], chance)
            except PlantDeskError:
                continue

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desks[0].add(new_plant({"id": _LAST, "name": "Last"}), COMMAND).result(SECONDS)
    with closing(desks[1].reader()) as reader:
        ids = [plant_id for page in reader.pages(Selection()) for plant_id in [row.id for row in page]]
        plants = reader.rows(ids)
        counts = reader.count(), reader.counts().total
    for queue in queues:
        followed: dict[int, PlantRow] = {}
        follow(queue, followed)
        plain = {each: row._replace(source=plants[each].source) for each, row in followed.items()}
        assert plain == plants
    for desk in desks:
        desk.close()
    assert counts == (len(ids), len(ids))
    positions = postgres.execute("SELECT position FROM plantdesk.commits ORDER BY position", location.name)
    assert [position for (position,) in positions] == [*range(1, len(positions) + 1)]
    changes = postgres.execute("SELECT number FROM plantdesk.change ORDER BY number", location.name)
    assert [each for (each,) in changes] == [*range(1, len(changes) + 1)]


def test_next_free_ids_never_collide(location: PostgresLocation) -> None:
    desks = [location.open() for _ in range(3)]
    futures = [desk.add_as_next(plant_fields({"name": "Fern"}), COMMAND) for _ in range(30) for desk in desks]
    assert sorted(future.result(SECONDS).id for future in futures) == [*range(1, 91)]
    for desk in desks:
        desk.close()
