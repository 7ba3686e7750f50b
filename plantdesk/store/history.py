"""What the kinds of store do alike with the history: its entries, and how a change is taken back.

The tables have the same columns in each kind, and these statements are SQL of both. `execute` binds values by name, as
`:name`, and returns a cursor of its kind, whose errors it raises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from plantdesk.domain.copies import SEARCHED
from plantdesk.domain.errors import NothingToUndoError, Text, UndoConflictError
from plantdesk.domain.folding import searched, searched_texts
from plantdesk.domain.history import Change, ChangeKind, texts_of
from plantdesk.domain.protocols import HistorySummary
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.sql import NO_ROOM, VERSION

if TYPE_CHECKING:
    Execute = Callable[..., Any]

#: Ids of skipped plants, and of plants brought back, that an undo lists.
_MAX_LISTED = 100

#: The member of the stored parameters with the name of the desk; so a copy in a file has it as well.
DESK = "desk"
#: The member with the largest `seq` of a plant that there was before its end: its place in the order of all commits.
LAST_SEQ = "last_seq"
#: What `change_of` needs.
SELECT = """SELECT number, made_at, source_id, coalesce(source.kind, ''), coalesce(label, ''), change.kind, parameters,
                   plants, undoes, undone, size IS NOT NULL
            FROM change LEFT JOIN source ON source.id = source_id"""

#: The version of a plant that a before-image has.
VERSION_BEFORE = "CASE WHEN x.plant_change > 0 THEN x.plant_change ELSE -x.seq END"
#: The columns that a plant and its before-images have in common.
TEXTS = ("name", "tag", "note", *SEARCHED)
EACH = (*TEXTS, "seq", "added_at", "source_id")
COLUMNS = ", ".join(EACH)
PLANT = ", ".join(f"plant.{each}" for each in EACH)
IMAGE = f"INSERT INTO before_image (change, plant_id, after, {COLUMNS}, plant_change)"
KEEP_FIRST = "ON CONFLICT (change, plant_id) DO UPDATE SET after = excluded.after"
#: Before-images of the undo: the present state of those plants of a change that nothing has changed since.
_UNDO_IMAGES = f"""{IMAGE}
    SELECT :number, x.plant_id, {VERSION_BEFORE}, {PLANT}, plant.change
    FROM before_image AS x LEFT JOIN plant ON plant.id = x.plant_id
    WHERE x.change = :undone AND coalesce({VERSION} = x.after, {VERSION} IS NULL AND x.after IS NULL)"""
#: Most plants are there, with the same `seq`: to give them their texts takes half as long as to exchange the rows.
_GIVE_BACK = f"""UPDATE plant SET {", ".join(f"{each} = x.{each}" for each in TEXTS)}, change = x.plant_change
    FROM before_image AS x WHERE x.change = :undone AND plant.id = x.plant_id AND {VERSION} = x.after
    AND plant.seq = x.seq AND plant.added_at = x.added_at AND plant.source_id = x.source_id"""
_PRESENT = "SELECT count(seq) FROM before_image WHERE change = :number"
_REMOVE_PRESENT = f"""DELETE FROM plant WHERE id IN (
    SELECT x.plant_id FROM before_image AS x JOIN plant ON plant.id = x.plant_id
    WHERE x.change = :undone AND {VERSION} = x.after)"""
#: The before-images that an undo brings back.
BACK = """FROM before_image AS x JOIN before_image AS u ON u.plant_id = x.plant_id AND u.change = :number
          WHERE x.change = :undone AND x.seq IS NOT NULL"""
_BRING_BACK = f"""INSERT INTO plant (id, {COLUMNS}, change)
    SELECT x.plant_id, {", ".join(f"x.{each}" for each in EACH)}, x.plant_change {BACK}"""
_IS_GONE = " AND NOT EXISTS (SELECT 1 FROM plant WHERE plant.id = x.plant_id)"
_SKIPPED = """SELECT plant_id FROM before_image AS x WHERE change = :undone AND NOT EXISTS (
    SELECT 1 FROM before_image AS u WHERE u.change = :number AND u.plant_id = x.plant_id)"""
#: Deleted plants whose ids others have now; not those that are there again with the same texts.
_DISPLACED = """FROM before_image AS x JOIN plant AS other ON other.id = x.plant_id
    WHERE x.change = :undone AND x.after IS NULL AND x.seq IS NOT NULL
    AND NOT (other.name = x.name AND coalesce(other.tag, '') = coalesce(x.tag, '')
             AND coalesce(other.note, '') = coalesce(x.note, ''))"""
_MOVE = f"""INSERT INTO plant (id, {COLUMNS}, change)
    SELECT :last_id + row_number() OVER (ORDER BY x.plant_id), {", ".join(f"x.{each}" for each in TEXTS)},
           :last_seq + row_number() OVER (ORDER BY x.plant_id), x.added_at, x.source_id, :number
    {_DISPLACED}"""
_MOVED_IMAGES = """INSERT INTO before_image (change, plant_id, after)
    SELECT :number, id, :number FROM plant WHERE id BETWEEN :last_id + 1 AND :last_id + :count"""
_NO_CHANGE = Text("There is no change to undo. A plant that was added is removed by `plantdesk delete ID`.")
#: The largest id of a change, which the store remembers: a plant that it deletes has it, and no other one gets it.
LARGEST_OF_CHANGE = f"SELECT max(plant_id) FROM before_image WHERE change = :number AND plant_id < {NO_ROOM}"


def text_columns(name: str, tag: str | None, note: str | None) -> tuple[str | None, ...]:
    """Return the columns `TEXTS` of a plant."""
    return name, tag, note, *searched_texts(name, tag, note)


def replaced(fields: Collection[str]) -> str:
    """Return the columns that an import of these fields gives a plant, of a row `r`: its name, and tag and note."""
    given = [each for each in ("name", "tag", "note") if each in {"name", *fields}]
    return ", ".join(f"{each} = r.{each}, searched_{each} = r.searched_{each}" for each in given)


# --- entries ---


def read_change(execute: Execute, number: int) -> Change:
    """Return the change of this number. Raises NothingToUndoError where there is none."""
    row = execute(f"{SELECT} WHERE number = :number", {"number": number}).fetchone()
    if row is None:
        raise NothingToUndoError(Text("There is no change {number}."), number=number)
    return change_of(row)


def newest_changes(execute: Execute, limit: int) -> list[Change]:
    """Return at most `limit` changes, newest first."""
    rows = execute(f"{SELECT} ORDER BY number DESC LIMIT :limit", {"limit": limit}).fetchall()
    return [change_of(row) for row in rows]


def history_summary(execute: Execute) -> HistorySummary:
    """Return number, oldest time and sources of all changes but undos and redos."""
    changes, since = execute("SELECT count(*), min(made_at) FROM change WHERE undoes IS NULL").fetchone()
    sql = """SELECT id, kind, label FROM source
             WHERE id IN (SELECT DISTINCT source_id FROM change WHERE undoes IS NULL) ORDER BY id"""
    sources = (Source(number, SourceKind(kind), label) for number, kind, label in execute(sql).fetchall())
    return HistorySummary(changes, since, tuple(sources))


def undos(execute: Execute) -> tuple[dict[int, int], dict[int, int]]:
    """Return the change that each undo or redo began with, and of each such change the latest of them."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, undoes in execute("SELECT number, undoes FROM change WHERE undoes IS NOT NULL ORDER BY number"):
        first[number] = first.get(undoes, undoes)
        last[first[number]] = number
    return first, last


def contains(text: str, shown: Callable[[Change], str], change: Change) -> bool:
    """Whether a change has the text of a search in its title, as it is shown, or in its parameters."""
    return not text or any(text in searched(each) for each in (shown(change), *texts_of(change.subject[1])))


def change_of(row: Sequence[Any]) -> Change:
    """Return a change of what `SELECT` gives."""
    number, made_at, source_id, source_kind, label, kind, parameters, plants, undoes, undone, has_images = row
    source = Source(source_id, SourceKind(source_kind), label)
    can_undo = bool(has_images) and not undone
    facts = _object(parameters)
    facts.pop(LAST_SEQ, None)
    desk = facts.pop(DESK, "")
    return Change(
        number,
        made_at,
        source,
        ChangeKind(kind),
        facts,
        max(0, plants),
        undoes,
        bool(undone),
        can_undo,
        desk if isinstance(desk, str) else "",
    )


def last_seq_of(parameters: str) -> int:
    """Return the `LAST_SEQ` in stored parameters, 0 where an older PlantDesk or another program wrote them."""
    value = _object(parameters).get(LAST_SEQ)
    return value if isinstance(value, int) else 0


def _refused(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    """Return a number that JSON can hold; 1e999 would be written as Infinity. Raises ValueError."""
    return float(text) if math.isfinite(float(text)) else _refused(text)


def _object(text: str) -> dict[str, Any]:
    """Return a JSON object, an empty one where another program has written something else."""
    try:
        value = json.loads(text, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


# --- undo ---


def undo_target(execute: Execute, change: Change | int | None) -> Change:
    """Return a change as it is stored, or that of a number. Raises NothingToUndoError where it is another one.

    None: the latest that is not undone, or its latest redo where only that can be undone.
    """
    if not isinstance(change, Change):
        return read_change(execute, _latest(execute) if change is None else change)
    found = read_change(execute, change.number)
    change.check_same(found)
    return found


def _latest(execute: Execute) -> int:
    number = _target(execute, f"undoes IS NULL AND kind <> '{ChangeKind.UNDO}'", _NO_CHANGE)
    if execute("SELECT size FROM change WHERE number = :number", {"number": number}).fetchone() != (None,):
        return number
    sql = """SELECT number, undoes, undone = 0 AND size IS NOT NULL FROM change
             WHERE number > :number AND undoes IS NOT NULL ORDER BY number"""
    is_redo, latest = {number: True}, number
    for later, undoes, can_undo in execute(sql, {"number": number}):
        if undoes in is_redo:
            is_redo[later] = not is_redo[undoes]
            latest = later if is_redo[later] and can_undo else latest
    return latest


def redo_target(execute: Execute) -> Change:
    """Return the latest undo that is in force, if nothing else was changed since. Raises NothingToUndoError."""
    undo = _target(execute, f"kind = '{ChangeKind.UNDO}'", Text("There is nothing to redo."))
    since = "SELECT max(number) FROM change WHERE undoes IS NULL AND number > :undo"
    (later,) = execute(since, {"undo": undo}).fetchone()
    if later is not None:
        reason = Text("There is a later change: {title}. To redo what was before it, type: plantdesk undo {undo}")
        raise NothingToUndoError(reason, title=read_change(execute, later).title, undo=undo)
    return read_change(execute, undo)


class BroughtBack(NamedTuple):
    """What an undo did to the plants: the members of `Undone` after its change."""

    skipped: int
    skipped_ids: tuple[int, ...]
    ids: tuple[int, ...]
    moved: int
    moved_ids: tuple[tuple[int, int], ...]


def bring_back(
    execute: Execute,
    undone: Change,
    number: int,
    last_seq: Callable[[int], int],
    last_id: Callable[[int], int],
    before_return: Callable[[dict[str, int]], None] = lambda _values: None,
) -> BroughtBack:
    """Bring the plants of a change back as they were, as the change of `number`, and mark the former as undone.

    `last_seq` and `last_id` return sequence number and id before so many new ones, `before_return` is called before
    plants that are gone return. Raises UndoConflictError.
    """
    values = {"undone": undone.number, "number": number}
    restored = _restore(execute, values, before_return)
    moved = _move(execute, values, last_seq, last_id) if restored < undone.plants else 0
    if restored + moved == 0:
        raise UndoConflictError(undone.plain_title, undone.plants, is_redo=undone.kind is ChangeKind.UNDO)
    _mark(execute, undone.number)
    skipped = max(0, undone.plants - restored - moved)
    skipped_ids = _skipped_ids(execute, values, moved) if skipped else ()
    moved_ids = _moved_ids(execute, values) if moved else ()
    return BroughtBack(skipped, skipped_ids, _returned_ids(execute, values, moved, moved_ids), moved, moved_ids)


def _restore(execute: Execute, values: dict[str, int], before_return: Callable[[dict[str, int]], None]) -> int:
    """Give the plants that nothing has changed since their former rows; return their number."""
    plants: int = execute(_UNDO_IMAGES, values).rowcount
    (present,) = execute(_PRESENT, values).fetchone()
    changed = execute(_GIVE_BACK, values).rowcount if present else 0
    if changed < present:
        execute(_REMOVE_PRESENT, values)
    if changed < plants:
        before_return(values)
        execute(_BRING_BACK + (_IS_GONE if changed else ""), values)
    return plants


def _skipped_ids(execute: Execute, values: dict[str, int], moved: int) -> tuple[int, ...]:
    others = f"AND x.plant_id NOT IN (SELECT x.plant_id {_DISPLACED})" if moved else ""
    return _column(execute, f"{_SKIPPED} {others} LIMIT {_MAX_LISTED}", values)


def _moved_ids(execute: Execute, values: dict[str, int]) -> tuple[tuple[int, int], ...]:
    """Return the old and the new ids of plants that `_move` has brought back."""
    old = _column(execute, f"SELECT x.plant_id {_DISPLACED} ORDER BY x.plant_id LIMIT {_MAX_LISTED}", values)
    return tuple((each, values["last_id"] + place) for place, each in enumerate(old, 1))


def _returned_ids(
    execute: Execute, values: dict[str, int], moved: int, moved_ids: tuple[tuple[int, int], ...]
) -> tuple[int, ...]:
    """Return the ids of all plants that are back; none where they are too many."""
    back = _column(execute, f"SELECT x.plant_id {BACK} LIMIT {_MAX_LISTED + 1}", values)
    return (*back, *(new for _, new in moved_ids)) if len(back) + moved <= _MAX_LISTED else ()


def _move(
    execute: Execute, values: dict[str, int], last_seq: Callable[[int], int], last_id: Callable[[int], int]
) -> int:
    """Bring deleted plants whose ids are in use back under new ids; return their number."""
    (count,) = _column(execute, f"SELECT count(*) {_DISPLACED}", values)
    if count:
        values["count"], values["last_seq"], values["last_id"] = count, last_seq(count), last_id(count)
        execute(_MOVE, values)
        execute(_MOVED_IMAGES, values)
    return count


def _column(execute: Execute, sql: str, values: dict[str, int]) -> tuple[int, ...]:
    return tuple(value for (value,) in execute(sql, values).fetchall())


def no_state_before(change: Change) -> NothingToUndoError:
    """Return the error of a change whose before-images break a rule of the tables: another program wrote them."""
    return NothingToUndoError(Text("There is no valid state before this: {title}."), title=change.title)


def _mark(execute: Execute, number: int) -> None:
    """Mark a change as undone; what it undoes itself is in force again, and so on."""
    sql = "UPDATE change SET undone = :undone WHERE number = :number RETURNING undoes"
    row, is_undone = execute(sql, {"undone": 1, "number": number}).fetchone(), True
    while row is not None and row[0] is not None and row[0] < number:  # else another program wrote it
        number, is_undone = row[0], not is_undone
        row = execute(sql, {"undone": int(is_undone), "number": number}).fetchone()


def _target(execute: Execute, condition: str, none: Text) -> int:
    (number,) = execute(f"SELECT max(number) FROM change WHERE undone = 0 AND {condition}").fetchone()
    if number is None:
        raise NothingToUndoError(none)
    return int(number)
