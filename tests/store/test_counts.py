"""Counts beside SQL's own GROUP BY, after changes of few and of most plants."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plantdesk.records import COMMAND
from plantdesk.store import Counts, DeleteAll, Selection, SetTag, Store
from plantdesk.store.sqlite.counts import count_plants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECONDS = 20
_PLANTS = 3000
_FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :plants)
    INSERT INTO plant (id, name, tag, seq, added_at, source_id)
    SELECT i, 'Plant', CASE WHEN i % 5 THEN 'room ' || (i % 7) END, i, i, 1 + i % :sources FROM n"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "plants.db"
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
    database: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_store: int
) -> None:
    monkeypatch.setattr("plantdesk.store.sqlite.counts._SMALL_STORE", small_store)
    fill(database)
    with closing(Store(tmp_path / "plants.db")) as store:
        counts = count_plants(database, None)
        for plants in (Selection(ids=range(10, 40)), Selection(ids=range(2000)), Selection()):
            store.apply([SetTag(plants, "room 1")], COMMAND).result(SECONDS)
            counts = count_plants(database, counts)
            assert numbers(counts) == by_sql(database)
            store.apply([DeleteAll(plants)], COMMAND).result(SECONDS)
            counts = count_plants(database, counts)
            assert numbers(counts) == by_sql(database)
            for _ in range(2):
                store.undo(None, COMMAND).result(SECONDS)
                counts = count_plants(database, counts)
                assert numbers(counts) == by_sql(database)


@pytest.mark.parametrize("sources", [2, 35])
def test_sources_are_counted_exactly_however_many_there_are(database: sqlite3.Connection, sources: int) -> None:
    fill(database, sources)
    assert numbers(count_plants(database, None)) == by_sql(database)


def test_plants_of_a_source_that_is_missing_are_counted(database: sqlite3.Connection) -> None:
    fill(database)
    database.execute("UPDATE plant SET source_id = 99 WHERE id < 10")
    assert numbers(count_plants(database, None)) == by_sql(database)


def test_tags_that_read_the_same_are_counted_together(tmp_path: Path, database: sqlite3.Connection) -> None:
    fill(database)
    database.execute("UPDATE plant SET tag = CAST(x'FF' AS TEXT) WHERE id < 10")
    database.execute("UPDATE plant SET tag = CAST(x'FE' AS TEXT) WHERE id BETWEEN 10 AND 14")
    with closing(Store(tmp_path / "plants.db")) as store, closing(store.reader()) as reader:
        assert reader.counts().tags["\ufffd"] == 14
        assert reader.counts().total == _PLANTS
