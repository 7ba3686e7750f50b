"""Reads many ids in an order.

SQLite joins them in one text: a step of the statement for each of a million ids takes a quarter of a second more, and
releases and takes the interpreter's lock as often.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING

from sqlalchemy import func
from sqlalchemy import select as sql_select

from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.views import Order

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection
    from sqlmodel.sql.expression import SelectOfScalar

#: The columns that SQLite has an index of.
_KEYS = {Order.ADDED: "seq", Order.ID: "id"}
#: group_concat keeps the order of the rows that it reads.
_PAGE = """SELECT group_concat(id), {last}({key}) FROM (
               SELECT id, {key} FROM plant WHERE {key} {sign} ? ORDER BY {key} {direction} LIMIT ?)"""
#: Characters of an id and a comma, to divide a long text.
_CHARACTERS = 8


def has_pages(order: Order) -> bool:
    """Whether the plants can be read by pages in an order."""
    return order in _KEYS


def pages(
    connection: sqlite3.Connection, order: Order, sizes: Iterator[int], *, descending: bool
) -> Iterator[array[int]]:
    """Yield the ids of all plants in an order that `has_pages`, in pages of these sizes. Raises sqlite3.Error."""
    last, sign, direction = ("min", "<=", "DESC") if descending else ("max", ">=", "ASC")
    sql = _PAGE.format(key=_KEYS[order], last=last, sign=sign, direction=direction)
    bound = LARGEST_ID if descending else SMALLEST_ID
    while SMALLEST_ID <= bound <= LARGEST_ID:
        ids, end = connection.execute(sql, (bound, next(sizes))).fetchone()
        if ids is None:
            break
        yield _array(ids)
        bound = end - 1 if descending else end + 1


def all_ids(connection: Connection, statement: SelectOfScalar[int], sizes: Iterator[int]) -> Iterator[array[int]]:
    """Yield the ids that a statement selects, in chunks of about these sizes. Raises sqlite3.Error."""
    found = statement.subquery()
    ids = connection.scalar(sql_select(func.group_concat(found.c.id))) or ""
    start = 0
    while start < len(ids):
        end = ids.find(",", start + _CHARACTERS * next(sizes))
        end = len(ids) if end < 0 else end
        yield _array(ids[start:end])
        start = end + 1


def gathered(parts: Iterable[array[int]], sizes: Iterator[int]) -> Iterator[array[int]]:
    """Yield ids in chunks of at least these sizes, the last one excepted."""
    chunk, size = array("q"), next(sizes)
    for part in parts:
        chunk += part
        if len(chunk) >= size:
            yield chunk
            chunk, size = array("q"), next(sizes)
    if chunk:
        yield chunk


def _array(ids: str) -> array[int]:
    return array("q", json.loads(f"[{ids}]"))
