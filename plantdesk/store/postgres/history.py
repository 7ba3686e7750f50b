"""Removes what is outdated, a step at a time: before-images as in SQLite, and old commits' keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.store.postgres.connections import LOCK, NOW, execute

if TYPE_CHECKING:
    from plantdesk.store.postgres.connections import Connection

#: Milliseconds for which before-images and keys are stored.
_MAX_AGE, _KEY_AGE = 90 * 86_400_000, 30 * 86_400_000
#: Newest changes that stay whatever their age: a clock that was wrong once must not remove them all.
_MIN_CHANGES = 20
#: Bytes of before-images, or a fraction of the plants' size if that is more.
_MAX_SIZE = 100_000_000
_MAX_FRACTION = 0.1
#: Rows that one step removes: others wait for it.
_STEP = 10_000

_OUTDATED = f"""
    SELECT coalesce(max(number), 0) FROM (
        SELECT number, made_at, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM change
        WHERE size IS NOT NULL WINDOW newest AS (ORDER BY number DESC)) AS stored
    WHERE place > 1 AND (
        total > greatest(%(size)s, pg_total_relation_size('plantdesk.plant') * %(fraction)s)
        OR (made_at < {NOW} - %(age)s AND place > %(min)s))"""
#: The newest change can always be undone, however large it is.
_REMOVE = """
    DELETE FROM before_image WHERE (change, plant_id) IN (
        SELECT change, plant_id FROM before_image
        WHERE change < (SELECT coalesce(min(number), 0) FROM change WHERE size IS NOT NULL) LIMIT %(step)s)"""
_REMOVE_KEYS = f"""
    DELETE FROM commits WHERE key IN (
        SELECT key FROM commits WHERE made_at < {NOW} - %(key_age)s
            AND coalesce(position, 0) < (SELECT position FROM state) LIMIT %(step)s)"""


def prune(connection: Connection) -> bool:
    """Take a step in a transaction of its own; return whether there may be more to remove. Raises psycopg.Error."""
    values = {
        "size": _MAX_SIZE,
        "fraction": _MAX_FRACTION,
        "age": _MAX_AGE,
        "min": _MIN_CHANGES,
        "step": _STEP,
        "key_age": _KEY_AGE,
    }
    with connection.transaction():
        execute(connection, LOCK)
        (outdated,) = execute(connection, _OUTDATED, values).fetchone() or (0,)
        execute(connection, "UPDATE change SET size = NULL WHERE number <= %s AND size IS NOT NULL", (outdated,))
        removed = [execute(connection, sql, values).rowcount for sql in (_REMOVE, _REMOVE_KEYS)]
    return _STEP in removed
