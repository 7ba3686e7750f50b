"""Parts of statements of every kind of store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plantdesk.domain.records import LARGEST_ID

#: The version of a plant: the last change that touched it, or its negative sequence number.
VERSION = "CASE WHEN plant.change > 0 THEN plant.change ELSE -plant.seq END"

#: Ids from here on, which only users give, do not count as the largest one: they leave no room for others.
NO_ROOM = 2**62


def id_before_new(execute: Callable[[str], Any], last_id: str, count: int, others: Iterable[str] = ()) -> int:
    """Return the id behind which `count` follow that no plant of the store has had, and none of the tables `others`.

    `last_id` is the query for the largest id of all changes. It is that or the present largest one, but where that
    leaves no room: there it is the one before the first gap.
    """
    tables = ("plant", *others)
    largest = (f"SELECT max(id) FROM {table} WHERE id < {NO_ROOM}" for table in tables)
    used = " UNION ALL ".join(["SELECT 0 AS id", last_id, *largest])
    (found,) = execute(f"SELECT max(id) FROM ({used}) AS used").fetchone()
    if found + count >= NO_ROOM:
        ids = (f"SELECT id FROM {table} WHERE id > 0" for table in tables)
        used = " UNION ".join(["SELECT 0 AS id", *ids, "SELECT plant_id FROM before_image WHERE plant_id > 0"])
        (found,) = execute(f"""SELECT min(id) FROM (
            SELECT id, coalesce(lead(id) OVER (ORDER BY id) - 1, {LARGEST_ID}) AS last FROM ({used}) AS used
        ) AS gap WHERE last - id >= {count}""").fetchone()
    return int(found)


def placeholders(count: int) -> str:
    """Return so many placeholders of values that are bound by their place."""
    return ", ".join("?" * count)
