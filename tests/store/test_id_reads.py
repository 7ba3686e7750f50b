"""Reading many ids in an order: the same as a plain SELECT gives, in chunks."""

from __future__ import annotations

from contextlib import closing
from itertools import chain, repeat
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, insert
from sqlalchemy.pool import NullPool
from sqlmodel import col, select

from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.views import Order
from plantdesk.store.sqlite.engines import driver_connection
from plantdesk.store.sqlite.row_reads import all_ids, has_pages, pages
from plantdesk.store.tables import PlantTable
from tests.support.cases import cases

if TYPE_CHECKING:
    from sqlalchemy import Connection

ids = st.sets(st.integers(-20, 20) | st.sampled_from([SMALLEST_ID, SMALLEST_ID + 1, LARGEST_ID - 1, LARGEST_ID]))


def connection_with(listed: list[int]) -> Connection:
    connection = create_engine("sqlite://", poolclass=NullPool).connect()
    PlantTable.__table__.create(connection)  # type: ignore[attr-defined]
    rows = [{"id": each, "name": "Aloe", "seq": seq, "added_at": 0, "source_id": 1} for seq, each in enumerate(listed)]
    if rows:
        connection.execute(insert(PlantTable), rows)
    return connection


@cases(100)
@given(ids=ids.map(list), size=st.integers(1, 7))
def test_chunks_hold_what_one_statement_selects(ids: list[int], size: int) -> None:
    columns = {Order.ADDED: col(PlantTable.seq), Order.ID: col(PlantTable.id)}
    with closing(connection_with(ids)) as connection:
        for order, column in columns.items():
            assert has_pages(order)
            for descending in (False, True):
                statement = select(PlantTable.id).order_by(column.desc() if descending else column.asc())
                expected = list(connection.scalars(statement))
                paged = list(pages(driver_connection(connection), order, repeat(size), descending=descending))
                joined = list(all_ids(connection, statement, repeat(size)))
                assert [*chain(*paged)] == [*chain(*joined)] == expected
                assert all(paged)
                assert all(joined)
                assert max(map(len, paged), default=0) <= size
