"""Changes of plants that exist: edits, edits of whole sets, and undo, each as one entry of the history.

Everything runs in the caller's transaction, which holds the lock on `state`. The tables work as in SQLite
(CONTRIBUTING, "How plants are changed").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import errors
from sqlalchemy import func, select

from plantdesk.domain.duplicates import merged
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
    NothingToUndoError,
    SelectionChangedError,
    Text,
    id_taken,
    shortened,
)
from plantdesk.domain.folding import searched
from plantdesk.domain.history import Change
from plantdesk.domain.records import SMALLEST_ID, Source
from plantdesk.domain.rewriting import rewritten
from plantdesk.domain.selections import Selection
from plantdesk.store.conditions import condition_of
from plantdesk.store.entries import DESK, LAST_SEQ
from plantdesk.store.history import (
    COLUMNS,
    IMAGE,
    KEEP_FIRST,
    LARGEST_OF_CHANGE,
    PLANT_COLUMNS,
    TEXTS,
    BroughtBack,
    bring_back,
    no_state_before,
    redo_target,
    text_columns,
    undo_target,
)
from plantdesk.store.models import PLANT
from plantdesk.store.postgres.connections import NOW, NulRefusedError, execute, storable
from plantdesk.store.postgres.database import runner
from plantdesk.store.postgres.rows import last_id
from plantdesk.store.rows import rows_by_id

if TYPE_CHECKING:
    from plantdesk.domain.edits import Edit
    from plantdesk.domain.history import ChangeKind
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.rewriting import Rewritten
    from plantdesk.store.postgres.connections import Connection, Transaction

#: A set of plants is found once, by the snapshot of the statement that changes it.
_CHANGE_SET = f"""
    WITH chosen AS MATERIALIZED (SELECT plant.id FROM plant WHERE {{condition}}), image AS (
        {IMAGE} SELECT %(number)s, plant.id, %(after)s, {PLANT_COLUMNS}, plant.change
        FROM plant JOIN chosen ON chosen.id = plant.id {KEEP_FIRST}
    )"""
_DELETE_SET = f"{_CHANGE_SET} DELETE FROM plant USING chosen WHERE plant.id = chosen.id"
_UPDATE_SET = f"{_CHANGE_SET} UPDATE plant SET {{columns}}, change = %(number)s FROM chosen WHERE plant.id = chosen.id"
_TAGS = "SELECT DISTINCT tag FROM plant WHERE tag IS NOT NULL"
_REPLACED = """SELECT plant.id, r.new, r.searched FROM plant
    JOIN unnest(%(old)s::text[], %(new)s::text[], %(searched)s::text[]) AS r(old, new, searched) ON r.old = plant.tag"""
_REPLACE_TAGS = _UPDATE_SET.replace("SELECT plant.id FROM plant", _REPLACED)
_GIVEN = ", ".join(f"%({each})s::text[]" for each in TEXTS)
_REWRITTEN = (
    f"""SELECT r.* FROM plant JOIN unnest(%(id)s::bigint[], {_GIVEN}) AS r(id, {", ".join(TEXTS)}) ON r.id = plant.id"""
)
_REWRITE = _UPDATE_SET.replace("SELECT plant.id FROM plant", _REWRITTEN)
#: Plants that are rewritten together.
PAGE = 10_000
_SIZE = "50 + " + " + ".join(f"coalesce(octet_length({each}), 0)" for each in TEXTS)
#: The number of plants of a change, the bytes of its before-images, by how many plants the store grows, and a name.
_EXTENT = f"""SELECT count(*), coalesce(sum({_SIZE}), 0)::bigint,
                     count(*) FILTER (WHERE seq IS NULL AND after IS NOT NULL)
                     - count(*) FILTER (WHERE seq IS NOT NULL AND after IS NULL),
                     (SELECT coalesce(x.name, plant.name, '') FROM before_image AS x
                      LEFT JOIN plant ON plant.id = x.plant_id WHERE x.change = %(number)s LIMIT 1)
              FROM before_image WHERE change = %(number)s"""
_RECORD = f"""
    WITH remembered AS (UPDATE state SET last_id = greatest(last_id, ({LARGEST_OF_CHANGE})))
    INSERT INTO change (number, made_at, source_id, kind, parameters, plants, undoes, size)
    VALUES (:number, {NOW}, :source, :kind, :parameters, :plants, :undoes, :size) RETURNING made_at"""


class ChangeEntry(NamedTuple):
    """An entry of the history that is to be added."""

    source: Source
    kind: ChangeKind
    parameters: dict[str, Any]
    undoes: int | None = None


def apply(
    transaction: Transaction, edits: Sequence[Edit], source: Source, parameters: dict[str, Any] | None = None
) -> Applied:
    """Make one change of `edits`; its parameters are by default those of the edits.

    Raises EditConflictError, IdTakenError and NulRefusedError; then nothing may be committed.
    """
    connection, number = transaction.connection, transaction.last_change + 1
    for edit in edits:
        apply_edit(transaction, number, edit, source)
    return Applied(finish(transaction, edits, source, extent_of(connection, number), parameters))


def extent_of(connection: Connection, number: int, ids: Collection[int] | None = None) -> Sequence[Any]:
    """Return the extent of a change, by its before-images; with `ids`, of these plants alone."""
    if ids is None:
        return _one(connection, _EXTENT, {"number": number})
    return _one(connection, f"{_EXTENT} AND plant_id = ANY(%(ids)s)", {"number": number, "ids": list(ids)})


def finish(
    transaction: Transaction,
    edits: Sequence[Edit],
    source: Source,
    extent: Sequence[Any],
    parameters: dict[str, Any] | None = None,
) -> Change | None:
    """Add the entry of the change that `edits` were; None where they changed nothing."""
    if not extent[0]:
        return None
    if parameters is None:
        parameters = parameters_of(edits, extent[3] if extent[0] == 1 else None, -extent[2])
    return record(transaction, ChangeEntry(source, kind_of(edits), parameters), extent)


def to_undo(transaction: Transaction, change: Change | int | None) -> Change:
    """Return a change, or that of this number, by default the latest that is not undone, if it is this desk's.

    Raises NothingToUndoError.
    """
    found = undo_target(runner(transaction.connection), change)
    return found if change is not None else _own(transaction, found)


def to_redo(transaction: Transaction) -> Change:
    """Return the latest undo that is not taken back. Raises NothingToUndoError."""
    return _own(transaction, redo_target(runner(transaction.connection)))


def _own(transaction: Transaction, latest: Change) -> Change:
    """Return the latest change where this desk made it: another's is only taken back by its number."""
    if latest.desk not in {"", transaction.desk}:
        reason = Text("{desk} has made this: {title}. To undo it all the same, type `plantdesk undo {number}`.")
        raise NothingToUndoError(reason, title=latest.title, desk=shortened(latest.desk), number=latest.number)
    return latest


def record(transaction: Transaction, entry: ChangeEntry, extent: Sequence[Any] | None = None) -> Change:
    """Add the entry of a change whose before-images are complete, and return it."""
    connection, number = transaction.connection, transaction.last_change + 1
    plants, size, growth, _ = extent or extent_of(connection, number)
    facts = entry.parameters | {DESK: transaction.desk, LAST_SEQ: transaction.last_seq}
    source = entry.source
    values = {"number": number, "source": source.id, "kind": str(entry.kind), "parameters": json.dumps(facts)}
    values |= {"plants": plants, "undoes": entry.undoes, "size": size}
    (made_at,) = runner(connection).execute(_RECORD, values).fetchone()
    transaction.last_change = number
    transaction.plants += growth
    transaction.has_changed = True
    by = Source(source.id, source.kind, source.label)
    facts = json.loads(json.dumps(entry.parameters))
    return Change(number, made_at, by, entry.kind, facts, plants, entry.undoes, desk=transaction.desk)


def keep_images(connection: Connection, number: int, condition: str) -> None:
    """Store the before-images of a change of the plants that a condition selects."""
    sql = f"""{IMAGE} SELECT %(number)s, plant.id, %(number)s, {PLANT_COLUMNS}, plant.change
              FROM plant WHERE {condition} {KEEP_FIRST}"""
    execute(connection, sql, {"number": number})


# --- edits ---


def apply_edit(transaction: Transaction, number: int, edit: Edit, source: Source) -> None:
    """Make an edit as a part of the change of this number; its entry follows. Raises as `apply` does."""
    connection = transaction.connection
    match edit:
        case Insert():
            _insert(transaction, number, edit, source)
        case Update():
            _update(connection, number, edit)
        case Delete():
            _current(connection, edit.id, edit.version, edit.name)
            _change_set(connection, _DELETE_SET, Selection(ids=[edit.id]), number, None)
        case SetTag():
            _set_tag(connection, number, edit.plants, edit.tag)
        case DeleteAll():
            if edit.size is not None:
                _check_size(connection, edit.plants, edit.size)
            _change_set(connection, _DELETE_SET, edit.plants, number, None)
        case RenameTag() | MergeTags():
            replace_tags(connection, number, edit)
        case MergePlants():
            _merge_plants(connection, number, edit)
        case Rewrite():
            rewrite(connection, number, edit)


def _insert(transaction: Transaction, number: int, edit: Insert, source: Source) -> None:
    plant, connection = edit.plant, transaction.connection
    check_storable(plant.name, plant.tag, edit.note)
    if (owner := _row(connection, plant.id)) is not None:
        raise id_taken(owner, plant.name, plant.tag)
    sql = f"INSERT INTO before_image (change, plant_id, after) VALUES (%s, %s, %s) {KEEP_FIRST}"
    execute(connection, sql, (number, plant.id, number))
    values = {
        "id": plant.id,
        **_text_values(plant.name, plant.tag, edit.note),
        "seq": transaction.next_seq(),
        "source": source.id,
        "number": number,
    }
    sql = f"""INSERT INTO plant (id, {COLUMNS}, change) VALUES (%(id)s, {", ".join(f"%({each})s" for each in TEXTS)},
              %(seq)s, {NOW}, %(source)s, %(number)s)"""
    execute(connection, sql, values)


def _update(connection: Connection, number: int, edit: Update) -> None:
    row = _current(connection, edit.saw.id, edit.saw.version, edit.saw.name)
    if (row.name, row.tag, row.note) == (edit.name, edit.tag, edit.note):
        return
    check_storable(edit.name, edit.tag, edit.note)
    columns = ", ".join(f"{each} = %({each})s" for each in TEXTS)
    values = _text_values(edit.name, edit.tag, edit.note)
    _change_set(connection, _UPDATE_SET, Selection(ids=[row.id]), number, number, columns, **values)


def _set_tag(connection: Connection, number: int, plants: Selection, tag: str | None) -> None:
    check_storable(tag)
    sql = _UPDATE_SET.replace("{condition}", "{condition} AND plant.tag IS DISTINCT FROM %(tag)s::text")
    columns, values = "tag = %(tag)s, searched_tag = %(searched)s", {"tag": tag, "searched": tag and searched(tag)}
    _change_set(connection, sql, plants, number, number, columns, **values)


def replace_tags(
    connection: Connection, number: int, edit: RenameTag | MergeTags, ids: Collection[int] | None = None
) -> None:
    """Give each plant, or each of `ids`, what its tag becomes, in one pass: a tag may take the place of another one."""
    tags = edit.mapping(lambda: [tag for (tag,) in execute(connection, _TAGS).fetchall()])
    tags = {tag: new for tag, new in tags.items() if storable(tag)}
    check_storable(*tags.values())
    new = list(tags.values())
    plants = Selection(ids=None if ids is None else sorted(ids))
    columns = "tag = chosen.new, searched_tag = chosen.searched"
    texts = [each and searched(each) for each in new]
    _change_set(connection, _REPLACE_TAGS, plants, number, number, columns, old=list(tags), new=new, searched=texts)


def rewrite(connection: Connection, number: int, edit: Rewrite) -> None:
    """Rewrite texts in Python, page by page: PostgreSQL has no folding, and both kinds of store must do the same."""
    found, columns = runner(connection), PLANT.c
    plants = select(columns.id, columns.name, columns.tag, columns.note).order_by(columns.id).limit(PAGE)
    plants = plants.where(condition_of(edit.plants, found.database))
    last = SMALLEST_ID - 1
    while rows := found.run(plants.where(columns.id > last) if last >= SMALLEST_ID else plants).fetchall():
        last = rows[-1][0]
        _change_texts(connection, number, list(rewritten(edit.rule, rows, edit.leave)))


def _merge_plants(connection: Connection, number: int, edit: MergePlants) -> None:
    for deleted, kept in merged(*edit, partial(rows_by_id, runner(connection))):
        _change_texts(connection, number, kept)
        _change_set(connection, _DELETE_SET, Selection(ids=deleted), number, None)


def _change_texts(connection: Connection, number: int, found: list[Rewritten]) -> None:
    """Give plants other texts."""
    check_storable(*(text for _, *texts in found for text in texts))
    if found:
        rows = ((plant_id, *text_columns(name, tag, note)) for plant_id, name, tag, note in found)
        columns = dict(zip(("id", *TEXTS), map(list, zip(*rows, strict=True)), strict=True))
        new = ", ".join(f"{each} = chosen.{each}" for each in TEXTS)
        _change_set(connection, _REWRITE, Selection(), number, number, new, **columns)


def _change_set(
    connection: Connection,
    sql: str,
    plants: Selection,
    number: int,
    after: int | None,
    columns: str = "",
    **values: object,
) -> None:
    database = runner(connection).database
    condition, bound = database.compiled(condition_of(plants, database))
    values |= {**bound, "number": number, "after": after}
    execute(connection, sql.format(condition=condition, columns=columns), values)


def _check_size(connection: Connection, plants: Selection, expected: int) -> None:
    found = runner(connection)
    count = select(func.count()).select_from(PLANT).where(condition_of(plants, found.database))
    (found,) = found.run(count).fetchone()
    if found != expected:
        raise SelectionChangedError(expected, found)


def check_storable(*texts: str | None) -> None:
    """Raise NulRefusedError unless the server can keep all texts."""
    if not storable(*texts):
        raise NulRefusedError


def _text_values(name: str, tag: str | None, note: str | None) -> dict[str, str | None]:
    return dict(zip(TEXTS, text_columns(name, tag, note), strict=True))


def _current(connection: Connection, plant_id: int, version: int, name: str) -> PlantRow:
    row = _row(connection, plant_id)
    if row is None or row.version != version:
        raise EditConflictError(name, row)
    return row


def _row(connection: Connection, plant_id: int) -> PlantRow | None:
    return rows_by_id(runner(connection), [plant_id]).get(plant_id)


def _one(connection: Connection, sql: str, values: Sequence[Any] | dict[str, Any]) -> Sequence[Any]:
    row: Sequence[Any] | None = execute(connection, sql, values).fetchone()
    if row is None:
        raise LookupError(sql)
    return row


# --- undo ---


def undo(transaction: Transaction, change: Change, source: Source) -> Undone:
    """Take back a change. Raises NothingToUndoError and UndoConflictError."""
    kind, parameters = change.taken_back()

    def last_seq(count: int) -> int:
        return transaction.next_seq(count) - 1

    outcome = take_back(transaction.connection, change, transaction.last_change + 1, last_seq)
    return Undone(record(transaction, ChangeEntry(source, kind, parameters, change.number)), *outcome)


def take_back(connection: Connection, undone: Change, number: int, last_seq: Callable[[int], int]) -> BroughtBack:
    """Take back a change as `bring_back` does; its entry follows. Raises NothingToUndoError and UndoConflictError."""
    is_large = undone.plants > PAGE
    if is_large:
        # The server knows nothing of the rows of this transaction yet, and would compare each with each.
        connection.execute("SET LOCAL enable_nestloop = off")
    try:
        outcome = bring_back(runner(connection), undone, number, last_seq, partial(last_id, connection))
    except errors.IntegrityError as error:
        raise no_state_before(undone) from error
    if is_large:
        connection.execute("SET LOCAL enable_nestloop TO DEFAULT")
    return outcome
