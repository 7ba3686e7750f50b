"""Before-images, and how a change is taken back. The functions raise the driver's errors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.copies import SEARCHED
from plantdesk.domain.errors import NothingToUndoError, Text, UndoConflictError
from plantdesk.domain.folding import searched_texts
from plantdesk.domain.history import Change, ChangeKind
from plantdesk.store.entries import read_change
from plantdesk.store.sql import NO_ROOM, VERSION

if TYPE_CHECKING:
    from plantdesk.store.database import Runner

#: Ids of skipped plants, and of plants brought back, that an undo lists.
_MAX_LISTED = 100

#: The version of a plant that a before-image has.
VERSION_BEFORE = "CASE WHEN x.plant_change > 0 THEN x.plant_change ELSE -x.seq END"
#: The columns that a plant and its before-images have in common.
TEXTS = ("name", "tag", "note", *SEARCHED)
EACH = (*TEXTS, "seq", "added_at", "source_id")
COLUMNS = ", ".join(EACH)
PLANT_COLUMNS = ", ".join(f"plant.{each}" for each in EACH)
IMAGE = f"INSERT INTO before_image (change, plant_id, after, {COLUMNS}, plant_change)"
KEEP_FIRST = "ON CONFLICT (change, plant_id) DO UPDATE SET after = excluded.after"
#: Before-images of the undo: the present state of those plants of a change that nothing has changed since.
_UNDO_IMAGES = f"""{IMAGE}
    SELECT :number, x.plant_id, {VERSION_BEFORE}, {PLANT_COLUMNS}, plant.change
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


def undo_target(runner: Runner, change: Change | int | None) -> Change:
    """Return a change as it is stored, or that of a number. Raises NothingToUndoError where it is another one.

    None: the latest that is not undone, or its latest redo where only that can be undone.
    """
    if not isinstance(change, Change):
        return read_change(runner, _latest(runner) if change is None else change)
    found = read_change(runner, change.number)
    change.check_same(found)
    return found


def _latest(runner: Runner) -> int:
    number = _target(runner, f"undoes IS NULL AND kind <> '{ChangeKind.UNDO}'", _NO_CHANGE)
    if runner.execute("SELECT size FROM change WHERE number = :number", {"number": number}).fetchone() != (None,):
        return number
    sql = """SELECT number, undoes, undone = 0 AND size IS NOT NULL FROM change
             WHERE number > :number AND undoes IS NOT NULL ORDER BY number"""
    is_redo, latest = {number: True}, number
    for later, undoes, can_undo in runner.execute(sql, {"number": number}):
        if undoes in is_redo:
            is_redo[later] = not is_redo[undoes]
            latest = later if is_redo[later] and can_undo else latest
    return latest


def redo_target(runner: Runner) -> Change:
    """Return the latest undo that is in force, if nothing else was changed since. Raises NothingToUndoError."""
    undo = _target(runner, f"kind = '{ChangeKind.UNDO}'", Text("There is nothing to redo."))
    since = "SELECT max(number) FROM change WHERE undoes IS NULL AND number > :undo"
    (later,) = runner.execute(since, {"undo": undo}).fetchone()
    if later is not None:
        reason = Text("There is a later change: {title}. To redo what was before it, type: plantdesk undo {undo}")
        raise NothingToUndoError(reason, title=read_change(runner, later).title, undo=undo)
    return read_change(runner, undo)


class BroughtBack(NamedTuple):
    """What an undo did to the plants: the members of `Undone` after its change."""

    skipped: int
    skipped_ids: tuple[int, ...]
    ids: tuple[int, ...]
    moved: int
    moved_ids: tuple[tuple[int, int], ...]


def bring_back(
    runner: Runner,
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
    restored = _restore(runner, values, before_return)
    moved = _move(runner, values, last_seq, last_id) if restored < undone.plants else 0
    if restored + moved == 0:
        raise UndoConflictError(undone.plain_title, undone.plants, is_redo=undone.kind is ChangeKind.UNDO)
    _mark(runner, undone.number)
    skipped = max(0, undone.plants - restored - moved)
    skipped_ids = _skipped_ids(runner, values, moved) if skipped else ()
    moved_ids = _moved_ids(runner, values) if moved else ()
    return BroughtBack(skipped, skipped_ids, _returned_ids(runner, values, moved, moved_ids), moved, moved_ids)


def _restore(runner: Runner, values: dict[str, int], before_return: Callable[[dict[str, int]], None]) -> int:
    """Give the plants that nothing has changed since their former rows; return their number."""
    plants: int = runner.execute(_UNDO_IMAGES, values).rowcount
    (present,) = runner.execute(_PRESENT, values).fetchone()
    changed = runner.execute(_GIVE_BACK, values).rowcount if present else 0
    if changed < present:
        runner.execute(_REMOVE_PRESENT, values)
    if changed < plants:
        before_return(values)
        runner.execute(_BRING_BACK + (_IS_GONE if changed else ""), values)
    return plants


def _skipped_ids(runner: Runner, values: dict[str, int], moved: int) -> tuple[int, ...]:
    others = f"AND x.plant_id NOT IN (SELECT x.plant_id {_DISPLACED})" if moved else ""
    return _column(runner, f"{_SKIPPED} {others} LIMIT {_MAX_LISTED}", values)


def _moved_ids(runner: Runner, values: dict[str, int]) -> tuple[tuple[int, int], ...]:
    """Return the old and the new ids of plants that `_move` has brought back."""
    old = _column(runner, f"SELECT x.plant_id {_DISPLACED} ORDER BY x.plant_id LIMIT {_MAX_LISTED}", values)
    return tuple((each, values["last_id"] + place) for place, each in enumerate(old, 1))


def _returned_ids(
    runner: Runner, values: dict[str, int], moved: int, moved_ids: tuple[tuple[int, int], ...]
) -> tuple[int, ...]:
    """Return the ids of all plants that are back; none where they are too many."""
    back = _column(runner, f"SELECT x.plant_id {BACK} LIMIT {_MAX_LISTED + 1}", values)
    return (*back, *(new for _, new in moved_ids)) if len(back) + moved <= _MAX_LISTED else ()


def _move(runner: Runner, values: dict[str, int], last_seq: Callable[[int], int], last_id: Callable[[int], int]) -> int:
    """Bring deleted plants whose ids are in use back under new ids; return their number."""
    (count,) = _column(runner, f"SELECT count(*) {_DISPLACED}", values)
    if count:
        values["count"], values["last_seq"], values["last_id"] = count, last_seq(count), last_id(count)
        runner.execute(_MOVE, values)
        runner.execute(_MOVED_IMAGES, values)
    return count


def _column(runner: Runner, sql: str, values: dict[str, int]) -> tuple[int, ...]:
    return tuple(value for (value,) in runner.execute(sql, values).fetchall())


def no_state_before(change: Change) -> NothingToUndoError:
    """Return the error of a change whose before-images break a rule of the tables: another program wrote them."""
    return NothingToUndoError(Text("There is no valid state before this: {title}."), title=change.title)


def _mark(runner: Runner, number: int) -> None:
    """Mark a change as undone; what it undoes itself is in force again, and so on."""
    sql = "UPDATE change SET undone = :undone WHERE number = :number RETURNING undoes"
    row, is_undone = runner.execute(sql, {"undone": 1, "number": number}).fetchone(), True
    while row is not None and row[0] is not None and row[0] < number:  # else another program wrote it
        number, is_undone = row[0], not is_undone
        row = runner.execute(sql, {"undone": int(is_undone), "number": number}).fetchone()


def _target(runner: Runner, condition: str, none: Text) -> int:
    (number,) = runner.execute(f"SELECT max(number) FROM change WHERE undone = 0 AND {condition}").fetchone()
    if number is None:
        raise NothingToUndoError(none)
    return int(number)
