"""The indexes of searches and sorts: whatever state they are in, a view is the same as without them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.errors import IdTakenError, NothingToUndoError, UndoConflictError
from plantdesk.domain.import_batches import ImportRow, OnConflict, batch_of
from plantdesk.domain.records import COMMAND, FORM, Changes
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import NewPlant, new_plant
from plantdesk.domain.views import Order, View
from plantdesk.store.sqlite import queries, text_index, view_index
from plantdesk.store.sqlite.queries import Reader
from plantdesk.store.sqlite.store import Store
from plantdesk.store.sqlite.view_index import MAX_CHANGED, MIN_PLANTS, ViewIndex
from tests.support.adding import add_each
from tests.support.cases import cases
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path


WORDS = (
    "Aloe",
    "aloe",
    "Érable",
    "STRASSE",
    "straße",
    "4×4",
    "x",
    "“Genovese”",
    "'gen",
    "nul\0l",
    "12",
    "1234",
    "🌱🌱🌱",
    "_%",
)
#: Searches without trigrams: one or two letters.
LETTERS = (
    *("a", "L", "é", "ß", "ſ", "×", "”", "1", "0", "-", "%", "_", "\\", "🌱"),
    *("lo", "ra", "ss", "12", "-1", "00", "🌱🌱", "zz"),
    *("a l", '"e"', '"1"', '" "', "-a", "a tag:none"),
)
SEARCHES = (
    *WORDS,
    "loe",
    "erable",
    "4x4",
    '"genovese',
    "123",
    "-12",
    "-123",
    "012",
    '"aloe 12"',
    "-aloe",
    "tag:aloe",
    "tag:none",
    "tag:strasse",
    "strasse aloe",
    "rab abl",
    "no hit at all",
    "id:1-90",
    "-tag:erable 123",
    "\N{COMBINING ACUTE ACCENT}",
    "🌱🌱🌱",
    *LETTERS,
)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
ids = st.integers(-2000, 2000) | st.sampled_from([0, 123, 1234, 12345, -123, -1234, 123456789012, 2**63 - 1, -(2**63)])


#: Misspelt names; the index narrows down those of at least six letters.
NEAR = ("Alo", "Aleo", "Fern 1x", "monstra", "Aloe vera variegatta", "Érable d'aponn")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "plants.db")
    yield store
    store.close()


def plant(plant_id: int, name: str = "Aloe", tag: str | None = None) -> NewPlant:
    return new_plant({"id": plant_id, "name": name} | ({} if tag is None else {"tag": tag}))


def view_ids(reader: Reader, view: View) -> list[int]:
    return [plant_id for chunk in reader.ids(view) for plant_id in chunk]


def all_views() -> Iterator[View]:
    for text in SEARCHES:
        yield View(parse_search(text))
        if text in LETTERS:
            yield View(parse_search(text), descending=False)
    yield from sorted_views("aloe")
    yield from sorted_views()


def sorted_views(text: str = "") -> Iterator[View]:
    for order in Order:
        yield from (View(parse_search(text), order, descending) for descending in (False, True))


def assert_same_as_without(store: Store, index: ViewIndex, views: Iterable[View] | None = None) -> None:
    with closing(Reader(store.file, index)) as reader, closing(Reader(store.file)) as plain:
        for view in views or all_views():
            assert view_ids(reader, view) == view_ids(plain, view), view
            assert reader.count_selected(view.plants) == plain.count_selected(view.plants)
        for name in NEAR:
            assert reader.near_names(name, 9) == plain.near_names(name, 9)


Build = Callable[[Store], ViewIndex]


def built(store: Store) -> ViewIndex:
    """Return an index, which is to be closed."""
    index = ViewIndex(store.file, min_plants=0)
    index.build()
    assert index.indexed is not None
    return index


@pytest.fixture
def build() -> Iterator[Build]:
    """Build an index, and close it after the test."""
    with ExitStack() as stack:
        yield lambda store: stack.enter_context(closing(built(store)))


plants = st.builds(plant, ids, texts, st.none() | texts)
changes = st.one_of(
    plants,
    st.lists(plants, min_size=1, max_size=8),  # an import
    st.builds(SetTag, texts.map(parse_search), st.none() | texts),
    st.builds(DeleteAll, st.lists(ids, max_size=5).map(lambda listed: Selection(ids=listed))),
    st.builds(DeleteAll, texts.map(parse_search)),
    st.sampled_from(["undo", "redo"]),
)


def import_plants(store: Store, plants: Iterable[NewPlant]) -> None:
    rows = [ImportRow(1, line, each.id, each.name, each.tag, None) for line, each in enumerate(plants, 2)]
    with closing(store.new_import()) as new:
        new.add(batch_of(1, rows))
        new.compare(OnConflict.REPLACE, ("id", "name", "tag"))
        new.apply("plants.csv")


def make(store: Store, change: NewPlant | list[NewPlant] | SetTag | DeleteAll | str) -> None:
    with suppress(IdTakenError, NothingToUndoError, UndoConflictError):
        if isinstance(change, NewPlant):
            store.add(change, FORM).result(SECONDS)
        elif isinstance(change, (SetTag, DeleteAll)):
            store.apply([change], COMMAND).result(SECONDS)
        elif isinstance(change, list):
            import_plants(store, {each.id: each for each in change}.values())
        elif change == "undo":
            store.undo(None, COMMAND).result(SECONDS)
        else:
            store.redo(COMMAND).result(SECONDS)


@cases(40)
@given(
    before=st.lists(plants, max_size=30),
    after=st.lists(changes, max_size=8),
    part=st.integers(0, 7),
    slots=st.sampled_from([3, 4096]),
    completes=st.booleans(),
)
def test_views_are_the_same_while_the_index_lags_behind(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[NewPlant],
    after: list[NewPlant | list[NewPlant] | SetTag | DeleteAll | str],
    part: int,
    slots: int,
    *,
    completes: bool,
) -> None:
    folder = tmp_path_factory.mktemp("store")
    with closing(Store(folder / "plants.db")) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_index, "_SLOTS", slots)
        patch.setattr(text_index, "_MAX_LENGTH", 15)
        for each in before:
            make(store, each)
        with closing(built(store)) as index:
            for at, change in enumerate(after):
                make(store, change)
                if completes and at == len(after) // 2:
                    with pytest.MonkeyPatch.context() as inner:
                        inner.setattr(view_index, "MAX_CHANGED", 6)
                        index.build()
            assert_same_as_without(store, index, [*all_views()][part::8])
            patch.setattr(queries, "_FIRST_CHUNK", 3)
            patch.setattr(queries, "_CHUNK", 2)
            patch.setattr(queries, "_LARGE_CHUNK", 5)
            assert_same_as_without(store, index, [*sorted_views(), *sorted_views("a")])
            assert index.indexed is not None


def test_sources_are_those_of_the_counts_that_are_kept(store: Store, build: Build) -> None:
    add_each(store, [(plant(number, "Aloe", None), COMMAND) for number in range(3)])
    index = build(store)
    with closing(Reader(store.file, index)) as reader:
        assert reader.two_sources() == [COMMAND.id]
        store.add(plant(7, "Aloe", None), FORM).result(SECONDS)
        assert set(reader.two_sources()) == {COMMAND.id, FORM.id}
        store.apply([DeleteAll(Selection(ids=[0, 1, 2]))], FORM).result(SECONDS)
        assert reader.two_sources() == [FORM.id]


@pytest.mark.parametrize("first", ["aloe", "a"])
def test_a_damaged_index_is_dropped(store: Store, build: Build, first: str) -> None:
    add_each(store, [(plant(number, f"Aloe {number}", "kitchen"), FORM) for number in range(500)])
    index = build(store)
    assert index.indexed is not None
    for file in index.indexed.texts.parent.iterdir():
        content = bytearray(file.read_bytes())
        content[4096:] = bytes(reversed(content[4096:]))
        file.write_bytes(content)
    with closing(Reader(store.file, index)) as reader, closing(Reader(store.file)) as plain:
        for text in (first, "kitchen 12", "nothing"):
            view = View(parse_search(text))
            assert view_ids(reader, view) == view_ids(plain, view)
    assert index.indexed is None


@pytest.fixture
def paged(store: Store, build: Build, monkeypatch: pytest.MonkeyPatch) -> ViewIndex:
    """An index of 500 plants whose letters are in ten pages, which are read in as many chunks."""
    monkeypatch.setattr(text_index, "_SLOTS", 50)
    monkeypatch.setattr(queries, "_FIRST_CHUNK", 50)
    monkeypatch.setattr(queries, "_CHUNK", 50)
    monkeypatch.setattr(queries, "_LARGE_CHUNK", 50)
    add_each(store, [(plant(number, f"Aloe {number}", "kitchen"), FORM) for number in range(500)])
    return build(store)


@pytest.mark.parametrize("table", ["page SET ids", "letter SET marks"])
def test_letters_that_are_damaged_are_completed_without_them(store: Store, paged: ViewIndex, table: str) -> None:
    assert paged.indexed is not None
    with closing(sqlite3.connect(paged.indexed.texts)) as file, file:
        file.execute(f"UPDATE {table} = zeroblob(9) WHERE number = 5")
    with closing(Reader(store.file, paged)) as reader:
        assert view_ids(reader, View(parse_search("a"))) == list(reversed(range(500)))
    assert paged.indexed is None


def test_a_search_of_a_letter_can_be_interrupted(store: Store, paged: ViewIndex) -> None:
    with closing(Reader(store.file, paged)) as reader:
        found = reader.ids(View(parse_search("a")))
        next(found)
        reader.interrupt()
        with pytest.raises(InterruptedError):
            next(found)
        assert len(view_ids(reader, View(parse_search("a")))) == 500
    assert paged.indexed is not None


@pytest.mark.parametrize("text", ["a", "ki"])
def test_a_letter_is_searched_where_few_sequence_numbers_are_in_use(store: Store, build: Build, text: str) -> None:
    add_each(store, [(plant(number, f"Aloe {number}", "kitchen"), FORM) for number in range(500)])
    store.apply([DeleteAll(Selection(ids=list(range(480))))], COMMAND).result(SECONDS)
    index = build(store)
    assert index.indexed is not None
    assert index.indexed.letters is None
    assert_same_as_without(store, index, [View(parse_search(text))])


def test_a_letter_is_searched_where_many_texts_are_long(store: Store, build: Build) -> None:
    names = (f"{'long ' * 300}{number}" for number in range(1500))
    add_each(store, [(plant(number, name), FORM) for number, name in enumerate(names)])
    index = build(store)
    assert_same_as_without(store, index, map(View, map(parse_search, ("l", "1", "zz"))))


def test_letters_are_found_as_by_sql(store: Store, build: Build) -> None:
    add_each(store, [(plant(number, name), FORM) for number, name in enumerate(WORDS)])
    with closing(sqlite3.connect(store.path)) as other, other:  # PlantDesk would fold these texts
        other.execute("UPDATE plant SET name = 'x' || char(0) || 'w', tag = 'y' || char(0) || 'w' WHERE id = 0")
        other.execute("UPDATE plant SET name = 'É' WHERE id = 1")
    index = build(store)
    assert_same_as_without(store, index, map(View, map(parse_search, (*LETTERS, *"xywe'"))))


def test_an_order_that_is_cut_is_completed_without_it(store: Store, build: Build) -> None:
    add_each(store, [(plant(number, f"Aloe {number}"), FORM) for number in range(1000)])
    index = build(store)
    assert index.indexed is not None
    by_name = index.indexed.orders[Order.NAME]
    by_name.write_bytes(by_name.read_bytes()[:-8])
    view = View(Selection(), Order.NAME, descending=False)
    with closing(Reader(store.file, index)) as reader, closing(Reader(store.file)) as plain:
        assert view_ids(reader, view) == view_ids(plain, view)
    assert index.indexed is None


def test_a_plant_is_added_where_many_were_deleted(store: Store, build: Build) -> None:
    add_each(store, [(plant(number, f"Aloe {number:04}"), FORM) for number in range(1500)])
    index = build(store)
    store.apply([DeleteAll(Selection(ids=list(range(800, 1100))))], COMMAND).result(SECONDS)
    store.add(plant(2000, "Aloe 0950"), FORM).result(SECONDS)
    assert_same_as_without(store, index)
    assert index.indexed is not None


def test_a_missing_index_is_not_missed(store: Store, build: Build) -> None:
    add_each(store, [(plant(number, f"Aloe {number}", "kitchen"), FORM) for number in range(500)])
    index = build(store)
    assert index.indexed is not None
    for file in index.indexed.texts.parent.iterdir():
        if file.name != "lock":  # open, so that Windows does not remove it
            file.unlink()
    assert_same_as_without(store, index, [View(parse_search("a")), *all_views()])


def test_an_index_is_not_used_when_too_much_has_changed(store: Store, build: Build) -> None:
    add_each(store, [(plant(number), FORM) for number in range(100)])
    index = build(store)
    add_each(store, [(plant(-number, f"Late {number}"), FORM) for number in range(1, MAX_CHANGED + 50)])
    assert_same_as_without(store, index)
    indexed = index.indexed
    index.build()
    assert index.indexed is not indexed
    assert_same_as_without(store, index)


def test_plants_that_were_added_are_added_to_the_index(
    store: Store, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "_SLOTS", 50)
    monkeypatch.setattr(view_index, "MAX_CHANGED", 60)
    add_each(store, [(plant(number, f"Aloe {number}"), FORM) for number in range(120)])
    index = build(store)
    store.apply([SetTag(parse_search("aloe 11"), "late"), DeleteAll(Selection(ids=[7]))], COMMAND).result(SECONDS)
    add_each(store, [(plant(-number, f"Late {number}"), FORM) for number in range(1, 55)])
    assert_same_as_without(store, index)
    before = index.indexed
    monkeypatch.setattr(text_index, "write_letters", None)  # would mark all again
    index.build()
    assert index.indexed is not before
    assert_same_as_without(store, index)
    store.undo(None, COMMAND).result(SECONDS)
    assert_same_as_without(store, index)


def test_what_another_program_changes_is_found(store: Store, build: Build) -> None:
    add_each(store, [(plant(number, f"Aloe {number}"), FORM) for number in range(100)])
    index = build(store)
    received: SimpleQueue[Changes] = SimpleQueue()
    store.subscribe(index.changed)
    store.subscribe(received.put)
    with closing(sqlite3.connect(store.path)) as other, other:
        other.execute("UPDATE plant SET name = 'Monstera' WHERE id = 7")
    while not received.get(timeout=SECONDS).needs_reload:
        pass
    with closing(Reader(store.file, index)) as reader:
        assert view_ids(reader, View(parse_search("monstera"))) == [7]


def test_the_index_of_a_window_is_built_and_removed(store: Store) -> None:
    for start in range(0, MIN_PLANTS, 2000):
        add_each(store, [(plant(start + each), FORM) for each in range(2000)])
    index = ViewIndex(store.file)
    index.start()
    while (indexed := index.indexed) is None:
        time.sleep(0.01)
    assert indexed.texts.exists()
    index.close()
    assert not indexed.texts.parent.exists()
    assert index.indexed is None


def test_an_index_is_closed_while_it_is_built(store: Store) -> None:
    add_each(store, [(plant(number), FORM) for number in range(2000)])
    index = ViewIndex(store.file, min_plants=0)
    index.close()
    with pytest.raises(InterruptedError):
        index.build()
