"""Reading: views, searches, pages and short queries."""

from collections.abc import Iterator
from contextlib import closing
from random import Random

import pytest

from plantdesk.domain.edits import DeleteAll, edited
from plantdesk.domain.folding import fold
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Order, Selection, View
from plantdesk.domain.validation import new_plant
from plantdesk.store.rows import FIRST_UNCOUNTED_ID
from tests.support.adding import add_each, plant
from tests.support.waiting import SECONDS

PLANTS = [
    (10, "Aloe vera", "kitchen"),
    (11, "Érable du Japon", "garden"),
    (9, "aloe ferox", None),
    (-120, "Straße 100% _x_ \\ tree", "Żywopłot"),
    (12, "nul\0after", ""),
]


@pytest.fixture
def reader(store: PlantStore, nul: str) -> Iterator[PlantReader]:
    for plant_id, name, tag in PLANTS:
        store.add(plant(plant_id, name.replace("\0", nul), tag), FORM).result(SECONDS)
    reader = store.reader()
    yield reader
    reader.close()


def ids(reader: PlantReader, view: View) -> list[int]:
    return [plant_id for chunk in reader.ids(view) for plant_id in chunk]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("aloe", {10, 9}),
        ("erable", {11}),
        ("ÉRABLE japon", {11}),
        ("strasse", {-120}),
        ("zywop", {-120}),
        ("100%", {-120}),
        ("_x_", {-120}),
        ("\\", {-120}),
        ("after", {12}),
        ("aloe kitchen", {10}),
        ("1", {-120, 10, 11, 12}),
        ("   ", {10, 11, 9, -120, 12}),
        ("x" * 60_000, set()),
    ],
)
def test_search_looks_in_name_tag_and_id(reader: PlantReader, text: str, found: set[int]) -> None:
    assert set(ids(reader, View(parse_search(text)))) == found


def test_a_number_finds_the_ids_that_begin_with_it(store: PlantStore, reader: PlantReader) -> None:
    known = [0, 5, -5, 99, 100, -1000, SMALLEST_ID, SMALLEST_ID + 1, LARGEST_ID - 1, LARGEST_ID, 10**18, -(10**18)]
    for plant_id in known:
        store.add(new_plant({"id": plant_id, "name": "Fern"}), FORM).result(SECONDS)
    beginnings = {str(plant_id)[:length] for plant_id in known for length in range(1, 21)} - {"-"}
    all_ids = [*known, *(plant_id for plant_id, _, _ in PLANTS if plant_id != -120)]
    for text in [*sorted(beginnings), "00", "-0", "01", "٣", "9" * 30]:
        found = {plant_id for plant_id in all_ids if str(plant_id).startswith(text)}
        assert {*ids(reader, View(parse_search(text)))} - {-120} == found, text


CONFUSABLES = [
    (20, "Mentha × piperita", None),
    (21, "Mentha x villosa", None),
    (22, "×Fatshedera", "Queen’s"),
    (23, 'Ocimum "Genovese"', "queen's"),
    (24, "Érable “Genovese”", None),
    (25, "L´Aloe ´", None),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mentha x", {20, 21}),
        ("xfat", {22}),
        ("queen's", {22, 23}),
        ("'genovese'", {23, 24}),
        ("“Genovese”", {23, 24}),
        ("´", {25}),
        ("´ aloe", {25}),
        ("¸ x", set()),
        ("l´aloe", {25}),
    ],
)
def test_what_no_keyboard_has_is_found_by_what_it_has(store: PlantStore, text: str, found: set[int]) -> None:
    for plant_id, name, tag in CONFUSABLES:
        store.add(plant(plant_id, name, tag), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        assert set(ids(reader, View(parse_search(text)))) == found


def test_a_word_longer_than_sqlite_likes_is_found(store: PlantStore, reader: PlantReader) -> None:
    store.add(new_plant({"id": 1, "name": "y" * 60_000}), FORM).result(SECONDS)
    assert ids(reader, View(parse_search("Y" * 59_000))) == [1]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", [Order.NAME, Order.TAG])
@pytest.mark.parametrize("tagged", [1400, 300])
def test_a_sort_of_more_plants_than_a_first_page(
    store: PlantStore, order: Order, *, descending: bool, tagged: int
) -> None:
    """Names and tags of which the beginnings are the same are longer than an entry of an index may be."""
    chance, long = Random(5), "a" * 3000
    words = ["aloe", "Aloe", "étoile", "b" * 99, "b" * 100, "b" * 101, long, f"{long} 1", f"{long} 2", "z", "Z 1"]

    def texts(number: int) -> tuple[str, str | None]:
        return f"{chance.choice(words)} {number}", chance.choice(words) if number < tagged else None

    plants = [(number, *texts(number)) for number in range(1, 1501)]
    add_each(store, [(plant(*each), FORM) for each in plants])
    by_tag = order is Order.TAG
    expected = sorted(plants, key=lambda each: (fold(each[2] or "") if by_tag else "", fold(each[1])))
    if descending:
        expected.reverse()
    if by_tag:
        expected.sort(key=lambda each: each[2] is None)
    with closing(store.reader()) as reader:
        assert ids(reader, View(order=order, descending=descending)) == [number for number, _, _ in expected]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", [*Order])
def test_a_plant_that_is_added_again_while_a_view_is_read_is_listed_once(
    store: PlantStore, order: Order, *, descending: bool
) -> None:
    add_each(store, [(plant(number, "Aloe", "a"), FORM) for number in range(1, 701)])
    with closing(store.reader()) as reader:
        chunks = reader.ids(View(order=order, descending=descending))
        found = next(chunks).tolist()
        again = found[:9]
        store.apply([DeleteAll(Selection(ids=again))], COMMAND).result(SECONDS)
        add_each(store, [(plant(number, "Zinnia" if number % 2 else "Aloe", "z"), FORM) for number in again])
        found += [plant_id for chunk in chunks for plant_id in chunk]
    assert sorted(found) == [*range(1, 701)]


def test_pages_for_the_screen_hold_the_beginning_of_long_texts(
    store: PlantStore, reader: PlantReader, nul: str
) -> None:
    store.add(new_plant({"id": 70, "name": "é🌱" + "x" * 1_000_000, "tag": "t" * 1000}), FORM).result(SECONDS)
    rows = reader.shortened_rows([70, 404, 12, 9], 6)
    assert [(row.name, row.tag) for row in rows.values()] == [
        ("é🌱xxxx", "tttttt"),
        (f"nul{nul}after", ""),
        ("aloe ferox", None),
    ]
    assert rows[9] == reader.plant(9)


def test_pages_for_the_screen_hold_no_notes(store: PlantStore, reader: PlantReader) -> None:
    before = reader.rows([9])[9]
    store.apply([edited(before, note="Water on Mondays.")], FORM).result(SECONDS)
    assert (reader.rows([9])[9].note, reader.shortened_rows([9], 6)[9].note) == ("Water on Mondays.", None)


@pytest.mark.parametrize(
    ("taken", "free"),
    [
        ([], 1),
        ([-5], 1),
        ([SMALLEST_ID], 1),
        ([1, 2, 7], 8),
        ([2026001], 2026002),
        ([1, 2, 4, LARGEST_ID], 5),
        ([FIRST_UNCOUNTED_ID, FIRST_UNCOUNTED_ID + 1], 1),
        ([1, 2, 4, FIRST_UNCOUNTED_ID - 2], FIRST_UNCOUNTED_ID - 1),
        ([1, 2, 4, FIRST_UNCOUNTED_ID - 1], 3),
    ],
)
def test_the_next_free_id(store: PlantStore, taken: list[int], free: int) -> None:
    for plant_id in taken:
        store.add(new_plant({"id": plant_id, "name": "x"}), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        assert reader.next_free_id() == free


def test_a_reader_sees_what_was_added_after_its_last_question(store: PlantStore, reader: PlantReader) -> None:
    assert reader.next_free_id() == 13
    assert len(ids(reader, View())) == 5
    store.add(new_plant({"id": 13, "name": "x", "tag": "new"}), FORM).result(SECONDS)
    assert (reader.next_free_id(), reader.count(), len(ids(reader, View()))) == (14, 6, 6)
    assert [*reader.tag_counts()] == ["", "garden", "kitchen", "new", "Żywopłot"]
    assert reader.plant(13) is not None


def test_pages_give_a_set_in_the_order_of_arrival(store: PlantStore) -> None:
    entries = [(new_plant({"id": -n, "name": "Fern", "tag": "ab"[n % 2]}), FORM) for n in range(12_000)]
    add_each(store, entries)
    with closing(store.reader()) as reader:
        assert [row.id for page in reader.pages(Selection()) for row in page] == [-n for n in range(12_000)]
        assert [row.id for page in reader.pages(parse_search("tag=b")) for row in page] == [*range(-1, -12_000, -2)]


@pytest.mark.parametrize(
    ("start", "names"),
    [
        ("MON", [("Monstera", "hall", 2), ("Monarda", None, 1)]),
        ("monst", [("Monstera", "hall", 2)]),
        ("mentha x", [("Mentha × piperita", "bed", 1)]),
        ("erable", [("Érable", None, 1)]),
        ("stera", []),
        ("%", []),
        ("m" * 60_000, []),
    ],
)
def test_known_names_have_the_tag_of_their_newest_plant(
    store: PlantStore, start: str, names: list[tuple[str, str | None, int]]
) -> None:
    plants = [
        ("Monstera", "kitchen"),
        ("Monarda", None),
        ("Érable", None),
        ("Mentha × piperita", "bed"),
        ("Monstera", "hall"),
    ]
    for plant_id, (name, tag) in zip((9, 1, 2, 3, 4), plants, strict=True):
        store.add(plant(plant_id, name, tag), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        assert reader.known_names(start, 6) == names
        assert reader.known_names("", 2)[:1] == [("Monstera", "hall", 2)]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("Salvia nemrosa", [("Salvia nemorosa", "bed", 2), ("Salvia nemorosax", None, 1)]),
        ("slavia NEMOROSA", [("Salvia nemorosa", "bed", 2)]),
        ("  salvia nemorosaxy", [("Salvia nemorosax", None, 1), ("Salvia nemorosa", "bed", 2)]),
        ("Roza", [("Rosa", "100%_", 1)]),
        ("Erabel", []),
        ("Erabbel", []),
        ("Eräbblé", [("Érable", None, 1)]),
        ("Salvia memorosum", []),
        ("bed", []),
        ("kitchen", []),
        ("", []),
        ("'%_/", []),
        ("m" * 60_000, []),
    ],
)
def test_names_that_are_spelt_alike_are_found(
    store: PlantStore, typed: str, names: list[tuple[str, str | None, int]]
) -> None:
    plants = [("Salvia nemorosa", "kitchen"), ("Érable", None), ("Rosa", "100%_"), ("Salvia nemorosax", None)]
    for plant_id, (name, tag) in enumerate([*plants, ("Salvia nemorosa", "bed"), ("Érables", None)], start=1):
        store.add(plant(plant_id, name, tag), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        assert reader.near_names(typed, 2) == names


def test_the_newest_of_a_selection_are_the_first_of_all(store: PlantStore) -> None:
    """Also where so many of the newest plants are in it that the others are not sorted."""
    add_each(store, [(new_plant({"id": each, "name": "Fern"}), (FORM, COMMAND)[each % 2]) for each in range(1, 1300)])
    form = parse_search("from:form")
    with closing(store.reader()) as reader:
        found = [row.id for row in reader.selected(form)]
        assert found == [*range(1298, 0, -2)]
        for limit in (1, 512, 600, 700):
            assert [row.id for row in reader.selected(form, limit)] == found[:limit]
        assert [row.id for row in reader.selected(Selection(ids=[2, 3, 4]), 2)] == [4, 3]


def test_names_in_use(reader: PlantReader) -> None:
    names = ["Aloe vera", "aloe vera", "Fern", "\0", "Straße 100% _x_ \\ tree"]
    assert reader.names_in_use(names) == {"Aloe vera", "Straße 100% _x_ \\ tree"}
    assert reader.names_in_use([]) == set()
