"""The next id of a server. Raises psycopg.Error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from plantdesk.store.postgres.connections import execute
from plantdesk.store.postgres.schema import LAST_ID
from plantdesk.store.sql import id_before_new

if TYPE_CHECKING:
    from plantdesk.store.postgres.connections import Connection


def last_id(connection: Connection, count: int = 1, *others: str) -> int:
    """Return the id behind which `count` new ones follow, as `id_before_new` does."""
    return id_before_new(partial(execute, connection), f"SELECT {LAST_ID} FROM state", count, others)
