"""Reads the entries of the history. The functions raise the driver's errors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, literal, select, union

from plantdesk.domain.errors import NothingToUndoError, Text
from plantdesk.domain.folding import searched
from plantdesk.domain.history import Change, ChangeKind, HistoryEntry, PlantChange, texts_of
from plantdesk.domain.protocols import HistorySummary
from plantdesk.domain.records import Source, SourceKind
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, PLANT, SOURCE
from plantdesk.store.rows import row_of

if TYPE_CHECKING:
    from plantdesk.store.database import Runner

#: The member of the stored parameters with the name of the desk; so a copy in a file has it as well.
DESK = "desk"
#: The member with the largest `seq` of a plant before the end of the change: its position in the order of all commits.
LAST_SEQ = "last_seq"
#: What `change_of` needs.
_CHANGES = select(
    CHANGE.c.number,
    CHANGE.c.made_at,
    CHANGE.c.source_id,
    func.coalesce(SOURCE.c.kind, ""),
    func.coalesce(SOURCE.c.label, ""),
    CHANGE.c.kind,
    CHANGE.c.parameters,
    CHANGE.c.plants,
    CHANGE.c.undoes,
    CHANGE.c.undone,
    CHANGE.c.size.is_not(None),
).outerjoin_from(CHANGE, SOURCE)


def read_change(runner: Runner, number: int) -> Change:
    """Return the change of this number. Raises NothingToUndoError if there is none."""
    found = _by_number(runner, [number])
    if not found:
        raise NothingToUndoError(Text("There is no change {number}."), number=number)
    return found[number]


def newest_changes(runner: Runner, limit: int) -> list[Change]:
    """Return at most `limit` changes, newest first."""
    return [*map(change_of, runner.run(_CHANGES.order_by(CHANGE.c.number.desc()).limit(limit)))]


def history_summary(runner: Runner) -> HistorySummary:
    """Return number, oldest time and sources of all changes but undos and redos."""
    is_first = CHANGE.c.undoes.is_(None)
    changes, since = runner.run(select(func.count(), func.min(CHANGE.c.made_at)).where(is_first)).fetchone()
    used = SOURCE.c.id.in_(select(CHANGE.c.source_id).where(is_first))
    rows = runner.run(select(SOURCE.c.id, SOURCE.c.kind, SOURCE.c.label).where(used).order_by(SOURCE.c.id))
    sources = (Source(number, SourceKind(kind), label) for number, kind, label in rows)
    return HistorySummary(changes, since, tuple(sources))


def history_entries(
    runner: Runner,
    limit: int,
    before: int | None,
    text: str,
    source: Source | str | None,
    shown: Callable[[Change], str],
) -> list[HistoryEntry]:
    """Return at most `limit` changes that match, newest first, each with its latest undo and its first plant.

    A text is in the title as it is `shown`, or was in the name of a plant; a source is one, or the name of a desk.
    """
    first, last = _undos(runner)
    wanted = searched(text)
    with_plant = {first.get(number, number) for number in _changes_of_names(runner, wanted)} if text else set()
    statement = _CHANGES.where(CHANGE.c.undoes.is_(None)).order_by(CHANGE.c.number.desc())
    if before is not None:
        statement = statement.where(CHANGE.c.number < before)
    if isinstance(source, Source):
        statement = statement.where(CHANGE.c.source_id == source.id)

    def matches(change: Change) -> bool:
        if isinstance(source, str) and change.desk != source:
            return False
        return change.number in with_plant or _contains(wanted, shown, change)

    with closing(runner.run(statement)) as rows:
        changes = list(islice(filter(matches, map(change_of, rows)), limit))
    numbers = [each.number for each in changes]
    plants = _first_plants(runner, numbers)
    latest = _by_number(runner, [last[each] for each in numbers if each in last])
    return [HistoryEntry(each, latest.get(last.get(each.number, 0), each), plants.get(each.number)) for each in changes]


def plant_history(runner: Runner, plant_id: int, limit: int) -> list[PlantChange]:
    """Return the latest changes of a plant, as far as they are stored: each before-image names the change before it."""
    image = BEFORE_IMAGE.c
    of_plant = image.plant_id == plant_id
    step = (
        select(image.change, image.plant_change, literal(1).label("nth"))
        .join(PLANT, (PLANT.c.id == image.plant_id) & (PLANT.c.change == image.change))
        .where(of_plant)
        .cte("step", recursive=True)
    )
    step = step.union_all(
        select(image.change, image.plant_change, step.c.nth + 1)
        .join(step, image.change == step.c.plant_change)
        .where(of_plant, step.c.nth < limit, image.change < step.c.change)
    )
    of_image = SOURCE.alias()
    version = case((image.plant_change > 0, image.plant_change), else_=-image.seq)
    source = (image.source_id, func.coalesce(of_image.c.kind, ""), func.coalesce(of_image.c.label, ""))
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
    """Return a change of what `_CHANGES` selects."""
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
    """Return the `LAST_SEQ` in stored parameters; 0 if they come from an older PlantDesk or another program."""
    value = _object(parameters).get(LAST_SEQ)
    return value if isinstance(value, int) else 0


def _refused(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    """Return a number that JSON can hold; 1e999 would be written as Infinity. Raises ValueError."""
    return float(text) if math.isfinite(float(text)) else _refused(text)


def _object(text: str) -> dict[str, Any]:
    """Return a JSON object; an empty one if another program has written something else."""
    try:
        value = json.loads(text, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


def _undos(runner: Runner) -> tuple[dict[int, int], dict[int, int]]:
    """Return the original change of each undo or redo, and the latest undo or redo of each original change."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    number, undoes = CHANGE.c.number, CHANGE.c.undoes
    for later, earlier in runner.run(select(number, undoes).where(undoes.is_not(None)).order_by(number)):
        first[later] = first.get(earlier, earlier)
        last[first[later]] = later
    return first, last


def _contains(text: str, shown: Callable[[Change], str], change: Change) -> bool:
    """Return whether a change has the text of a search in its title, as it is shown, or in its parameters."""
    return not text or any(text in searched(each) for each in (shown(change), *texts_of(change.subject[1])))


def _changes_of_names(runner: Runner, text: str) -> list[int]:
    """Return the changes with a plant that had `text` in its name before, or has it now if the change added it."""
    if not runner.database.storable(text):
        return []
    image, contains = BEFORE_IMAGE.c, runner.database.contains
    was = select(image.change).where(contains(image.searched_name, text))
    added = select(image.change).join(PLANT, PLANT.c.id == image.plant_id)
    added = added.where(image.seq.is_(None), contains(PLANT.c.searched_name, text))
    return [number for (number,) in runner.run(union(was, added))]


def _first_plants(runner: Runner, numbers: list[int]) -> dict[int, tuple[int, str, str | None]]:
    """Return id, name and tag of one plant of each change: as it was before, or as it is now if it was added."""
    image, others = BEFORE_IMAGE.c, BEFORE_IMAGE.alias().c
    first = select(func.min(others.plant_id)).where(others.change == CHANGE.c.number).scalar_subquery()
    name = func.coalesce(image.name, PLANT.c.name)
    statement = (
        select(CHANGE.c.number, image.plant_id, name, case((image.name.is_(None), PLANT.c.tag), else_=image.tag))
        .join_from(CHANGE, BEFORE_IMAGE, (image.change == CHANGE.c.number) & (image.plant_id == first))
        .outerjoin(PLANT, PLANT.c.id == image.plant_id)
        .where(runner.database.among(CHANGE.c.number, numbers), name.is_not(None))
    )
    return {number: tuple(plant) for number, *plant in runner.run(statement)}


def _by_number(runner: Runner, numbers: list[int]) -> dict[int, Change]:
    rows = runner.run(_CHANGES.where(runner.database.among(CHANGE.c.number, numbers))) if numbers else ()
    return {row[0]: change_of(row) for row in rows}
