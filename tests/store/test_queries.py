"""Reading a file: in chunks, interrupted, and what another program has written to it."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.records import COMMAND, FORM, LARGEST_ID, SMALLEST_ID
from plantdesk.domain.search import parse_search
from plantdesk.domain.validation import new_plant
from plantdesk.domain.views import View
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, apply_steps
from plantdesk.store.sqlite.queries import all_ids
from tests.support.cases import cases
from tests.support.waiting import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.store.sqlite.store import Store


@pytest.mark.parametrize("text", ["", "x", "-y"])
def test_a_large_view_comes_in_chunks_of_which_the_first_is_small(store: Store, path: Path, text: str) -> None:
    store.add(new_plant({"id": 0, "name": "x"}), FORM).result(SECONDS)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(
            """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
               INSERT INTO plant (id, name, searched_name, seq, added_at, source_id)
               SELECT i, 'x', 'x', i + 1, 0, 1 FROM n"""
        )
    with closing(store.reader()) as reader:
        chunks = list(reader.ids(View(parse_search(text))))
    assert len(chunks[0]) < 1000
    assert [plant_id for chunk in chunks for plant_id in chunk] == list(range(60000, -1, -1))


def test_a_running_question_can_be_interrupted(store: Store) -> None:
    reader = store.reader()
    started = threading.Event()

    def go_on_for_ever() -> int:
        started.set()
        return 1

    reader._connection.create_function("going", 0, go_on_for_ever)  # noqa: SLF001  shows that the query runs

    def interrupt() -> None:
        started.wait(SECONDS)
        reader.interrupt()

    threading.Thread(target=interrupt).start()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + going() FROM n) SELECT count(*) FROM n"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        reader._connection.execute(endless).fetchall()  # noqa: SLF001
    assert reader.count() == 0
    reader.close()
    reader.close()


def test_two_sources_are_found_if_there_are_two(store: Store) -> None:
    with closing(store.reader()) as reader:
        assert reader.two_sources() == []
        for plant_id, source, expected in ((1, FORM, [FORM]), (2, FORM, [FORM]), (3, COMMAND, [FORM, COMMAND])):
            store.add(new_plant({"id": plant_id, "name": "Aloe"}), source).result(SECONDS)
            assert reader.two_sources() == [each.id for each in expected]


ids = st.sets(st.integers(-20, 20) | st.sampled_from([SMALLEST_ID, SMALLEST_ID + 1, LARGEST_ID - 1, LARGEST_ID]))


def connection_with(listed: list[int]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    apply_steps(connection, 0, SCHEMA_VERSION)
    insert = "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id) VALUES (?, 'Aloe', 'aloe', ?, 0, 1)"
    connection.executemany(insert, [(each, seq) for seq, each in enumerate(listed, 1)])
    return connection


@cases(100)
@given(ids=ids.map(list), size=st.integers(1, 7), order=st.sampled_from(["seq", "id", "seq DESC", "id DESC"]))
def test_chunks_hold_what_one_statement_selects(ids: list[int], size: int, order: str) -> None:
    statement = f"SELECT id FROM plant ORDER BY {order}"
    with closing(connection_with(ids)) as connection:
        chunks = [*all_ids(connection, statement, {}, size)]
        assert [*chain(*chunks)] == [plant_id for (plant_id,) in connection.execute(statement)]
        assert all(chunks)


@pytest.mark.parametrize(
    ("change", "sources", "tags", "today"),
    [
        ("source_id = 99 WHERE id < 3", {"other": 2, "form": 1}, {"hall": 2, "attic": 1}, 3),
        ("tag = CAST(CASE id WHEN 1 THEN x'FF' ELSE x'FE' END AS TEXT)", {"form": 3}, {"\ufffd": 3}, 3),
        ("added_at = added_at - 86400000 WHERE id = 1", {"form": 3}, {"hall": 2, "attic": 1}, 2),
    ],
    ids=["of a source that is missing", "with tags that read the same", "of yesterday"],
)
def test_counts_of_plants_that_another_program_has_changed(
    store: Store, change: str, sources: dict[str, int], tags: dict[str, int], today: int
) -> None:
    for plant_id, tag in ((1, "hall"), (2, "hall"), (3, "attic")):
        store.add(new_plant({"id": plant_id, "name": "Fern", "tag": tag}), FORM).result(SECONDS)
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute(f"UPDATE plant SET {change}")
    with closing(store.reader()) as reader:
        counts = reader.counts()
    found = {source.kind: count for source, count in counts.sources.items()}
    assert (found, counts.tags, counts.today, counts.total) == (sources, tags, today, 3)
