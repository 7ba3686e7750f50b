"""Reads the history. The functions raise psycopg.Error."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from plantdesk.domain.errors import NothingToUndoError, Text
from plantdesk.domain.folding import searched
from plantdesk.domain.history import Change, ChangeKind, HistoryEntry, PlantChange, texts_of
from plantdesk.domain.protocols import HistorySummary
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.postgres.connections import execute, storable
from plantdesk.store.postgres.rows import row_of
from plantdesk.store.postgres.schema import searched_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plantdesk.store.postgres.connections import Connection

_SELECT = """SELECT number, made_at, source_id, source.kind, label, change.kind, parameters, plants, undoes, undone,
                    size IS NOT NULL
             FROM change JOIN source ON source.id = source_id"""
_ENTRIES = f"""{_SELECT} WHERE undoes IS NULL AND (%(before)s::bigint IS NULL OR number < %(before)s)
               AND (%(source)s::bigint IS NULL OR source_id = %(source)s) ORDER BY number DESC"""
_FIRST = """SELECT DISTINCT ON (x.change) x.change, x.plant_id, coalesce(x.name, plant.name),
                   CASE WHEN x.name IS NULL THEN plant.tag ELSE x.tag END
            FROM before_image AS x LEFT JOIN plant ON plant.id = x.plant_id
            WHERE x.change = ANY(%s::bigint[]) ORDER BY x.change, x.plant_id"""
_SEARCHED = searched_sql("{folded}", "{name}", "''")
_NAME = f"strpos(split_part({_SEARCHED}, E'\\x1f', 1), %(text)s) > 0"
_NAMED = f"""SELECT DISTINCT change FROM before_image AS p
             WHERE name IS NOT NULL AND {_NAME.format(folded="p.folded", name="p.name")}
             UNION SELECT DISTINCT x.change FROM before_image AS x JOIN plant AS p ON p.id = x.plant_id
             WHERE x.seq IS NULL AND {_NAME.format(folded="p.folded", name="p.name")}"""
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
           CASE WHEN x.plant_change > 0 THEN x.plant_change ELSE -x.seq END, x.note
    FROM step JOIN ({_SELECT}) AS change ON change.number = step.change
    JOIN before_image AS x ON x.change = step.change AND x.plant_id = %(id)s
    LEFT JOIN source ON source.id = x.source_id ORDER BY nth LIMIT %(limit)s"""
_WIDTH = 11


def read_change(connection: Connection, number: int) -> Change:
    """Return the change of this number. Raises NothingToUndoError where there is none."""
    row = execute(connection, f"{_SELECT} WHERE number = %s", (number,)).fetchone()
    if row is None:
        raise NothingToUndoError(
            Text("There is no change {number}. `plantdesk history` lists the changes."), number=number
        )
    return _change(row)


def newest_changes(connection: Connection, limit: int) -> list[Change]:
    """Return at most `limit` changes, newest first."""
    return [_change(row) for row in execute(connection, f"{_SELECT} ORDER BY number DESC LIMIT %s", (limit,))]


def history_entries(
    connection: Connection,
    limit: int,
    before: int | None,
    text: str,
    source: Source | None,
    shown: Callable[[Change], str],
) -> list[HistoryEntry]:
    """Return at most `limit` changes that match, newest first, each with its latest undo."""
    first: dict[int, int] = {}  # of each undo or redo the change
    last: dict[int, int] = {}  # of that the latest of them
    sql = "SELECT number, undoes FROM change WHERE undoes IS NOT NULL ORDER BY number"
    for number, undoes in execute(connection, sql):
        first[number] = first.get(undoes, undoes)
        last[first[number]] = number
    wanted = searched(text)
    named = execute(connection, _NAMED, {"text": wanted}) if text and storable(wanted) else ()
    with_plant = {first.get(number, number) for (number,) in named}
    rows = execute(connection, _ENTRIES, {"before": before, "source": source and source.id})
    is_found = partial(_contains, wanted, shown)
    matching = (each for each in map(_change, rows) if each.number in with_plant or is_found(each))
    changes = list(islice(matching, limit))
    plants = {row[0]: row[1:] for row in execute(connection, _FIRST, ([each.number for each in changes],))}
    latest = _by_number(connection, [last[each.number] for each in changes if each.number in last])
    return [
        HistoryEntry(each, latest.get(last.get(each.number, 0), each), _known(plants.get(each.number)))
        for each in changes
    ]


def _known(plant: Sequence[Any] | None) -> tuple[int, str, str | None] | None:
    return None if plant is None or plant[1] is None else (plant[0], plant[1], plant[2])


def _by_number(connection: Connection, numbers: list[int]) -> dict[int, Change]:
    rows = execute(connection, f"{_SELECT} WHERE number = ANY(%s::bigint[])", (numbers,)) if numbers else ()
    return {row[0]: _change(row) for row in rows}


def _contains(text: str, shown: Callable[[Change], str], change: Change) -> bool:
    return not text or any(text in searched(each) for each in (shown(change), *texts_of(change.subject[1])))


def history_summary(connection: Connection) -> HistorySummary:
    """Return number, oldest time and sources of all changes but undos and redos."""
    sql = "SELECT count(*), min(made_at) FROM change WHERE undoes IS NULL"
    changes, since = execute(connection, sql).fetchone() or (0, None)
    sql = """SELECT id, kind, label FROM source
             WHERE id IN (SELECT source_id FROM change WHERE undoes IS NULL) ORDER BY id"""
    sources = (Source(number, SourceKind(kind), label) for number, kind, label in execute(connection, sql))
    return HistorySummary(changes, since, tuple(sources))


def plant_history(connection: Connection, plant_id: int, limit: int) -> list[PlantChange]:
    """Return the latest changes of a plant, as far as they are stored."""
    rows = execute(connection, _PLANT_HISTORY, {"id": plant_id, "limit": limit})
    return [
        PlantChange(_change(row[:_WIDTH]), row_of(row[_WIDTH:]) if row[_WIDTH + 1] is not None else None)
        for row in rows
    ]


def undo_target(connection: Connection) -> int:
    """Return the number of the latest change that is not undone, or of its latest redo where only that can be undone.

    Raises NothingToUndoError.
    """
    number = _target(connection, "undoes IS NULL", Text("There is nothing to undo."))
    if execute(connection, "SELECT size IS NOT NULL FROM change WHERE number = %s", (number,)).fetchone() == (True,):
        return number
    sql = """SELECT number, undoes, undone = 0 AND size IS NOT NULL FROM change
             WHERE number > %s AND undoes IS NOT NULL ORDER BY number"""
    is_redo, latest = {number: True}, number
    for later, undoes, can_undo in execute(connection, sql, (number,)):
        if undoes in is_redo:
            is_redo[later] = not is_redo[undoes]
            latest = later if is_redo[later] and can_undo else latest
    return latest


def redo_target(connection: Connection) -> int:
    """Return the number of the latest undo that is in force. Raises NothingToUndoError."""
    return _target(connection, f"kind = '{ChangeKind.UNDO}'", Text("There is nothing to redo."))


def _target(connection: Connection, condition: str, none: Text) -> int:
    row = execute(connection, f"SELECT max(number) FROM change WHERE undone = 0 AND {condition}").fetchone()
    if row is None or row[0] is None:
        raise NothingToUndoError(none)
    return int(row[0])


def _change(row: Sequence[Any]) -> Change:
    number, made_at, source_id, source_kind, label, kind, parameters, plants, undoes, undone, has_images = row
    source = Source(source_id, SourceKind(source_kind), label)
    values = json.loads(parameters)
    can_undo = bool(has_images) and not undone
    return Change(number, made_at, source, ChangeKind(kind), values, plants, undoes, bool(undone), can_undo)
