"""Columns of plants for statements of a server, and the next id. The functions raise psycopg.Error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from plantdesk.store.postgres.connections import execute
from plantdesk.store.postgres.schema import LAST_ID
from plantdesk.store.sql import VERSION, id_before_new

if TYPE_CHECKING:
    from plantdesk.store.postgres.connections import Connection

#: What `rows.row_of` needs, of the tables plant and source.
COLUMNS = (
    f"plant.id, plant.name, plant.tag, plant.added_at, plant.source_id, source.kind, source.label, {VERSION}, note"
)


def last_id(connection: Connection, count: int = 1, *others: str) -> int:
    """Return the id behind which `count` new ones follow, as `id_before_new` does."""
    return id_before_new(partial(execute, connection), f"SELECT {LAST_ID} FROM state", count, others)
