"""Imports: many rows as one change."""

import itertools
from collections.abc import Sequence
from contextlib import closing

import pytest

from plantdesk.domain.history import ChangeKind
from plantdesk.domain.imports import (
    ImportConflict,
    ImportConflictError,
    ImportCounts,
    ImportRow,
    OnConflict,
    RowPosition,
)
from plantdesk.domain.protocols import PlantImport, PlantStore
from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SourceKind
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.rows import FIRST_UNCOUNTED_ID
from tests.support.waiting import SECONDS

ALL = ("id", "name", "tag", "note")


def row(line: int, plant_id: int | None, name: str, tag: str | None = None, note: str | None = None) -> ImportRow:
    return ImportRow(1, line, plant_id, name, tag, note)


def stored(store: PlantStore) -> list[tuple[int, str, str | None, str | None]]:
    """All plants in insertion order."""
    with closing(store.reader()) as reader:
        return [(each.id, each.name, each.tag, each.note) for page in reader.pages(Selection()) for each in page]


def begun(store: PlantStore, *rows: ImportRow) -> PlantImport:
    plants = store.new_import()
    plants.add(rows)
    return plants


@pytest.fixture
def store_with_fern(store: PlantStore) -> PlantStore:
    store.add(new_plant({"id": 5, "name": "Fern", "tag": "hall"}), FORM).result(SECONDS)
    return store


def test_an_import_is_one_change_and_one_undo(store_with_fern: PlantStore) -> None:
    store = store_with_fern
    rows = [row(2, 9, "Röse", "", "water"), row(3, -4, "Ivy"), row(4, None, "New"), row(5, 5, "Fern", "hall")]
    with closing(begun(store, *rows)) as plants:
        assert plants.compare(OnConflict.REFUSE, ALL) == ImportCounts(3, 1, 0, 0)
        applied = plants.apply("garden.csv")
    fern = (5, "Fern", "hall", None)
    assert stored(store) == [fern, (9, "Röse", "", "water"), (-4, "Ivy", None, None), (10, "New", None, None)]
    change = applied.change
    assert change is not None
    assert (change.kind, change.source.kind, change.source.label) == (
        ChangeKind.IMPORT,
        SourceKind.IMPORT,
        "garden.csv",
    )
    assert str(change.title) == "Import 3 plants from “garden.csv”"
    assert applied.plants == 3
    with closing(store.reader()) as reader:
        assert reader.count_selected(parse_search("from:import/garden.csv")) == 3
        assert reader.count_selected(parse_search("rose")) == 1
    assert store.undo(None, COMMAND).result(SECONDS).skipped == 0
    assert stored(store) == [fern]


def test_each_value_arrives_where_others_have_none(store: PlantStore) -> None:
    texts = ["", None, "0", "Röse", "\x1f", None]
    rows = [row(2 + at, None, f"{at}", *pair) for at, pair in enumerate(itertools.product(texts, texts))]
    with closing(begun(store, row(1, 0, ""))) as plants:
        for at in range(0, len(rows), 7):
            plants.add(rows[at : at + 7])
        assert plants.compare(OnConflict.REFUSE, ALL).new == len(rows) + 1
        plants.apply("x")
    assert stored(store) == [(0, "", None, None), *((at, *each[3:]) for at, each in enumerate(rows, 1))]


def test_conflicts_have_the_lines_of_their_files(store_with_fern: PlantStore) -> None:
    def batch(file: int, lines: Sequence[int]) -> list[ImportRow]:
        return [ImportRow(file, line, 5, "Cactus", None, None) for line in lines]

    batches = [
        batch(1, range(2, 4)),
        batch(1, range(4, 6)),
        batch(1, (6, 9)),
        batch(1, range(10, 12)),
        batch(2, range(1, 3)),
        batch(2, (4, 4)),
        batch(2, (7, 9)),
    ]
    with closing(store_with_fern.new_import()) as plants:
        for each in batches:
            plants.add(each)
        plants.compare(OnConflict.REFUSE, ALL)
        found = [(conflict.row.file, conflict.row.line) for conflict in plants.conflicts()]
    assert found == [(row.file, row.line) for rows in batches for row in rows]


def test_conflicts_are_named_and_refuse_everything(store_with_fern: PlantStore) -> None:
    rows = (row(2, 1, "Ivy"), row(3, 5, "Cactus"), row(4, 1, "Ivy"), row(5, 1, "Moss"))
    with closing(begun(store_with_fern, *rows)) as plants:
        assert plants.compare(OnConflict.REFUSE, ALL) == ImportCounts(1, 1, 2, 1)
        assert list(plants.conflicts()) == [
            ImportConflict(rows[1], "Fern"),
            ImportConflict(rows[3], "Ivy", RowPosition(1, 2)),
        ]
        with pytest.raises(ImportConflictError, match="2 rows"):
            plants.apply("x")
    assert stored(store_with_fern) == [(5, "Fern", "hall", None)]


@pytest.mark.parametrize(
    ("on_conflict", "expected"),
    [
        (OnConflict.SKIP, [(5, "Fern", "hall", None), (1, "Ivy", None, None)]),
        (
            OnConflict.NEW_ID,
            [(5, "Fern", "hall", None), (6, "Cactus", None, None), (1, "Ivy", None, None), (7, "Moss", None, "n")],
        ),
        (OnConflict.REPLACE, [(5, "Cactus", None, None), (1, "Moss", None, "n")]),
    ],
)
def test_conflicts_are_handled_as_asked(
    store_with_fern: PlantStore, on_conflict: OnConflict, expected: list[tuple[int, str, str | None, str | None]]
) -> None:
    rows = (row(2, 5, "Cactus"), row(3, 1, "Ivy"), row(4, 1, "Moss", None, "n"))
    with closing(begun(store_with_fern, *rows)) as plants:
        assert plants.compare(on_conflict, ALL) == ImportCounts(1, 0, 2, 1)
        plants.apply("x")
    assert stored(store_with_fern) == expected
    store_with_fern.undo(None, COMMAND).result(SECONDS)
    assert stored(store_with_fern) == [(5, "Fern", "hall", None)]


def test_the_last_of_several_rows_replaces(store_with_fern: PlantStore) -> None:
    with closing(begun(store_with_fern, row(2, 5, "Cactus"), row(3, 5, "Fern", "hall"))) as plants:
        plants.compare(OnConflict.REPLACE, ALL)
        plants.apply("x")
    assert stored(store_with_fern) == [(5, "Fern", "hall", None)]


def test_fields_that_the_file_lacks_are_kept(store_with_fern: PlantStore) -> None:
    with closing(begun(store_with_fern, row(2, 5, "Färn"))) as plants:
        assert plants.compare(OnConflict.REPLACE, ("id", "name")).conflicting == 1
        plants.apply("x")
    assert stored(store_with_fern) == [(5, "Färn", "hall", None)]
    with closing(store_with_fern.reader()) as reader:
        assert reader.count_selected(parse_search("farn hall")) == 1


@pytest.mark.parametrize("taken", [[FIRST_UNCOUNTED_ID - 3], [FIRST_UNCOUNTED_ID - 3, 3, -8], [LARGEST_ID, 3]])
def test_ids_after_the_largest_are_the_first_free_ones_together(store: PlantStore, taken: list[int]) -> None:
    for plant_id in taken:
        store.add(new_plant({"id": plant_id, "name": "Old"}), FORM).result(SECONDS)
    with closing(begun(store, *(row(line, None, "New") for line in range(2, 5)))) as plants:
        plants.compare(OnConflict.REFUSE, ALL)
        plants.apply("x")
    ids = [plant_id for plant_id, name, *_ in stored(store) if name == "New"]
    assert ids == ([1, 2, 3] if 3 not in taken else [4, 5, 6])


def test_what_is_added_meanwhile_is_compared_again(store: PlantStore) -> None:
    with closing(begun(store, row(2, 1, "Ivy"), row(3, 2, "Moss"), row(4, None, "New"))) as plants:
        plants.compare(OnConflict.SKIP, ALL)
        store.add(new_plant({"id": 2, "name": "Cactus"}), COMMAND).result(SECONDS)
        store.add(new_plant({"id": 3, "name": "Palm"}), COMMAND).result(SECONDS)
        assert plants.apply("x").plants == 2
    assert [plant[:2] for plant in stored(store)] == [(2, "Cactus"), (3, "Palm"), (1, "Ivy"), (4, "New")]


def test_what_is_changed_meanwhile_is_compared_again(store_with_fern: PlantStore) -> None:
    with closing(begun(store_with_fern, row(2, 5, "Fern", "hall"), row(3, 6, "Ivy"))) as plants:
        assert plants.compare(OnConflict.REFUSE, ALL) == ImportCounts(1, 1, 0, 0)
        with closing(begun(store_with_fern, row(2, 5, "Cactus"))) as other:
            other.compare(OnConflict.REPLACE, ALL)
            other.apply("other")
        with pytest.raises(ImportConflictError):
            plants.apply("x")
    assert stored(store_with_fern) == [(5, "Cactus", None, None)]


def test_a_cancelled_import_leaves_nothing(store: PlantStore) -> None:
    with closing(begun(store, row(2, 1, "Rose"))) as plants:
        plants.compare(OnConflict.REFUSE, ALL)
        plants.cancel()
        for step in (lambda: plants.compare(OnConflict.REFUSE, ALL), lambda: plants.apply("a.csv")):
            with pytest.raises(InterruptedError):
                step()
    assert stored(store) == []
    store.add(new_plant({"id": 1, "name": "Ivy"}), FORM).result(SECONDS)
