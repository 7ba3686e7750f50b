"""Removes what is outdated, a step at a time: before-images, and on a server the keys of old commits.

The functions raise the driver's errors; those that remove something need a transaction that keeps others from writing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Float, and_, cast, delete, func, or_, select, tuple_, update

from plantdesk.store.ids import NO_ROOM
from plantdesk.store.models import BEFORE_IMAGE, CHANGE, COMMIT, STATE

if TYPE_CHECKING:
    from plantdesk.store.database import Runner

#: Milliseconds for which before-images and keys are stored.
_MAX_AGE, _KEY_AGE = 90 * 86_400_000, 30 * 86_400_000
#: Newest changes that stay whatever their age: a clock that was wrong once must not remove them all.
_MIN_CHANGES = 20
#: Bytes of before-images, or a fraction of the store's size if that is more.
_MAX_SIZE = 100_000_000
_MAX_FRACTION = 0.1
#: Rows that one step removes, some milliseconds of work: others wait for it.
_STEP = 10_000


def prune(runner: Runner) -> bool:
    """Remove some outdated before-images; return whether there may be more.

    The newest change can always be undone, however large it is.
    """
    change, image = CHANGE.c, BEFORE_IMAGE.c
    is_outdated = and_(change.number <= _newest_outdated(runner), change.size.is_not(None))
    runner.run(update(CHANGE).where(is_outdated).values(size=None))
    step = select(image.change, image.plant_id).where(image.change < _oldest_stored(runner)).limit(_STEP)
    removed = runner.run(delete(BEFORE_IMAGE).where(tuple_(image.change, image.plant_id).in_(step.correlate(None))))
    return bool(removed.rowcount == _STEP)


def is_prunable(runner: Runner) -> bool:
    """Return whether `prune` has something to do. Reads only entries, so it takes little time."""
    (oldest_image,) = runner.run(select(func.min(BEFORE_IMAGE.c.change))).fetchone()
    if oldest_image is None:
        return False
    oldest = _oldest_stored(runner)
    return int(oldest_image) < oldest or _newest_outdated(runner) >= oldest


def prune_commits(runner: Runner) -> bool:
    """Remove some keys of old commits of a server, but never the last one; return whether there may be more."""
    is_old = COMMIT.c.made_at < runner.database.now() - _KEY_AGE
    is_last = func.coalesce(COMMIT.c.position, 0) >= select(STATE.c.position).scalar_subquery()
    step = select(COMMIT.c.key).where(is_old, ~is_last).limit(_STEP).correlate(None)
    return bool(runner.run(delete(COMMIT).where(COMMIT.c.key.in_(step))).rowcount == _STEP)


def _oldest_stored(runner: Runner) -> int:
    """Return the number of the oldest change with stored before-images; a very large one if there is none."""
    number = func.coalesce(func.min(CHANGE.c.number), NO_ROOM)
    (found,) = runner.run(select(number).where(CHANGE.c.size.is_not(None))).fetchone()
    return int(found)


def _newest_outdated(runner: Runner) -> int:
    """Return the number up to which before-images are to be removed, 0 for none."""
    change, newest_first = CHANGE.c, CHANGE.c.number.desc()
    place = func.row_number().over(order_by=newest_first).label("place")
    # As floats: sizes that another program wrote may be too large together.
    total = func.sum(cast(change.size, Float)).over(order_by=newest_first).label("total")
    stored = select(change.number, change.made_at, place, total).where(change.size.is_not(None)).subquery().c
    is_too_large = and_(stored.total > _MAX_SIZE, stored.total > runner.database.store_size() * _MAX_FRACTION)
    is_too_old = and_(stored.made_at < runner.database.now() - _MAX_AGE, stored.place > _MIN_CHANGES)
    newest = select(func.coalesce(func.max(stored.number), 0))
    (number,) = runner.run(newest.where(stored.place > 1, or_(is_too_large, is_too_old))).fetchone()
    return int(number)
