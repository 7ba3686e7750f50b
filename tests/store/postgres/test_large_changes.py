"""Changes of very many plants, beside other desks: these wait, and nothing of what they do is lost; and pruning."""

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from uuid import uuid4

import psycopg
import pytest
from typing_extensions import override

from plantdesk.domain.edits import DeleteAll, Edit, MergeTags, RenameTag, SetTag, edited
from plantdesk.domain.errors import PlantDeskError, StoreBusyError
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, PlantRow
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store import history
from plantdesk.store.change_writer import LARGE_CHANGE
from plantdesk.store.locations import PostgresLocation
from plantdesk.store.postgres.connections import connect, execute
from plantdesk.store.postgres.transactions import _ADD, PostgresTransactions
from tests.support.adding import Adding, add_each
from tests.support.postgres_server import PostgresServer
from tests.support.waiting import SECONDS

COUNT = LARGE_CHANGE + 2000
#: Edits of the plants of the tags “room 0” to “room 2”, and what becomes of a tag.
EDITS: list[tuple[Edit, dict[str, str | None]]] = [
    (SetTag(Selection(since=0), "hall"), {f"room {n}": "hall" for n in range(3)}),
    (RenameTag("room 1", "hall"), {"room 1": "hall"}),
    (MergeTags(("room 0", "room 1"), "room 2"), {"room 0": "room 2", "room 1": "room 2"}),
    (DeleteAll(Selection(since=0)), {f"room {n}": None for n in range(3)}),
]


@pytest.fixture
def other(location: PostgresLocation, store: PlantStore) -> Iterator[PlantStore]:
    """Another desk, which adds plants in the tests; the store has plants already."""
    entries = [(new_plant({"id": n, "name": f"Rosa {n // 2}", "tag": f"room {n % 3}"}), FORM) for n in range(COUNT)]
    add_each(store, entries)
    with closing(location.open()) as other:
        yield other


class AddingTagged(Adding):
    """Adds plants with tags, and notes them."""

    def __init__(self, store: PlantStore) -> None:
        super().__init__(store)
        self.added: dict[int, str] = {}

    @override
    def _add(self) -> None:
        number = COUNT + len(self.added)
        tag = f"room {number % 3}"
        with suppress(StoreBusyError):  # the same plant is added next
            self._store.add(new_plant({"id": number, "name": "Added", "tag": tag}), COMMAND).result(SECONDS)
            self.added[number] = tag


def rows(store: PlantStore) -> dict[int, PlantRow]:
    with closing(store.reader()) as reader:
        return {row.id: row for page in reader.pages(Selection()) for row in page}


def last_seq(location: PostgresLocation, change: int) -> int:
    """Return the largest `seq` that there was at the end of a change."""
    with closing(connect(location, "test", 60)) as connection:
        query = "SELECT parameters FROM plantdesk.change WHERE number = %s"
        (parameters,) = connection.execute(query, (change,)).fetchone() or ("",)
    return int(json.loads(parameters)["last_seq"])


@pytest.mark.parametrize(("edit", "becomes"), EDITS)
def test_what_others_add_before_a_change_is_changed_as_well_and_later_plants_are_not(
    location: PostgresLocation, store: PlantStore, other: PlantStore, edit: Edit, becomes: dict[str, str | None]
) -> None:
    before = rows(store)
    with AddingTagged(other) as adding:
        change = store.apply([edit], FORM).result(SECONDS).change
        undone = store.undo(None, FORM).result(SECONDS)
        redone = store.redo(FORM).result(SECONDS)
    assert change is not None
    assert change.plants == undone.change.plants == redone.change.plants >= COUNT // 3
    last, found = last_seq(location, change.number), rows(store)
    # Each plant takes one id and one `seq`, which begin with 0 and 1.
    tags = {plant_id: row.tag for plant_id, row in before.items()} | adding.added
    wanted = {each: becomes.get(tag or "", tag) if each < last else tag for each, tag in tags.items()}
    if isinstance(edit, DeleteAll):
        wanted = {each: tag for each, tag in wanted.items() if tag is not None}
    assert {each: row.tag for each, row in found.items()} == wanted


def test_changes_of_others_meanwhile_are_kept(store: PlantStore, other: PlantStore) -> None:
    before = rows(store)
    tagging = store.apply([SetTag(Selection(since=0), "hall")], FORM)
    noted = set[int]()
    for plant_id in range(0, COUNT, COUNT // 20):
        try:
            other.apply([edited(before[plant_id], note="dry")], COMMAND).result(SECONDS)
        except PlantDeskError:  # it has the tag already, or waited too long
            continue
        noted.add(plant_id)
    change = tagging.result(SECONDS).change
    assert change is not None
    assert {row.tag for row in rows(store).values()} == {"hall"}
    store.undo(change, FORM).result(SECONDS)
    found = rows(store)
    assert {each for each, row in found.items() if row.note == "dry"} == noted
    assert all(found[each].tag == row.tag for each, row in before.items())


def test_changes_are_made_in_their_order_and_closing_waits_for_them(store: PlantStore, other: PlantStore) -> None:
    store.apply([edited(rows(store)[0], note="dry")], FORM).result(SECONDS)
    tagging, undoing = store.apply([SetTag(Selection(since=0), "hall")], FORM), store.undo(None, FORM)
    redoing, deleting = store.redo(FORM), store.apply([DeleteAll(Selection(since=0))], FORM)
    change = tagging.result(SECONDS).change
    assert change is not None
    assert undoing.result(SECONDS).change.undoes == change.number
    redoing.result(SECONDS)
    store.close()
    assert deleting.result(SECONDS).plants == COUNT
    assert rows(other) == {}


@pytest.mark.slow
def test_a_plant_is_refused_for_now_during_a_change_that_takes_longer(
    location: PostgresLocation, store: PlantStore
) -> None:
    plant = new_plant({"id": 1, "name": "Fern"})
    with psycopg.connect(location.url) as changing:
        changing.execute("SELECT FROM plantdesk.state FOR UPDATE")
        with pytest.raises(StoreBusyError) as refused:
            store.add(plant, COMMAND).result(SECONDS)
    assert refused.value.retry_after is not None
    assert store.add(plant, COMMAND).result(SECONDS).id == 1


def test_old_before_images_and_keys_of_commits_are_removed_but_for_the_last(
    postgres: PostgresServer, location: PostgresLocation, store: PlantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    for tag in ("hall", "attic", "cellar"):
        store.apply([SetTag(Selection(), tag)], FORM).result(SECONDS)
    with closing(PostgresTransactions(location)) as transactions:
        assert not transactions.prune()
        assert postgres.execute("SELECT count(size) FROM plantdesk.change", location.name) == [(3,)]
        monkeypatch.setattr(history, "_MIN_CHANGES", 1)
        for table in ("change", "commits"):
            postgres.execute(f"UPDATE plantdesk.{table} SET made_at = 0", location.name)
        assert not transactions.prune()
    for table in ("before_image", "commits"):
        assert postgres.execute(f"SELECT count(*) FROM plantdesk.{table}", location.name) == [(1,)]
    with closing(store.reader()) as reader:
        assert [change.can_undo for change in reader.history()] == [True, False, False]


def test_a_plan_of_the_empty_store_looks_up_ids_by_the_index(location: PostgresLocation) -> None:
    """The server keeps it for the store that has many."""
    values = {"plants": "[]", "key": uuid4(), "desk": "desk"}
    with closing(connect(location, "writer")) as connection:
        plan = [line for (line,) in execute(connection, f"EXPLAIN {_ADD}", values)]
    assert not any("Seq Scan on plant" in line for line in plan)
