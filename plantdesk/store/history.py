"""Reads the entries of the history; prunes outdated before-images and keys of commits, some rows at a time.

The functions raise the driver's errors; those that prune need a transaction that keeps others from writing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import sqlalchemy as sa

from plantdesk.domain.errors import NothingToUndoError
from plantdesk.domain.folding import fold
from plantdesk.domain.history import Change, ChangeKind, HistoryEntry, HistorySummary, PlantChange, PlantLabel, texts_of
from plantdesk.domain.records import Source
from plantdesk.domain.texts import Text
from plantdesk.store.database import Runner, version_of
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, COMMIT, PLANT, SOURCE, STATE
from plantdesk.store.rows import FIRST_UNCOUNTED_ID, read_sources, row_of, source_columns, source_of

#: The member of the stored parameters with the name of the desk; so a copy in a file has it as well.
DESK = "desk"
#: The member with the largest `seq` of a plant before the end of the change: its position in the order of all commits.
LAST_SEQ = "last_seq"
#: Selects the columns from which `change_of` makes a Change.
_CHANGES = sa.select(
    CHANGE.c.number,
    CHANGE.c.made_at,
    CHANGE.c.source_id,
    *source_columns(),
    CHANGE.c.kind,
    CHANGE.c.parameters,
    CHANGE.c.plants,
    CHANGE.c.undoes,
    CHANGE.c.undone,
    CHANGE.c.size.is_not(None),
).outerjoin_from(CHANGE, SOURCE)
#: Milliseconds for which before-images, and keys of commits, are stored.
_MAX_IMAGE_AGE_MS = 90 * 86_400_000
_MAX_KEY_AGE_MS = 30 * 86_400_000
#: The newest changes stay undoable whatever their age: a clock that was wrong once must not remove them all.
_MIN_CHANGES = 20
#: Bytes of before-images that stay.
_MAX_IMAGE_BYTES = 100_000_000
#: The most rows that one call of `prune` removes, some milliseconds of work: others wait for it.
_PRUNED_ROWS = 10_000


def read_change(runner: Runner, number: int) -> Change:
    """Return the change of this number. Raises NothingToUndoError if there is none."""
    changes = _read_changes_by_number(runner, [number])
    if not changes:
        raise NothingToUndoError(Text("There is no change {number}."), number=number)
    return changes[number]


def read_newest_changes(runner: Runner, limit: int) -> list[Change]:
    """Return at most `limit` changes, newest first."""
    return [*map(change_of, runner.run(_CHANGES.order_by(CHANGE.c.number.desc()).limit(limit)))]


def read_history_summary(runner: Runner) -> HistorySummary:
    """Return number, oldest time and sources of all changes but undos and redos."""
    is_first = CHANGE.c.undoes.is_(None)
    changes, since = runner.run(sa.select(sa.func.count(), sa.func.min(CHANGE.c.made_at)).where(is_first)).one()
    is_source_of_change = SOURCE.c.id.in_(sa.select(CHANGE.c.source_id).where(is_first))
    return HistorySummary(changes, since, tuple(read_sources(runner, is_source_of_change)))


def read_history_entries(
    runner: Runner,
    limit: int,
    before: int | None,
    text: str,
    source: Source | str | None,
    shown: Callable[[Change], str] | None,
) -> list[HistoryEntry]:
    """Return at most `limit` changes that match, newest first, each with its latest undo and its first plant.

    `text` must be in the title, as `shown` returns it (default: in English), a parameter, or a plant's name.
    `source` is a source, or the name of a desk.
    """
    originals, latest = _read_undo_chains(runner)
    wanted = fold(text)
    named = {originals.get(number, number) for number in _find_changes_by_name(runner, wanted)} if text else set()
    statement = _CHANGES.where(CHANGE.c.undoes.is_(None)).order_by(CHANGE.c.number.desc())
    if before is not None:
        statement = statement.where(CHANGE.c.number < before)
    if isinstance(source, Source):
        statement = statement.where(CHANGE.c.source_id == source.id)

    def matches(change: Change) -> bool:
        if isinstance(source, str) and change.desk != source:
            return False
        return change.number in named or _matches_text(wanted, shown or (lambda change: str(change.title)), change)

    with closing(runner.run(statement)) as rows:
        changes = list(islice(filter(matches, map(change_of, rows)), limit))
    numbers = [change.number for change in changes]
    plants = _read_first_plants(runner, numbers)
    reversals = _read_changes_by_number(runner, [latest[number] for number in numbers if number in latest])
    return [
        HistoryEntry(change, reversals.get(latest.get(change.number, 0), change), plants.get(change.number))
        for change in changes
    ]


def read_plant_history(runner: Runner, plant_id: int, limit: int) -> list[PlantChange]:
    """Return the latest changes of a plant that are still stored: each before-image names the change before it."""
    image = BEFORE_IMAGE.c
    of_plant = image.plant_id == plant_id
    step = (
        sa.select(image.change, image.plant_change, sa.literal(1).label("nth"))
        .join(PLANT, (PLANT.c.id == image.plant_id) & (PLANT.c.change == image.change))
        .where(of_plant)
        .cte("step", recursive=True)
    )
    step = step.union_all(
        sa.select(image.change, image.plant_change, step.c.nth + 1)
        .join(step, image.change == step.c.plant_change)
        .where(of_plant, step.c.nth < limit, image.change < step.c.change)
    )
    of_image = SOURCE.alias()
    version = version_of(image.plant_change, image.seq)
    source = (image.source_id, *source_columns(of_image))
    statement = (
        _CHANGES.add_columns(image.plant_id, image.name, image.tag, image.added_at, *source, version, image.note)
        .join(step, step.c.change == CHANGE.c.number)
        .join(BEFORE_IMAGE, (image.change == CHANGE.c.number) & of_plant)
        .outerjoin(of_image, of_image.c.id == image.source_id)
        .order_by(step.c.nth)
    )
    width = len(_CHANGES.selected_columns)
    return [
        PlantChange(change_of(row[:width]), row_of(row[width:]) if row[width + 1] is not None else None)
        for row in runner.run(statement.limit(limit))
    ]


def change_of(row: Sequence[Any]) -> Change:
    """Make a Change of a row that the SELECT `_CHANGES` returns."""
    number, made_at, source_id, source_kind, label, kind, parameters, plants, undoes, undone, has_images = row
    source = source_of(source_id, source_kind, label)
    can_undo = bool(has_images) and not undone
    own_parameters = _parse_object(parameters)
    own_parameters.pop(LAST_SEQ, None)
    desk = own_parameters.pop(DESK, "")
    desk = desk if isinstance(desk, str) else ""
    kind = ChangeKind(kind)
    plants = max(0, plants)
    return Change(number, made_at, source, kind, own_parameters, plants, undoes, bool(undone), can_undo, desk)


def last_seq_of(parameters: str) -> int:
    """Return the `LAST_SEQ` in stored parameters; 0 if they come from an older PlantDesk or another program."""
    value = _parse_object(parameters).get(LAST_SEQ)
    return value if isinstance(value, int) else 0


def _parse_object(text: str) -> dict[str, Any]:
    """Return a JSON object; an empty one if another program has written something else."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)  # 1e999 would be written as Infinity, which is no JSON
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


def _read_undo_chains(runner: Runner) -> tuple[dict[int, int], dict[int, int]]:
    """Return the original change of each undo or redo, and the latest undo or redo of each original change."""
    originals: dict[int, int] = {}
    latest: dict[int, int] = {}
    number = CHANGE.c.number
    undoes = CHANGE.c.undoes
    for later, earlier in runner.run(sa.select(number, undoes).where(undoes.is_not(None)).order_by(number)):
        originals[later] = originals.get(earlier, earlier)
        latest[originals[later]] = later
    return originals, latest


def _matches_text(text: str, shown: Callable[[Change], str], change: Change) -> bool:
    """Return whether a change has the text of a search in its title, as it is shown, or in its parameters."""
    return not text or any(text in fold(candidate) for candidate in (shown(change), *texts_of(change.subject[1])))


def _find_changes_by_name(runner: Runner, text: str) -> list[int]:
    """Return the changes with a plant that had `text` in its name before, or has it now if the change added it."""
    if not runner.database.is_storable(text):
        return []
    image = BEFORE_IMAGE.c
    contains = runner.database.contains
    was = sa.select(image.change).where(contains(image.searched_name, text))
    added = sa.select(image.change).join(PLANT, PLANT.c.id == image.plant_id)
    added = added.where(image.seq.is_(None), contains(PLANT.c.searched_name, text))
    return [*runner.run(sa.union(was, added)).scalars()]


def _read_first_plants(runner: Runner, numbers: list[int]) -> dict[int, PlantLabel]:
    """Return id, name and tag of one plant of each change: as it was before, or as it is now if it was added."""
    image = BEFORE_IMAGE.c
    other_image = BEFORE_IMAGE.alias().c
    first = sa.select(sa.func.min(other_image.plant_id)).where(other_image.change == CHANGE.c.number).scalar_subquery()
    name = sa.func.coalesce(image.name, PLANT.c.name)
    statement = (
        sa.select(CHANGE.c.number, image.plant_id, name, sa.case((image.name.is_(None), PLANT.c.tag), else_=image.tag))
        .join_from(CHANGE, BEFORE_IMAGE, (image.change == CHANGE.c.number) & (image.plant_id == first))
        .outerjoin(PLANT, PLANT.c.id == image.plant_id)
        .where(runner.database.is_one_of(CHANGE.c.number, numbers), name.is_not(None))
    )
    return {number: PlantLabel(*plant) for number, *plant in runner.run(statement)}


def _read_changes_by_number(runner: Runner, numbers: list[int]) -> dict[int, Change]:
    rows = runner.run(_CHANGES.where(runner.database.is_one_of(CHANGE.c.number, numbers))) if numbers else ()
    return {row[0]: change_of(row) for row in rows}


# --- pruning ---


def prune(runner: Runner) -> bool:
    """Remove some outdated before-images, none of the newest change; return whether there may be more."""
    change = CHANGE.c
    image = BEFORE_IMAGE.c
    is_outdated = sa.and_(change.number <= _find_newest_outdated(runner), change.size.is_not(None))
    runner.run(sa.update(CHANGE).where(is_outdated).values(size=None))
    step = sa.select(image.change, image.plant_id).where(image.change < _find_oldest_stored(runner)).limit(_PRUNED_ROWS)
    removed = runner.run(
        sa.delete(BEFORE_IMAGE).where(sa.tuple_(image.change, image.plant_id).in_(step.correlate(None)))
    )
    return bool(removed.rowcount == _PRUNED_ROWS)


def is_prunable(runner: Runner) -> bool:
    """Return whether `prune` has something to do. Reads only entries, so it takes little time."""
    oldest_image = runner.run(sa.select(sa.func.min(BEFORE_IMAGE.c.change))).scalar_one()
    if oldest_image is None:
        return False
    oldest = _find_oldest_stored(runner)
    return int(oldest_image) < oldest or _find_newest_outdated(runner) >= oldest


def prune_commits(runner: Runner) -> bool:
    """Remove some keys of old commits of a server, but never the last one; return whether there may be more."""
    is_old = COMMIT.c.made_at < runner.database.now() - _MAX_KEY_AGE_MS
    is_last = sa.func.coalesce(COMMIT.c.position, 0) >= sa.select(STATE.c.position).scalar_subquery()
    step = sa.select(COMMIT.c.key).where(is_old, ~is_last).limit(_PRUNED_ROWS).correlate(None)
    return bool(runner.run(sa.delete(COMMIT).where(COMMIT.c.key.in_(step))).rowcount == _PRUNED_ROWS)


def _find_oldest_stored(runner: Runner) -> int:
    """Return the number of the oldest change with stored before-images; a very large one if there is none."""
    number = sa.func.coalesce(sa.func.min(CHANGE.c.number), FIRST_UNCOUNTED_ID)
    return int(runner.run(sa.select(number).where(CHANGE.c.size.is_not(None))).scalar_one())


def _find_newest_outdated(runner: Runner) -> int:
    """Return the number of the newest change whose before-images are to be removed; 0 for none."""
    change = CHANGE.c
    newest_first = CHANGE.c.number.desc()
    rank = sa.func.row_number().over(order_by=newest_first).label("place")
    # As floats: sizes that another program wrote may be too large together.
    total = sa.func.sum(sa.cast(change.size, sa.Float)).over(order_by=newest_first).label("total")
    stored = sa.select(change.number, change.made_at, rank, total).where(change.size.is_not(None)).subquery().c
    is_too_old = sa.and_(stored.made_at < runner.database.now() - _MAX_IMAGE_AGE_MS, stored.place > _MIN_CHANGES)
    newest = sa.select(sa.func.coalesce(sa.func.max(stored.number), 0))
    newest = newest.where(stored.place > 1, sa.or_(stored.total > _MAX_IMAGE_BYTES, is_too_old))
    return int(runner.run(newest).scalar_one())
