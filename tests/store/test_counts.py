"""Counts beside SQL's own GROUP BY, after changes of few and of most plants."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.records import COMMAND, FORM, Changes
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant
from plantdesk.store.counts import CountedAt, count_plants
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.store import Store
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.views import Counts

_PLANTS = 3000
_FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :plants)
    INSERT INTO plant (id, name, searched_name, tag, seq, added_at, source_id)
    SELECT i, 'Plant', 'plant', CASE WHEN i % 5 THEN 'room ' || (i % 7) END, i, i, 1 + i % :sources FROM n"""


@pytest.fixture
def database(path: Path) -> Iterator[sqlite3.Connection]:
    Store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def fill(database: sqlite3.Connection, sources: int = 2) -> None:
    rows = ((i, f"s{i}") for i in range(1, 40))
    database.executemany("INSERT OR IGNORE INTO source (id, kind, label) VALUES (?, 'token', ?)", rows)
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
    monkeypatch.setattr("plantdesk.store.counts._SMALL_STORE", small_store)
    fill(database)
    counts = first = count_plants(runner(database), None, 0)

    def check() -> None:
        nonlocal counts
        counts = count_plants(runner(database), counts, 0)
        assert numbers(counts) == numbers(count_plants(runner(database), first, 0)) == by_sql(database)

    for plants in (Selection(ids=range(10, 40)), Selection(ids=range(2000)), Selection()):
        store.apply([SetTag(plants, "room 1")], COMMAND).result(SECONDS)
        check()
        store.apply([DeleteAll(plants)], COMMAND).result(SECONDS)
        check()
        for _ in range(2):
            store.undo(None, COMMAND).result(SECONDS)
            check()


def test_sources_are_counted_exactly_however_many_there_are(database: sqlite3.Connection) -> None:
    fill(database, sources=35)
    assert numbers(count_plants(runner(database), None, 0)) == by_sql(database)


def test_plants_of_a_source_that_is_missing_are_counted(database: sqlite3.Connection) -> None:
    fill(database)
    database.execute("UPDATE plant SET source_id = 99 WHERE id < 10")
    assert numbers(count_plants(runner(database), None, 0)) == by_sql(database)


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


def test_after_a_change_whose_before_images_are_removed_all_plants_are_counted(
    database: sqlite3.Connection, store: Store
) -> None:
    fill(database)
    before = count_plants(runner(database), None, 0)
    store.apply([SetTag(Selection(ids=[7]), "room 2")], COMMAND).result(SECONDS)
    database.execute("UPDATE change SET size = NULL")
    database.execute("DELETE FROM before_image")
    assert numbers(count_plants(runner(database), before, 0)) == by_sql(database)


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
