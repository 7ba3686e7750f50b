"""Reading many ids in an order: the same as a plain SELECT gives, in chunks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain, repeat

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.views import Order
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, apply_steps
from plantdesk.store.sqlite.row_reads import all_ids, has_pages, pages
from tests.support.cases import cases

ids = st.sets(st.integers(-20, 20) | st.sampled_from([SMALLEST_ID, SMALLEST_ID + 1, LARGEST_ID - 1, LARGEST_ID]))


def connection_with(listed: list[int]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    apply_steps(connection, 0, SCHEMA_VERSION)
    insert = "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id) VALUES (?, 'Aloe', 'aloe', ?, 0, 1)"
    connection.executemany(insert, [(each, seq) for seq, each in enumerate(listed, 1)])
    return connection


@cases(100)
@given(ids=ids.map(list), size=st.integers(1, 7))
def test_chunks_hold_what_one_statement_selects(ids: list[int], size: int) -> None:
    with closing(connection_with(ids)) as connection:
        for order in (Order.ADDED, Order.ID):
            assert has_pages(order)
            for descending in (False, True):
                key = {Order.ADDED: "seq", Order.ID: "id"}[order]
                statement = f"SELECT id FROM plant ORDER BY {key} {'DESC' if descending else 'ASC'}"
                expected = [plant_id for (plant_id,) in connection.execute(statement)]
                paged = list(pages(connection, order, repeat(size), descending=descending))
                joined = list(all_ids(connection, statement, {}, size))
                assert [*chain(*paged)] == [*chain(*joined)] == expected
                assert all(paged)
                assert all(joined)
                assert max(map(len, paged), default=0) <= size
