"""Counts beside SQL's own GROUP BY, after changes of few and of most plants."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.edits import DeleteAll, Rewrite, SetTag
from plantdesk.domain.import_batches import ImportBatch, OnConflict
from plantdesk.domain.records import COMMAND, FORM, Changes
from plantdesk.domain.rewriting import Rule
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.sqlite.backups.jobs import back_up
from plantdesk.store.sqlite.backups.restoring import restore
from plantdesk.store.sqlite.counts import CountedAt, count_plants
from plantdesk.store.sqlite.store import Store
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.views import Counts

_PLANTS = 3000
_FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :plants)
    INSERT INTO plant (id, name, tag, seq, added_at, source_id)
    SELECT i, 'Plant', CASE WHEN i % 5 THEN 'room ' || (i % 7) END, i, i, 1 + i % :sources FROM n"""


@pytest.fixture
def database(path: Path) -> Iterator[sqlite3.Connection]:
    Store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def fill(database: sqlite3.Connection, sources: int = 2) -> None:
    database.executemany("INSERT OR IGNORE INTO source VALUES (?, 'token', ?)", ((i, f"s{i}") for i in range(1, 40)))
    database.execute(_FILL, {"plants": _PLANTS, "sources": sources})


def by_sql(database: sqlite3.Connection) -> tuple[dict[str | None, int], dict[int, int]]:
    tags = dict(database.execute("SELECT tag, count(*) FROM plant GROUP BY tag"))
    return tags, dict(database.execute("SELECT source_id, count(*) FROM plant GROUP BY source_id"))


def numbers(counts: Counts) -> tuple[dict[str | None, int], dict[int, int]]:
    return dict(counts.tags), {source.id: count for source, count in counts.sources.items()}


@pytest.mark.parametrize("small_store", [0, 1_000_000])
def test_changes_of_few_and_of_all_plants_are_counted_exactly(
    database: sqlite3.Connection, store: Store, monkeypatch: pytest.MonkeyPatch, small_store: int
) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.counts._SMALL_STORE", small_store)
    fill(database)
    counts = first = count_plants(database, None, 0)

    def check() -> None:
        nonlocal counts
        counts = count_plants(database, counts, 0)
        assert numbers(counts) == numbers(count_plants(database, first, 0)) == by_sql(database)

    for plants in (Selection(ids=range(10, 40)), Selection(ids=range(2000)), Selection()):
        store.apply([SetTag(plants, "room 1")], COMMAND).result(SECONDS)
        check()
        store.apply([DeleteAll(plants)], COMMAND).result(SECONDS)
        check()
        for _ in range(2):
            store.undo(None, COMMAND).result(SECONDS)
            check()


@pytest.mark.parametrize("sources", [2, 35])
def test_sources_are_counted_exactly_however_many_there_are(database: sqlite3.Connection, sources: int) -> None:
    fill(database, sources)
    assert numbers(count_plants(database, None, 0)) == by_sql(database)


def test_plants_of_a_source_that_is_missing_are_counted(database: sqlite3.Connection) -> None:
    fill(database)
    database.execute("UPDATE plant SET source_id = 99 WHERE id < 10")
    assert numbers(count_plants(database, None, 0)) == by_sql(database)


def test_tags_that_read_the_same_are_counted_together(database: sqlite3.Connection, store: Store) -> None:
    fill(database)
    database.execute("UPDATE plant SET tag = CAST(x'FF' AS TEXT) WHERE id < 10")
    database.execute("UPDATE plant SET tag = CAST(x'FE' AS TEXT) WHERE id BETWEEN 10 AND 14")
    with closing(store.reader()) as reader:
        before = reader.counts()
        assert before.tags["\ufffd"] == 14
        assert before.total == _PLANTS
        change_all(store)
        store.undo(None, COMMAND).result(SECONDS)
        assert reader.counts(before)[:3] == before[:3]


def test_a_change_of_all_plants_stores_the_counts_for_readers(
    database: sqlite3.Connection, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database)
    before = count_plants(database, None, 0)
    change_all(store)
    monkeypatch.setattr("plantdesk.store.sqlite.counts._all", None)  # it is not called any more
    assert numbers(count_plants(database, before, 0)) == by_sql(database)
    store.apply([SetTag(Selection(ids=range(10, 20)), "room 2")], COMMAND).result(SECONDS)
    assert numbers(count_plants(database, before, 0)) == by_sql(database)


def test_counts_before_a_rewriting_and_what_was_added_meanwhile_are_stored(
    database: sqlite3.Connection, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.counts._SMALL_STORE", 0)
    fill(database)
    for rule in (Rule(before="The "), Rule(sets_tag=True, tag="attic")):
        before = count_plants(database, None, 0)
        rewriting = store.apply([Rewrite(Selection(), rule)], COMMAND)
        while not rewriting.done():
            store.add_as_next(plant_fields({"name": "Fern", "tag": "bed"}), FORM).result(SECONDS)
        applied = rewriting.result(SECONDS)
        assert applied.change is not None
        assert database.execute("SELECT change FROM counted_at").fetchone() == (applied.change.number,)
        assert numbers(count_plants(database, before, 0)) == by_sql(database)


@pytest.mark.parametrize(
    ("known", "first", "on_conflict"),
    [
        (0, 1, OnConflict.REFUSE),
        (100, 101, OnConflict.SKIP),
        (_PLANTS, _PLANTS + 1, OnConflict.REPLACE),
        (100, 2, OnConflict.SKIP),
        (_PLANTS, 2, OnConflict.NEW_ID),
        (_PLANTS, 2, OnConflict.REPLACE),
    ],
)
def test_an_import_stores_the_counts_for_readers(
    database: sqlite3.Connection,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    known: int,
    first: int,
    on_conflict: OnConflict,
) -> None:
    fill(database)
    database.execute("DELETE FROM plant WHERE id > ?", (known,))
    before = count_plants(database, None, 0)
    ids, tags = range(first, first + _PLANTS), ["hall", None, "room 3"] * (_PLANTS // 3)
    with closing(store.new_import()) as plants_import:
        plants_import.add(ImportBatch(1, ids, ids, ["Fern"] * _PLANTS, tags, [None] * _PLANTS))
        plants_import.compare(on_conflict, ("id", "name", "tag", "note"))
        plants_import.apply("plants.csv")
    monkeypatch.setattr("plantdesk.store.sqlite.counts._all", None)
    counts = count_plants(database, before, 0)
    assert numbers(counts) == by_sql(database)
    assert counts.today == database.execute("SELECT count(*) FROM plant WHERE added_at > ?", (_PLANTS,)).fetchone()[0]


def test_a_restore_stores_the_counts_for_readers(
    path: Path, database: sqlite3.Connection, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database)
    backup = back_up(path)
    change_all(store)
    before = count_plants(database, None, 0)
    restore(path, backup.path)
    monkeypatch.setattr("plantdesk.store.sqlite.counts._all", None)
    assert numbers(count_plants(database, before, 0)) == by_sql(database)


def test_stored_counts_from_before_the_last_full_count_are_not_used(
    database: sqlite3.Connection, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.counts._SMALL_STORE", 0)
    fill(database)
    change_all(store)
    database.execute("DELETE FROM plant WHERE id > 100")  # by another program, so without an entry in the history
    before = count_plants(database, None, 0)
    for _ in range(50):
        store.add_as_next(plant_fields({"name": "Fern", "tag": "bed"}), COMMAND).result(SECONDS)
    assert numbers(count_plants(database, before, 0)) == by_sql(database)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM counted_at",
        "UPDATE counted_at SET change = change + 1000",
        "UPDATE counted_at SET seq = seq + 1000",
        "UPDATE change SET size = NULL",
    ],
)
def test_stored_counts_that_nothing_known_leads_on_from_are_not_used(
    database: sqlite3.Connection, store: Store, statement: str
) -> None:
    fill(database)
    before = count_plants(database, None, 0)
    change_all(store)
    store.apply([SetTag(Selection(ids=[7]), "room 2")], COMMAND).result(SECONDS)
    database.execute("UPDATE plant_count SET plants = plants + 1")
    assert numbers(count_plants(database, before, 0)) != by_sql(database)
    database.execute(statement)
    assert numbers(count_plants(database, before, 0)) == by_sql(database)


def test_counts_of_very_many_tags_are_not_stored(
    database: sqlite3.Connection, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database)
    change_all(store)
    assert database.execute("SELECT count(*) FROM plant_count").fetchone() != (0,)
    monkeypatch.setattr("plantdesk.store.sqlite.counts.MAX_TAGS", 5)
    before = count_plants(database, None, 0)
    store.undo(None, COMMAND).result(SECONDS)
    assert database.execute("SELECT count(*) FROM plant_count").fetchone() == (0,)
    assert numbers(count_plants(database, before, 0)) == by_sql(database)


def change_all(store: Store) -> None:
    store.apply([SetTag(Selection(), "room 1")], COMMAND).result(SECONDS)


def test_counts_of_today_begin_at_midnight(store: Store) -> None:
    store.add(new_plant({"id": 1, "name": "Fern"}), FORM).result(SECONDS)
    with closing(store.reader()) as reader:
        counts = reader.counts()
        position = counts.position
        assert isinstance(position, CountedAt)
        yesterday = range(position.day.start - 86_400_000, position.day.start)
        later = reader.counts(counts._replace(today=7, position=position._replace(day=yesterday)))
    assert later == counts


def test_counts_are_read_anew_after_another_program_has_written(store: Store) -> None:
    store.add(new_plant({"id": 1, "name": "Fern", "tag": "hall"}), FORM).result(SECONDS)
    noticed: SimpleQueue[Changes] = SimpleQueue()
    with closing(store.reader()) as reader:
        counts = reader.counts()
        store.subscribe(noticed.put)
        with closing(sqlite3.connect(store.path)) as database, database:
            database.execute("UPDATE plant SET tag = 'attic'")
        while not noticed.get(timeout=SECONDS).needs_reload:
            pass
        assert reader.counts(counts).tags == {"attic": 1}
