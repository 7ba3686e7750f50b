"""What was changed since, and the removal of before-images that are too old or take too much space."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

#: Milliseconds for which before-images are stored.
_MAX_AGE = 90 * 86_400_000
#: Newest changes that stay whatever their age: a clock that was wrong once must not remove them all.
_MIN_CHANGES = 20
#: Bytes of before-images, or a fraction of the store's file if that is more.
_MAX_SIZE = 100_000_000
_MAX_FRACTION = 0.1
#: Before-images that one step of the removal deletes, some milliseconds of work.
_STEP = 10_000


def changed_since(connection: sqlite3.Connection, number: int, limit: int) -> list[int]:
    """Return the ids of at most `limit` plants that changes after `number` have touched. Raises sqlite3.Error."""
    sql = "SELECT DISTINCT plant_id FROM before_image WHERE change > ? LIMIT ?"
    return [plant_id for (plant_id,) in connection.execute(sql, (number, limit)).fetchall()]


def prune(connection: sqlite3.Connection, now: int) -> None:
    """Remove some outdated before-images. `now` is in milliseconds since 1970, UTC.

    The newest change can always be undone, however large it is. Raises sqlite3.Error.
    """
    outdated = _newest_outdated(connection, now)
    connection.execute("UPDATE change SET size = NULL WHERE number <= ? AND size IS NOT NULL", (outdated,))
    sql = """DELETE FROM before_image WHERE (change, plant_id) IN (
                 SELECT change, plant_id FROM before_image WHERE change <= ? LIMIT ?)"""
    connection.execute(sql, (_oldest_stored(connection) - 1, _STEP))


def is_prunable(connection: sqlite3.Connection, now: int) -> bool:
    """Whether `prune` has something to do. Reads only entries, so it takes little time. Raises sqlite3.Error."""
    (oldest_image,) = connection.execute("SELECT min(change) FROM before_image").fetchone()
    if oldest_image is None:
        return False
    oldest = _oldest_stored(connection)
    return int(oldest_image) < oldest or _newest_outdated(connection, now) >= oldest


def _oldest_stored(connection: sqlite3.Connection) -> int:
    """Return the number of the oldest change whose before-images are stored, a very large one where there is none."""
    sql = "SELECT coalesce(min(number), 1 << 62) FROM change WHERE size IS NOT NULL"
    (number,) = connection.execute(sql).fetchone()
    return int(number)


def _newest_outdated(connection: sqlite3.Connection, now: int) -> int:
    """Return the number up to which before-images are to be removed, 0 for none."""
    (pages,), (page_size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    allowed = max(_MAX_SIZE, pages * page_size * _MAX_FRACTION)
    sql = """SELECT coalesce(max(number), 0) FROM (
                 SELECT number, made_at, row_number() OVER newest AS place, total(size) OVER newest AS total FROM change
                 WHERE size IS NOT NULL WINDOW newest AS (ORDER BY number DESC))
             WHERE place > 1 AND (total > :allowed OR (made_at < :oldest AND place > :min))"""
    values = {"allowed": allowed, "oldest": now - _MAX_AGE, "min": _MIN_CHANGES}
    (number,) = connection.execute(sql, values).fetchone()
    return int(number)
