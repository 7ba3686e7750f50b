"""Reads many ids in an order.

Ids are joined in one text, since a step of the statement for each of a million takes a quarter of a second more, and
releases the interpreter's lock as often.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.views import Order

if TYPE_CHECKING:
    import sqlite3


#: The columns that SQLite has an index of.
_KEYS = {Order.ADDED: "seq", Order.ID: "id"}
#: group_concat keeps the order of the rows that it reads.
_IDS_PAGE = """SELECT group_concat(id), {last}({key}) FROM (
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
    sql = _IDS_PAGE.format(key=_KEYS[order], last=last, sign=sign, direction=direction)
    bound = LARGEST_ID if descending else SMALLEST_ID
    while SMALLEST_ID <= bound <= LARGEST_ID:
        ids, end = connection.execute(sql, (bound, next(sizes))).fetchone()
        if ids is None:
            break
        yield _array(ids)
        bound = end - 1 if descending else end + 1


def all_ids(connection: sqlite3.Connection, sql: str, values: dict[str, Any], size: int) -> Iterator[array[int]]:
    """Yield the ids that a statement selects, in chunks of about this size. Raises sqlite3.Error."""
    (ids,) = connection.execute(  # a text would be copied once more to be decoded
        f"SELECT CAST(coalesce(group_concat(id), '') AS BLOB) FROM ({sql})", values
    ).fetchone()
    start = 0
    while start < len(ids):
        end = ids.find(b",", start + _CHARACTERS * size)
        end = len(ids) if end < 0 else end
        yield _array(ids[start:end].decode())
        start = end + 1


def _array(ids: str) -> array[int]:
    return array("q", json.loads(f"[{ids}]"))
