"""What was changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def changed_since(connection: sqlite3.Connection, number: int, limit: int) -> list[int]:
    """Return the ids of at most `limit` plants that changes after `number` have touched. Raises sqlite3.Error."""
    sql = "SELECT DISTINCT plant_id FROM before_image WHERE change > ? LIMIT ?"
    return [plant_id for (plant_id,) in connection.execute(sql, (number, limit)).fetchall()]
