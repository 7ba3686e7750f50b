"""The history: reading its entries, and removing before-images that are too old or take too much space."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreDamagedError
from plantdesk.domain.folding import searched
from plantdesk.domain.history import Change, HistoryEntry, PlantChange
from plantdesk.store.history import SELECT, change_of, contains, read_change, undos
from plantdesk.store.sqlite.row_reads import MAX_NUMBER, row_of

if TYPE_CHECKING:
    import sqlite3

    from plantdesk.domain.records import Source

#: Milliseconds for which before-images are stored.
_MAX_AGE = 90 * 86_400_000
#: Newest changes that stay whatever their age: a clock that was wrong once must not remove them all.
_MIN_CHANGES = 20
#: Bytes of before-images, or a fraction of the store's file if that is more.
_MAX_SIZE = 100_000_000
_MAX_FRACTION = 0.1
#: Before-images that one step of the removal deletes, some milliseconds of work.
_STEP = 10_000

_ENTRIES = f"""{SELECT} WHERE undoes IS NULL AND (:before IS NULL OR number < :before)
               AND (:source IS NULL OR source_id = :source) ORDER BY number DESC"""
_NAMED = """SELECT DISTINCT change FROM before_image WHERE instr(searched_name, :text) > 0
            UNION SELECT DISTINCT x.change FROM before_image AS x JOIN plant ON plant.id = x.plant_id
            WHERE x.seq IS NULL AND instr(plant.searched_name, :text) > 0"""
_FIRST = """SELECT x.plant_id, coalesce(x.name, plant.name), CASE WHEN x.name IS NULL THEN plant.tag ELSE x.tag END
            FROM (SELECT plant_id, name, tag FROM before_image WHERE change = ? ORDER BY plant_id LIMIT 1) AS x
            LEFT JOIN plant ON plant.id = x.plant_id WHERE coalesce(x.name, plant.name) IS NOT NULL"""


#: The change before, -1 where the plant was not there, and the plant.
_IMAGE_OF = """SELECT CASE WHEN seq IS NULL THEN -1 ELSE plant_change END, plant_id, name, tag, added_at, source_id,
                      coalesce(kind, ''), coalesce(label, ''),
                      CASE WHEN plant_change > 0 THEN plant_change ELSE -seq END, note
               FROM before_image LEFT JOIN source ON source.id = source_id WHERE change = ? AND plant_id = ?"""


def history_entries(
    connection: sqlite3.Connection,
    limit: int,
    before: int | None,
    text: str,
    source: Source | str | None,
    shown: Callable[[Change], str],
) -> list[HistoryEntry]:
    """Return at most `limit` changes that match, newest first, each with its latest undo. Raises sqlite3.Error."""
    first, last = undos(connection.execute)
    images = _changes_of_names(connection, searched(text)) if text else []
    with_plant = {first.get(number, number) for number in images}
    with closing(connection.execute(_ENTRIES, {"before": before, "source": getattr(source, "id", None)})) as rows:
        is_found = partial(contains, searched(text), shown)
        of_desk = (each for each in map(change_of, rows) if not isinstance(source, str) or each.desk == source)
        changes = list(islice((each for each in of_desk if each.number in with_plant or is_found(each)), limit))
    return [_entry(connection, change, last.get(change.number)) for change in changes]


def _changes_of_names(connection: sqlite3.Connection, text: str) -> list[int]:
    """Return the changes of plants whose name contained `text`, or contains it where the change added the plant."""
    return [number for (number,) in connection.execute(_NAMED, {"text": text}).fetchall()]


def plant_history(connection: sqlite3.Connection, plant_id: int, limit: int) -> list[PlantChange]:
    """Return the latest changes of a plant. Each before-image names the change before it. Raises sqlite3.Error."""
    found: list[PlantChange] = []
    row = connection.execute("SELECT change FROM plant WHERE id = ?", (plant_id,)).fetchone()
    while row is not None and row[0] > 0 and len(found) < limit:
        number = row[0]
        change = connection.execute(f"{SELECT} WHERE number = ?", (number,)).fetchone()
        image = connection.execute(_IMAGE_OF, (number, plant_id)).fetchone()
        if change is None or image is None or image[0] >= number:  # pruned, or written by another program
            break
        found.append(PlantChange(change_of(change), row_of(image[1:]) if image[0] >= 0 else None))
        row = image[:1]
    return found


def last_number(connection: sqlite3.Connection) -> int:
    """Return the largest number of a change, 0 where there is none. Raises StoreDamagedError and sqlite3.Error."""
    sql = """SELECT max(0, (SELECT coalesce(max(number), 0) FROM change),
                           (SELECT coalesce(max(change), 0) FROM before_image))"""
    (number,) = connection.execute(sql).fetchone()
    if number > MAX_NUMBER:
        raise StoreDamagedError
    return int(number)


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


def is_pruned_since(connection: sqlite3.Connection, number: int) -> bool:
    """Whether before-images of changes after this one were removed. Raises sqlite3.Error."""
    sql = "SELECT EXISTS (SELECT 1 FROM change WHERE number > ? AND size IS NULL)"
    (is_pruned,) = connection.execute(sql, (number,)).fetchone()
    return bool(is_pruned)


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


def _entry(connection: sqlite3.Connection, change: Change, last: int | None) -> HistoryEntry:
    first = connection.execute(_FIRST, (change.number,)).fetchone()
    return HistoryEntry(change, change if last is None else read_change(connection.execute, last), first)
