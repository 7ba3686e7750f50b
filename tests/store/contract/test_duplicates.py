"""Finding plants that are alike, and merging them, as every store must do it."""

from collections.abc import Sequence
from contextlib import closing

import pytest

from plantdesk.domain.duplicates import KeepRule, PlantGroups
from plantdesk.domain.edits import Insert, MergePlants, edited
from plantdesk.domain.folding import alike_key
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import COMMAND, FORM, MAX_NOTE_BYTES, now_ms
from plantdesk.domain.validation import new_plant
from tests.support.adding import plant
from tests.support.plant_changes import add, apply, rows, titles
from tests.support.waiting import SECONDS

#: Names that are alike to others but for what a reader does not see, and names that are not.
NAMES = [
    "Aloe vera",
    "aloe  VERA",
    " Aloe vera ",
    "Aloe\u00a0vera",
    "Aloevera",
    "Aloé vera",
    "Salvia ‘Caradonna’",
    "Salvia 'Caradonna'",
    'salvia "caradonna"',
    "Salvia `Caradonna`",
    "Ilex × meserveae",
    "Ilex x meserveae",
    "Ilex  ×  meserveae",
    "Ähre ",
    "ahre",
    "Straße",
    "STRASSE",
    "Роза",
    "роза ",
    "",
    " ",
    "\u0301",
    "a\x1fb",
    "a b",
]
TAGS = [None, "", "kitchen", " Kitchen", "küche ", "KÜCHE", "bed  3", "bed 3", "x"]


def fill(store: PlantStore, *plants: tuple[str, str | None, str | None]) -> list[int]:
    """Add plants of name, tag and note under the ids 1, 2, …, each after the other; return the ids."""
    for number, (name, tag, note) in enumerate(plants, start=1):
        store.apply([Insert(plant(number, name, tag), note)], FORM).result(SECONDS)
    return list(range(1, len(plants) + 1))


def duplicates(store: PlantStore, *, by_tag: bool = True) -> PlantGroups:
    with closing(store.reader()) as reader:
        return reader.duplicates(by_tag=by_tag)


def groups(store: PlantStore, *, by_tag: bool = True) -> list[list[int]]:
    found, start = duplicates(store, by_tag=by_tag), 0
    ids = []
    for size in found.sizes:
        ids.append(found.ids[start : start + size].tolist())
        start += size
    return ids


def notes(store: PlantStore) -> dict[int, str | None]:
    return {row.id: row.note for row in rows(store)}


@pytest.mark.parametrize("by_tag", [True, False])
def test_plants_are_alike_whatever_nobody_sees(store: PlantStore, *, by_tag: bool) -> None:
    plants = [(name, tag, None) for tag in TAGS for name in NAMES]
    fill(store, *plants)
    expected: dict[str, list[int]] = {}
    for number, (name, tag, _) in enumerate(plants, start=1):
        expected.setdefault(alike_key(name, tag, by_tag), []).append(number)
    assert groups(store, by_tag=by_tag) == [expected[key] for key in sorted(expected) if key and len(expected[key]) > 1]


def test_what_is_alike(store: PlantStore) -> None:
    fill(store, ("Aloe vera", "a", None), ("Fern", None, None), ("aloe  véra", "A", None), ("Aloe vera", "b", None))
    assert groups(store) == [[1, 3]]
    assert groups(store, by_tag=False) == [[1, 3, 4]]


def test_the_newest_of_one_import_is_its_last_plant(store: PlantStore) -> None:
    both = [Insert(new_plant({"id": plant_id, "name": "Aloe"}), None) for plant_id in (1, 2)]
    store.apply(both, FORM).result(SECONDS)
    apply(store, MergePlants(duplicates(store), KeepRule.NEWEST))
    assert [*notes(store)] == [2]


@pytest.mark.parametrize(
    ("keep", "chosen", "kept"),
    [
        (KeepRule.LOWEST_ID, (), 2),
        (KeepRule.NEWEST, (), 5),
        (KeepRule.LONGEST_NOTE, (), 7),
        (KeepRule.LONGEST_NOTE, (5,), 5),
        (KeepRule.NEWEST, (99,), 5),
    ],
)
def test_which_plant_is_kept(store: PlantStore, keep: KeepRule, chosen: Sequence[int], kept: int) -> None:
    for plant_id, note in ((7, "the longest note"), (2, "short"), (5, None)):
        added = now_ms()
        while now_ms() == added:
            """The newest plant is that with the latest time, which has milliseconds."""
        store.apply([Insert(new_plant({"id": plant_id, "name": "Aloe"}), note)], FORM).result(SECONDS)
    apply(store, MergePlants(duplicates(store), keep, frozenset(chosen)))
    assert notes(store) == {kept: "short\nthe longest note"}


def test_a_group_that_has_changed_meanwhile_stays_as_it_is(store: PlantStore) -> None:
    fill(
        store,
        ("Aloe", None, "a"),
        ("Aloe", None, "b"),
        ("Fern", None, None),
        ("Fern", None, None),
        ("Oak", None, None),
        ("Oak", None, None),
    )
    found = duplicates(store)
    aloe, _, fern, *_ = rows(store)
    apply(store, edited(aloe, note="changed"))
    apply(store, MergePlants(PlantGroups.of([[fern, rows(store)[3]]]), KeepRule.LOWEST_ID))
    change = store.apply([MergePlants(found, KeepRule.LOWEST_ID)], COMMAND).result(SECONDS).change
    assert change is not None
    assert (change.plants, change.parameters) == (1, {"merged": 1})
    assert notes(store) == {1: "changed", 2: "b", 3: None, 5: None}


def test_notes_that_are_too_long_together_leave_their_group(store: PlantStore) -> None:
    half = "ä" * (MAX_NOTE_BYTES // 4)
    fill(
        store,
        ("Aloe", None, half),
        ("Aloe", None, half[:-1] + "x"),
        ("Aloe", None, None),
        ("Fern", None, half),
        ("Fern", None, half[:-1]),
    )
    change = store.apply([MergePlants(duplicates(store), KeepRule.LOWEST_ID)], COMMAND).result(SECONDS).change
    assert change is not None
    assert change.parameters == {"merged": 3}
    apply(store, edited(rows(store)[0], note=half + half))
    add(store, 2, "Aloe")
    apply(store, edited(rows(store)[-1], note="one more"))
    found = rows(store)
    assert store.apply([MergePlants(duplicates(store), KeepRule.LOWEST_ID)], COMMAND).result(SECONDS).change is None
    assert rows(store) == found


def test_merging_nothing_changes_nothing(store: PlantStore) -> None:
    assert store.apply([MergePlants(PlantGroups.of([]), KeepRule.LOWEST_ID)], COMMAND).result(SECONDS).change is None
    assert titles(store) == []
