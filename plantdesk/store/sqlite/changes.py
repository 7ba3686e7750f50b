"""Changes of plants that exist: edits, edits of whole sets, and undo, each as one entry of the history.

Everything runs in the caller's write transaction. A change stores each plant as it was before (its before-image) and
the version that it has afterwards; undo restores the before-images of the plants that still have that version.
CONTRIBUTING, "How plants are changed", explains the tables.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from plantdesk.domain.edits import (
    Applied,
    Delete,
    DeleteAll,
    Insert,
    MergePlants,
    MergeTags,
    RenameTag,
    Rewrite,
    SetTag,
    Undone,
    Update,
    kind_of,
    parameters_of,
)
from plantdesk.domain.errors import (
    EditConflictError,
    SelectionChangedError,
    id_taken,
)
from plantdesk.domain.folding import searched
from plantdesk.domain.records import PlantRow, Source, now_ms
from plantdesk.store.conditions import condition_of
from plantdesk.store.entries import LAST_SEQ, read_change
from plantdesk.store.history import (
    BACK,
    COLUMNS,
    IMAGE,
    KEEP_FIRST,
    LARGEST_OF_CHANGE,
    TEXTS,
    VERSION_BEFORE,
    bring_back,
    no_state_before,
    redo_target,
    text_columns,
    undo_target,
)
from plantdesk.store.models import PLANT
from plantdesk.store.rows import rows_by_id
from plantdesk.store.sql import NO_ROOM, placeholders
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.numbers import last_id, last_number, last_seq

if TYPE_CHECKING:
    from plantdesk.domain.edits import Edit
    from plantdesk.domain.history import Change, ChangeKind
    from plantdesk.domain.rewriting import Rewritten
    from plantdesk.domain.selections import Selection

_PLANT = f"SELECT :number, plant.id, :after, {COLUMNS}, change FROM plant"

_IS_SELECTED = "id IN (SELECT id FROM temp.selected)"

_TAGS = "SELECT DISTINCT tag FROM plant WHERE tag IS NOT NULL"
_REPLACE_TAGS = """UPDATE plant SET tag = replaced.new, searched_tag = replaced.searched, change = :number
                   FROM temp.replaced WHERE plant.tag = replaced.tag"""
_SELECTED = "(id INTEGER PRIMARY KEY)"
_REWRITTEN = f"(id INTEGER PRIMARY KEY, {', '.join(f'{each} TEXT' for each in TEXTS)})"
_TEXTS = f"SELECT id, name, tag, note FROM main.plant WHERE {_IS_SELECTED}"
#: In one pass: UPDATE FROM would collect the new rows first.
_REWRITE = f"""UPDATE main.plant SET change = :number, ({", ".join(TEXTS)}) = (
                  SELECT {", ".join(TEXTS)} FROM {{schema}}.rewritten AS new WHERE new.id = plant.id)
              WHERE id IN (SELECT id FROM {{schema}}.rewritten){{others}}"""
_IS_TAKEN = "EXISTS (SELECT 1 FROM plant WHERE plant.seq = x.seq AND plant.id <> x.plant_id)"
_MOVE_TO_END = f"""UPDATE before_image SET seq = :last + moved.place FROM (
        SELECT x.plant_id AS id, row_number() OVER (ORDER BY x.seq) AS place {BACK} AND {_IS_TAKEN}
    ) AS moved WHERE change = :undone AND plant_id = moved.id"""
_FIRST_NAME = """SELECT coalesce(x.name, plant.name, '') FROM before_image AS x LEFT JOIN plant ON plant.id = x.plant_id
                 WHERE x.change = ? LIMIT 1"""
#: Bytes that a before-image takes about, without its texts and with them.
IMAGE_SIZE = 50
FULL_IMAGE_SIZE = f"{IMAGE_SIZE} + " + " + ".join(f"coalesce(length(CAST({each} AS BLOB)), 0)" for each in TEXTS)
_REMEMBER_IDS = f"UPDATE store SET last_id = min(max(last_id, coalesce(({LARGEST_OF_CHANGE}), 0)), {NO_ROOM} - 1)"
_EXTENT = f"SELECT count(*), total({FULL_IMAGE_SIZE}), count(*) - count(after) FROM before_image WHERE change = ?"


class Extent(NamedTuple):
    """The plants of a change, the bytes of their before-images, and how many it deletes."""

    plants: int
    size: float
    deleted: int = 0


class ChangeEntry(NamedTuple):
    """An entry of the history that is to be added."""

    number: int
    source: Source
    kind: ChangeKind
    parameters: dict[str, Any]
    undoes: int | None = None
    extent: Extent | None = None


def apply(
    connection: sqlite3.Connection, edits: Sequence[Edit], source: Source, parameters: dict[str, Any] | None = None
) -> Applied:
    """Make one change of `edits`; its parameters are by default those of the edits.

    Raises EditConflictError and IdTakenError; then nothing may be committed.
    """
    number = begin(connection)
    for edit in edits:
        _apply(connection, number, edit, source)
    return Applied(finish(connection, edits, source, number, extent_of(connection, number), parameters))


def finish(
    connection: sqlite3.Connection,
    edits: Sequence[Edit],
    source: Source,
    number: int,
    extent: Extent,
    parameters: dict[str, Any] | None = None,
) -> Change | None:
    """Add the entry of the change that `edits` were; None where they changed nothing."""
    if not extent.plants:
        return None
    if parameters is None:
        (name,) = connection.execute(_FIRST_NAME, (number,)).fetchone()
        parameters = parameters_of(edits, name if extent.plants == 1 else None, extent.deleted)
    return record(connection, ChangeEntry(number, source, kind_of(edits), parameters, extent=extent))


def undo(connection: sqlite3.Connection, change: Change | int | None, source: Source) -> Undone:
    """Take back a change, or the change of this number, by default the latest that is not undone.

    Raises NothingToUndoError and UndoConflictError.
    """
    return _undo(connection, undo_target(runner(connection), change), source)


def redo(connection: sqlite3.Connection, source: Source) -> Undone:
    """Take back the latest undo that is not taken back. Raises NothingToUndoError and UndoConflictError."""
    return _undo(connection, redo_target(runner(connection)), source)


def begin(connection: sqlite3.Connection) -> int:
    """Return the number of the next change, and make sure that no `seq` of a plant that it deletes is used again."""
    connection.execute(
        "UPDATE store SET last_seq = max(last_seq, (SELECT coalesce(max(seq), 0) FROM plant)) "
        "WHERE last_seq < (SELECT coalesce(max(seq), 0) FROM plant)"
    )
    return last_number(connection) + 1


def extent_of(connection: sqlite3.Connection, number: int) -> Extent:
    """Return the extent of a change, by its before-images."""
    return Extent(*connection.execute(_EXTENT, (number,)).fetchone())


def record(connection: sqlite3.Connection, entry: ChangeEntry) -> Change:
    """Add the entry of a change that is complete; without an extent its before-images are counted. Return it."""
    number, source, kind, parameters, undoes, extent = entry
    plants, size, _ = extent or extent_of(connection, number)
    sql = """INSERT INTO change (number, made_at, source_id, kind, parameters, plants, undoes, size)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
    stored = json.dumps(parameters | {LAST_SEQ: last_seq(connection)})
    values = (number, now_ms(), source.id, kind, stored, plants, undoes, round(size))
    connection.execute(sql, values)
    connection.execute(_REMEMBER_IDS, {"number": number})
    return read_change(runner(connection), number)


# --- edits ---


def _apply(connection: sqlite3.Connection, number: int, edit: Edit, source: Source) -> None:
    match edit:
        case Insert():
            _insert(connection, number, edit, source)
        case Update():
            _update(connection, number, edit)
        case Delete():
            _delete_plant(connection, number, edit)
        case SetTag():
            _select(connection, edit.plants)
            _set_tag(connection, number, edit.tag)
        case DeleteAll():
            _select(connection, edit.plants)
            _check_size(connection, edit.size)
            _delete(connection, number, "temp.selected")
        case RenameTag() | MergeTags():
            _replace_tags(connection, number, edit)
        case MergePlants() | Rewrite():
            compute(connection, "temp", edit)
            write_computed(connection, "temp", number)


def _insert(connection: sqlite3.Connection, number: int, edit: Insert, source: Source) -> None:
    plant = edit.plant
    if (owner := _row(connection, plant.id)) is not None:
        raise id_taken(owner, plant.name, plant.tag)
    connection.execute(
        f"INSERT INTO before_image (change, plant_id, after) VALUES (?, ?, ?) {KEEP_FIRST}", (number, plant.id, number)
    )
    values = (
        plant.id,
        *text_columns(plant.name, plant.tag, edit.note),
        last_seq(connection) + 1,
        now_ms(),
        source.id,
        number,
    )
    connection.execute(f"INSERT INTO plant (id, {COLUMNS}, change) VALUES ({placeholders(len(values))})", values)


def _update(connection: sqlite3.Connection, number: int, edit: Update) -> None:
    row = _current(connection, edit.saw.id, edit.saw.version, edit.saw.name)
    if (row.name, row.tag, row.note) == (edit.name, edit.tag, edit.note):
        return
    store_images(connection, number, number, "plant.id = :id", id=row.id)
    values = (*text_columns(edit.name, edit.tag, edit.note), number, row.id)
    connection.execute(f"UPDATE plant SET ({', '.join(TEXTS)}, change) = ({placeholders(7)}) WHERE id = ?", values)


def _delete_plant(connection: sqlite3.Connection, number: int, edit: Delete) -> None:
    _current(connection, edit.id, edit.version, edit.name)
    store_images(connection, number, None, "plant.id = :id", id=edit.id)
    connection.execute("DELETE FROM plant WHERE id = ?", (edit.id,))


def _current(connection: sqlite3.Connection, plant_id: int, version: int, name: str) -> PlantRow:
    row = _row(connection, plant_id)
    if row is None or row.version != version:
        raise EditConflictError(name, row)
    return row


def _row(connection: sqlite3.Connection, plant_id: int) -> PlantRow | None:
    return rows_by_id(runner(connection), [plant_id]).get(plant_id)


# --- edits of whole sets ---


def _select(connection: sqlite3.Connection, selection: Selection) -> None:
    """Fill `temp.selected` with the ids of a set of plants."""
    _begin_set(connection, _SELECTED, "temp.selected")
    found = runner(connection)
    ids, values = found.database.compiled(select(PLANT.c.id).where(condition_of(selection, found.database)))
    connection.execute(f"INSERT INTO temp.selected {ids}", values)


def _begin_set(connection: sqlite3.Connection, columns: str, table: str) -> None:
    """Make a table empty, which other edits of the connection may have used."""
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table} {columns}")
    connection.execute(f"DELETE FROM {table}")


def _check_size(connection: sqlite3.Connection, expected: int | None) -> None:
    (found,) = connection.execute("SELECT count(*) FROM temp.selected").fetchone()
    if expected is not None and found != expected:
        raise SelectionChangedError(expected, found)


def _replace_tags(connection: sqlite3.Connection, number: int, edit: RenameTag | MergeTags) -> None:
    """Give each plant what its tag becomes, in one pass: so a tag may take the place of another one."""
    tags = edit.mapping(lambda: (tag for (tag,) in connection.execute(_TAGS)))
    _begin_set(connection, "(tag TEXT PRIMARY KEY, new TEXT, searched TEXT) WITHOUT ROWID", "temp.replaced")
    rows = ((tag, new, new and searched(new)) for tag, new in tags.items())
    connection.executemany("INSERT INTO temp.replaced VALUES (?, ?, ?)", rows)
    store_images(connection, number, number, "tag IN (SELECT tag FROM temp.replaced)")
    connection.execute(_REPLACE_TAGS, {"number": number})


def compute(connection: sqlite3.Connection, schema: str, edit: Rewrite | MergePlants) -> None:
    """Compute by one snapshot which plants get other texts and which are deleted, into tables of a schema."""
    _begin_set(connection, _REWRITTEN, f"{schema}.rewritten")
    _begin_set(connection, _SELECTED, f"{schema}.deleted")
    if isinstance(edit, Rewrite):
        from plantdesk.domain.rewriting import rewritten

        _select(connection, edit.plants)
        with closing(connection.execute(_TEXTS)) as rows:
            _add_rewritten(connection, schema, rewritten(edit.rule, rows, edit.leave))
        return
    from plantdesk.domain.duplicates import merged

    for deleted, kept in merged(*edit, partial(rows_by_id, runner(connection))):
        ids = ((plant_id,) for plant_id in deleted)
        connection.executemany(f"INSERT INTO {schema}.deleted VALUES (?)", ids)
        _add_rewritten(connection, schema, kept)


def write_computed(connection: sqlite3.Connection, schema: str, number: int, others: str = "") -> int:
    """Write what `compute` has found, and the images before, but for plants for which the condition `others` is false.

    Return the number of plants.
    """
    store_images(connection, number, number, f"id IN (SELECT id FROM {schema}.rewritten){others}")
    plants = connection.execute(_REWRITE.format(schema=schema, others=others), {"number": number}).rowcount
    return plants + _delete(connection, number, f"{schema}.deleted")


def _add_rewritten(connection: sqlite3.Connection, schema: str, texts: Iterable[Rewritten]) -> None:
    rows = ((plant_id, *text_columns(name, tag, note)) for plant_id, name, tag, note in texts)
    connection.executemany(f"INSERT INTO {schema}.rewritten VALUES ({placeholders(1 + len(TEXTS))})", rows)


def _set_tag(connection: sqlite3.Connection, number: int, tag: str | None) -> None:
    connection.execute(
        f"DELETE FROM temp.selected WHERE id IN (SELECT id FROM plant WHERE tag IS ? AND {_IS_SELECTED})", (tag,)
    )
    store_images(connection, number, number)
    sql = f"UPDATE plant SET tag = :tag, searched_tag = :searched, change = :number WHERE {_IS_SELECTED}"
    connection.execute(sql, {"tag": tag, "searched": tag and searched(tag), "number": number})


def _delete(connection: sqlite3.Connection, number: int, table: str) -> int:
    """Delete the plants whose ids are in a table; return their number."""
    condition = f"id IN (SELECT id FROM {table})"
    store_images(connection, number, None, condition)
    sql = f"SELECT (SELECT count(*) FROM {table}) = (SELECT count(*) FROM plant)"
    (is_all,) = connection.execute(sql).fetchone()
    # Without a condition SQLite frees whole pages instead of deleting rows.
    return connection.execute(f"DELETE FROM plant{'' if is_all else f' WHERE {condition}'}").rowcount


def store_images(
    connection: sqlite3.Connection, number: int, after: int | None, condition: str = _IS_SELECTED, **values: int
) -> None:
    """Store the before-images of a change of the plants that an SQL condition, with its `values`, selects."""
    sql = f"{IMAGE} {_PLANT} WHERE {condition} {KEEP_FIRST}"
    connection.execute(sql, {"number": number, "after": after, **values})


# --- undo ---


def _undo(connection: sqlite3.Connection, undone: Change, source: Source) -> Undone:
    kind, parameters = undone.taken_back()
    own = begin(connection)
    try:
        outcome = bring_back(
            runner(connection),
            undone,
            own,
            lambda _count: last_seq(connection),
            partial(last_id, connection),
            partial(_move_to_end, connection),
        )
    except sqlite3.IntegrityError as error:
        raise no_state_before(undone) from error
    return Undone(record(connection, ChangeEntry(own, source, kind, parameters, undone.number)), *outcome)


def _move_to_end(connection: sqlite3.Connection, values: dict[str, int]) -> None:
    """Give plants whose sequence number is taken a new one; a restored backup may bring that about."""
    if connection.execute(f"SELECT EXISTS (SELECT 1 {BACK} AND {_IS_TAKEN})", values).fetchone() == (0,):
        return
    connection.execute(_MOVE_TO_END, {**values, "last": last_seq(connection)})
    sql = f"""UPDATE before_image AS u SET after = {VERSION_BEFORE} FROM before_image AS x
              WHERE u.change = :number AND x.change = :undone AND x.plant_id = u.plant_id"""
    connection.execute(sql, values)
