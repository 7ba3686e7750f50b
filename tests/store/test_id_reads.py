"""Reading many ids in an order: the same as a plain SELECT gives, in chunks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, apply_steps
from plantdesk.store.sqlite.queries import all_ids
from tests.support.cases import cases

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
