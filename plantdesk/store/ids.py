"""The ids that a store gives: larger than all that its plants ever had, so that none is given twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, literal, select, union, union_all

from plantdesk.domain.records import LARGEST_ID
from plantdesk.store.models import BEFORE_IMAGE, PLANT

if TYPE_CHECKING:
    from sqlalchemy import Table

    from plantdesk.store.database import Runner

#: Ids from here on, which only users give, do not count as the largest one: they leave no room for others.
NO_ROOM = 2**62


def id_before_new(runner: Runner, count: int = 1, *others: Table) -> int:
    """Return an id: the next `count` ids were never those of a plant of the store or a row of the tables `others`.

    It is the largest id in use or, if that leaves no room, the one before the first gap that is large enough. Raises
    the driver's errors.
    """
    ids = [table.c.id for table in (PLANT, *others)]
    used = (select(func.max(each).label("id")).where(each < NO_ROOM) for each in ids)
    largest = func.max(union_all(runner.database.last_id, *used).subquery("used").c.id)
    (found,) = runner.run(select(func.coalesce(largest, 0))).fetchone()
    if found + count < NO_ROOM:
        return max(int(found), 0)
    given = [*ids, BEFORE_IMAGE.c.plant_id]
    known = union(select(literal(0, PLANT.c.id.type).label("id")), *(select(each).where(each > 0) for each in given))
    number = known.subquery("used").c.id
    last = func.coalesce(func.lead(number).over(order_by=number) - 1, LARGEST_ID).label("last")
    gap = select(number.label("id"), last).subquery("gap").c
    (found,) = runner.run(select(func.min(gap.id)).where(gap.last - gap.id >= count)).fetchone()
    return int(found)
