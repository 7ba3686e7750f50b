"""Counts plants by tag, source and day: all of them, or only what has changed since they were counted.

Nearly all of the time is spent inside the database, where the thread does not hold the interpreter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import case, func, literal, select, union_all

from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.selections import AddedOn
from plantdesk.domain.views import Counts
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, PLANT, SOURCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Subquery

    from plantdesk.store.database import Runner

#: Plants that are counted in the time that one changed plant of a difference takes, measured; a new one takes less.
_DIFFERENCE_COST = 8
#: Up to this number of plants, neither way is slow.
_SMALL_STORE = 10_000


class CountedAt(NamedTuple):
    """The position of counts: last sequence number and change, the day, and the epoch of the file (`StoreFile`)."""

    seq: int
    change: int
    day: range
    epoch: int


def count_plants(runner: Runner, before: Counts | None, epoch: int) -> Counts:
    """Return the current counts, in one snapshot of the caller; with earlier ones only the differences are counted.

    `epoch` is that of the file, read before this is called. Raises the driver's errors.
    """
    _, seq, change = runner.database.state(runner)
    now = CountedAt(seq, change, AddedOn(0, 0).milliseconds(), epoch)
    rows = runner.run(select(SOURCE.c.id, SOURCE.c.kind, SOURCE.c.label))
    sources = {source_id: Source(source_id, SourceKind(kind), label) for source_id, kind, label in rows}
    then = before.position if before is not None else None
    if before is not None and isinstance(then, CountedAt) and _is_quick(runner, before, then, now, sources):
        step = _difference(then)
    else:
        before = None
        step = select(PLANT.c.tag, PLANT.c.source_id, PLANT.c.added_at, literal(1).label("number")).subquery()
    columns = (step.c.tag, step.c.source_id)
    is_of_today = step.c.added_at.between(now.day.start, now.day.stop - 1)
    today = func.sum(case((is_of_today, step.c.number), else_=0))
    counted = runner.run(select(*columns, func.sum(step.c.number), today).group_by(*columns))
    steps = (
        (tag, sources.get(source_id, Source(source_id, SourceKind.OTHER)), int(number), int(of_today))
        for tag, source_id, number, of_today in counted
    )
    return (before or Counts({}, {}, 0)).plus(steps, now)


def _is_quick(runner: Runner, before: Counts, then: CountedAt, now: CountedAt, sources: Mapping[int, Source]) -> bool:
    """Whether it is the same day, and all changes since `before` are known, and quicker to count than all plants."""
    if (then.epoch, then.day) != (now.epoch, now.day) or then.seq > now.seq or then.change > now.change:
        return False
    if any(sources.get(each.id) != each for each in before.sources):
        return False  # another program has changed them, which no change shows
    columns = (func.coalesce(func.sum(CHANGE.c.plants), 0), func.count() - func.count(CHANGE.c.size))
    changed, pruned = runner.run(select(*columns).where(CHANGE.c.number > then.change)).fetchone()
    quick = max(int(changed), now.seq - then.seq) * _DIFFERENCE_COST <= max(before.total, _SMALL_STORE)
    return not pruned and quick


def _difference(then: CountedAt) -> Subquery:
    """Return each plant that was there before and is changed or gone, with -1, and each new or changed one, with 1."""
    image = BEFORE_IMAGE.c
    first = (
        select(image.plant_id, func.min(image.change).label("change"))
        .where(image.change > then.change)
        .group_by(image.plant_id)
        .subquery()
    )
    was = select(literal(-1).label("number"), image.tag, image.source_id, image.added_at).join(
        first, (first.c.plant_id == image.plant_id) & (first.c.change == image.change)
    )
    now = select(literal(1), PLANT.c.tag, PLANT.c.source_id, PLANT.c.added_at)
    return union_all(
        was.where(image.seq <= then.seq),
        now.where(PLANT.c.seq > then.seq),
        now.join(first, first.c.plant_id == PLANT.c.id).where(PLANT.c.seq <= then.seq),
    ).subquery()
