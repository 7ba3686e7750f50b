"""Adding plants."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import SimpleQueue

import pytest

from plantdesk.domain.edits import DeleteAll
from plantdesk.domain.errors import SamePlantError
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID, Changes, PlantRow, Source, SourceKind
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.postgres.errors import NulRefusedError
from tests.store.contract.conftest import Open
from tests.support.adding import add_each, plant
from tests.support.waiting import SECONDS


def stored(store: PlantStore) -> list[tuple[int, str, str | None, Source]]:
    """All plants in insertion order."""
    with closing(store.reader()) as reader:
        return [(row.id, row.name, row.tag, row.source) for row in reader.selected(Selection())][::-1]


@pytest.mark.parametrize("plant_id", [SMALLEST_ID, -1, 0, 1, 2**53 + 1, LARGEST_ID])
def test_every_id_is_kept_digit_for_digit(store: PlantStore, plant_id: int) -> None:
    store.add(plant(plant_id), FORM).result(SECONDS)
    assert stored(store) == [(plant_id, "Aloe vera", None, FORM)]


@pytest.mark.parametrize("text", ["", "  ", "a\x01b", "“Genovese”", "🌱" * 10, "x" * 100_000, "a\nb", "é", "e\u0301"])
def test_every_text_is_kept_as_it_came(store: PlantStore, text: str) -> None:
    store.add(plant(1, text, tag=text), COMMAND).result(SECONDS)
    assert stored(store) == [(1, text, text, COMMAND)]


@pytest.mark.parametrize("text", ["\0", "a\0b"])
def test_nul_is_kept_or_refused_for_its_plant_alone(store: PlantStore, nul: str, text: str) -> None:
    outcomes = add_each(store, [(plant(1, text, tag=text), FORM), (plant(2), FORM)])
    if nul == "\0":
        assert stored(store)[0] == (1, text, text, FORM)
    else:
        assert isinstance(outcomes[0], NulRefusedError)
        assert stored(store) == [(2, "Aloe vera", None, FORM)]


def test_the_row_of_a_retry_is_that_of_a_plant_that_was_read(store: PlantStore) -> None:
    source = store.tokens.create("script").result(SECONDS).row.source
    entry = new_plant({"id": 7, "name": "Fern"}), source
    added, again = add_each(store, [entry, entry])
    assert isinstance(added, PlantRow)
    assert isinstance(again, PlantRow)
    assert added.source == source
    assert again.source == Source(source.id, SourceKind.TOKEN, "script")
    assert again._replace(source=source) == added


def test_the_form_reports_a_used_id_even_if_all_is_the_same(store: PlantStore) -> None:
    store.add(plant(1), COMMAND).result(SECONDS)
    with pytest.raises(SamePlantError, match="“Aloe vera” is already there with ID 1"):
        store.add(plant(1), FORM).result(SECONDS)


def test_changes_of_others_are_reported_while_plants_arrive(store: PlantStore, open_store: Open) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(received.put)
    with closing(open_store()) as other:
        store.add(plant(1), COMMAND).result(SECONDS)
        other.add(plant(-1), COMMAND).result(SECONDS)
        other.apply([DeleteAll(Selection(ids=[-1]))], COMMAND).result(SECONDS)
        plant_id, removed = 1, set[int]()
        while -1 not in removed:
            plant_id += 1
            store.add(plant(plant_id), COMMAND).result(SECONDS)
            while not received.empty():
                removed.update(received.get().removed)


def test_a_group_larger_than_one_statement_is_whole(store: PlantStore) -> None:
    outcomes = add_each(store, [(plant(number), FORM) for number in range(1203)])
    assert all(isinstance(outcome, PlantRow) for outcome in outcomes)
    assert [row[0] for row in stored(store)] == list(range(1203))


def test_many_threads_at_once_lose_nothing(store: PlantStore) -> None:
    def add(start: int) -> None:
        for number in range(start, start + 100):
            store.add(plant(number), FORM).result(SECONDS)

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(add, range(0, 8000, 1000))] == [None] * 8
    assert len(stored(store)) == 800


def test_the_store_gives_the_next_free_id_itself(store: PlantStore) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    store.add(plant(7), FORM).result(SECONDS)
    store.subscribe(received.put)
    fields = plant_fields({"name": "Ficus", "tag": "office"})
    rows = [store.add_as_next(fields, COMMAND) for _ in range(3)]
    assert [row.result(SECONDS).id for row in rows] == [8, 9, 10]
    assert stored(store)[1:] == [(number, "Ficus", "office", COMMAND) for number in (8, 9, 10)]
    assert [received.get(timeout=SECONDS).added[0].id for _ in rows] == [8, 9, 10]
    store.add(plant(20), FORM).result(SECONDS)
    assert [row.id for row in received.get(timeout=SECONDS).added] == [20]
