"""Tokens."""

from contextlib import closing
from itertools import count
from queue import SimpleQueue

import pytest

from plantdesk.domain.errors import InvalidTokenNameError, TokenRefusedError, TokenUsedUpError
from plantdesk.domain.protocols import PlantStore, TokenLookup
from plantdesk.domain.records import COMMAND, FORM, Changes, SourceKind, now_ms
from plantdesk.domain.validation import new_plant
from tests.store.contract.conftest import Open
from tests.support.adding import add_each
from tests.support.waiting import SECONDS


def test_a_token_stands_for_its_source(store: PlantStore, lookup: TokenLookup) -> None:
    token, row = store.tokens.create("greenhouse").result(SECONDS)
    source = lookup.source(token)
    assert source == row.source
    assert (source.kind, source.label) == (SourceKind.TOKEN, "greenhouse")


@pytest.mark.parametrize("token", ["", "plantdesk_", "x" * 10_000, "\udcff"])
def test_an_unknown_token_is_refused(lookup: TokenLookup, token: str) -> None:
    with pytest.raises(TokenRefusedError):
        lookup.source(token)


def test_a_token_made_just_after_a_look_counts_at_once(store: PlantStore, lookup: TokenLookup) -> None:
    first = store.tokens.create("first").result(SECONDS).token
    assert lookup.source(first).label == "first"
    second = store.tokens.create("second").result(SECONDS).token
    assert lookup.source(second).label == "second"


def test_a_token_of_another_process_counts_at_once(open_store: Open, lookup: TokenLookup) -> None:
    other = open_store()
    token = other.tokens.create("greenhouse").result(SECONDS).token
    assert lookup.source(token).label == "greenhouse"
    other.close()


def test_a_revoked_token_is_refused_from_then_on(store: PlantStore, open_store: Open) -> None:
    token = store.tokens.create("greenhouse").result(SECONDS).token
    other = open_store()
    other.tokens.revoke(" greenhouse ").result(SECONDS)
    other.close()
    with pytest.raises(TokenRefusedError), closing(store.tokens.open_lookup()) as lookup:
        lookup.source(token)
    assert store.tokens.list() == []


def test_a_token_ends_when_its_time_is_over(store: PlantStore, lookup: TokenLookup) -> None:
    over = store.tokens.create("over", now_ms() - 1).result(SECONDS).token
    later = store.tokens.create("later", now_ms() + 60_000).result(SECONDS).token
    assert lookup.source(later).label == "later"
    with pytest.raises(TokenRefusedError):
        lookup.source(over)
    assert [row.is_expired(now_ms()) for row in store.tokens.list()] == [False, True]


def test_a_token_counts_its_plants(store: PlantStore) -> None:
    source = store.tokens.create("greenhouse").result(SECONDS).row.source
    store.tokens.create("idle").result(SECONDS)
    for plant_id in (1, 2, 2):
        store.add(new_plant({"id": plant_id, "name": "Aloe"}), source).result(SECONDS)
    idle, greenhouse = store.tokens.list()
    assert (greenhouse.plants_added, idle.plants_added) == (2, 0)
    assert greenhouse.last_used_at is not None
    assert idle.last_used_at is None


def test_a_token_that_ends_between_two_plants_adds_nothing_more(store: PlantStore) -> None:
    source = store.tokens.create("greenhouse", expires_at := now_ms() + 200).result(SECONDS).row.source
    plants = (new_plant({"id": plant_id, "name": "Aloe"}) for plant_id in count(1))
    added = (store.add(plant, source).result(SECONDS) for plant in plants)
    with pytest.raises(TokenRefusedError):
        assert all(row.added_at < expires_at for row in added)


def test_use_without_a_plant_is_noted(store: PlantStore) -> None:
    source = store.tokens.create("greenhouse").result(SECONDS).row.source
    store.tokens.record_use(source).result(SECONDS)
    (row,) = store.tokens.list()
    assert row.last_used_at is not None


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 101])
def test_a_token_name_that_tells_no_program_is_refused(store: PlantStore, name: str) -> None:
    with pytest.raises(InvalidTokenNameError):
        store.tokens.create(name).result(SECONDS)


def test_a_token_adds_as_many_plants_as_it_may(store: PlantStore) -> None:
    source = store.tokens.create("sensor", max_plants=3).result(SECONDS).row.source
    plants = [(new_plant({"id": plant_id, "name": "Fern"}), source) for plant_id in (1, 2, 2, 3, 4, 1)]
    outcomes = add_each(store, plants)
    assert [type(outcome).__name__ for outcome in outcomes] == [*["PlantRow"] * 4, "TokenUsedUpError", "PlantRow"]
    with pytest.raises(TokenUsedUpError, match="may add 3 plants"):
        store.add(new_plant({"id": 5, "name": "Fern"}), source).result(SECONDS)
    (row,) = store.tokens.list()
    assert (row.plants_added, row.max_plants) == (3, 3)


def test_the_plants_of_a_token_can_be_removed_with_it(store: PlantStore) -> None:
    received: SimpleQueue[Changes] = SimpleQueue()
    source = store.tokens.create("runaway").result(SECONDS).row.source
    store.add(new_plant({"id": 1, "name": "Own"}), COMMAND).result(SECONDS)
    add_each(store, [(new_plant({"id": n, "name": "Fern"}), source) for n in range(10, 60)])
    store.subscribe(received.put)
    removed = store.tokens.revoke_and_remove_plants("runaway", FORM).result(SECONDS)
    assert removed.plants == 50
    assert removed.change is not None
    assert removed.change.source.kind is SourceKind.FORM, "not the command line"
    assert sorted(received.get(timeout=SECONDS).removed) == list(range(10, 60))
    with closing(store.reader()) as reader:
        assert reader.count() == 1
    assert store.tokens.list() == []
    store.undo(None, COMMAND).result(SECONDS)
    with closing(store.reader()) as reader:
        assert reader.count() == 51
