"""Reads the history, and removes what is outdated, a step at a time: before-images as in SQLite, and old commits' keys.

The functions raise psycopg.Error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from plantdesk.domain.folding import searched
from plantdesk.domain.history import Change, HistoryEntry, PlantChange
from plantdesk.store.history import DESK, SELECT, VERSION_BEFORE, change_of, contains, undos
from plantdesk.store.history import history_summary as changes_summary
from plantdesk.store.postgres.connections import LOCK, NOW, execute, shared, storable
from plantdesk.store.postgres.rows import row_of

if TYPE_CHECKING:
    from plantdesk.domain.protocols import HistorySummary
    from plantdesk.domain.records import Source
    from plantdesk.store.postgres.connections import Connection

_ENTRIES = f"""{SELECT} WHERE undoes IS NULL AND (%(before)s::bigint IS NULL OR number < %(before)s)
               AND (%(source)s::bigint IS NULL OR source_id = %(source)s) ORDER BY number DESC"""
_FIRST = """SELECT DISTINCT ON (x.change) x.change, x.plant_id, coalesce(x.name, plant.name),
                   CASE WHEN x.name IS NULL THEN plant.tag ELSE x.tag END
            FROM before_image AS x LEFT JOIN plant ON plant.id = x.plant_id
            WHERE x.change = ANY(%s::bigint[]) ORDER BY x.change, x.plant_id"""
_NAMED = """SELECT DISTINCT change FROM before_image WHERE strpos(searched_name, %(text)s) > 0
            UNION SELECT DISTINCT x.change FROM before_image AS x JOIN plant ON plant.id = x.plant_id
            WHERE x.seq IS NULL AND strpos(plant.searched_name, %(text)s) > 0"""
#: The changes of a plant, newest first: each before-image names the change before it.
_PLANT_HISTORY = f"""
    WITH RECURSIVE step (change, plant_change, nth) AS (
        SELECT x.change, x.plant_change, 1 FROM plant JOIN before_image AS x
            ON x.plant_id = plant.id AND x.change = plant.change WHERE plant.id = %(id)s
        UNION ALL
        SELECT x.change, x.plant_change, nth + 1 FROM step JOIN before_image AS x
            ON x.plant_id = %(id)s AND x.change = step.plant_change WHERE nth < %(limit)s AND x.change < step.change
    )
    SELECT change.*, x.plant_id, x.name, x.tag, x.added_at, x.source_id, source.kind, source.label,
           {VERSION_BEFORE}, x.note
    FROM step JOIN ({SELECT}) AS change ON change.number = step.change
    JOIN before_image AS x ON x.change = step.change AND x.plant_id = %(id)s
    LEFT JOIN source ON source.id = x.source_id ORDER BY nth LIMIT %(limit)s"""
_DESKS = """SELECT DISTINCT parameters::json ->> %(desk)s FROM change
            WHERE undoes IS NULL AND parameters::json ->> %(desk)s <> '' ORDER BY 1"""
_WIDTH = 11


def history_entries(
    connection: Connection,
    limit: int,
    before: int | None,
    text: str,
    source: Source | str | None,
    shown: Callable[[Change], str],
) -> list[HistoryEntry]:
    """Return at most `limit` changes that match, newest first, each with its latest undo."""
    first, last = undos(shared(connection))
    wanted = searched(text)
    named = execute(connection, _NAMED, {"text": wanted}) if text and storable(wanted) else ()
    with_plant = {first.get(number, number) for (number,) in named}
    rows = execute(connection, _ENTRIES, {"before": before, "source": getattr(source, "id", None)})
    is_found = partial(contains, wanted, shown)
    of_desk = (each for each in map(change_of, rows) if not isinstance(source, str) or each.desk == source)
    changes = list(islice((each for each in of_desk if each.number in with_plant or is_found(each)), limit))
    plants = {row[0]: row[1:] for row in execute(connection, _FIRST, ([each.number for each in changes],))}
    latest = _by_number(connection, [last[each.number] for each in changes if each.number in last])
    return [
        HistoryEntry(each, latest.get(last.get(each.number, 0), each), _known(plants.get(each.number)))
        for each in changes
    ]


def history_summary(connection: Connection) -> HistorySummary:
    """Return a summary of all changes but undos and redos, with the desks."""
    rows = execute(connection, _DESKS, {"desk": DESK}).fetchall()
    return changes_summary(shared(connection))._replace(desks=tuple(desk for (desk,) in rows))


def _known(plant: Sequence[Any] | None) -> tuple[int, str, str | None] | None:
    return None if plant is None or plant[1] is None else (plant[0], plant[1], plant[2])


def _by_number(connection: Connection, numbers: list[int]) -> dict[int, Change]:
    rows = execute(connection, f"{SELECT} WHERE number = ANY(%s::bigint[])", (numbers,)) if numbers else ()
    return {row[0]: change_of(row) for row in rows}


def plant_history(connection: Connection, plant_id: int, limit: int) -> list[PlantChange]:
    """Return the latest changes of a plant, as far as they are stored."""
    rows = execute(connection, _PLANT_HISTORY, {"id": plant_id, "limit": limit})
    return [
        PlantChange(change_of(row[:_WIDTH]), row_of(row[_WIDTH:]) if row[_WIDTH + 1] is not None else None)
        for row in rows
    ]


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
