"""Counts plants by tag, source and day: all of them, or only what has changed since they were counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.selections import AddedOn
from plantdesk.domain.views import Counts
from plantdesk.store.postgres.connections import execute

if TYPE_CHECKING:
    from plantdesk.store.postgres.connections import Connection

#: Each plant that was there before and is changed or gone, with -1, and each that is new or changed, with 1. OFFSET 0
#: keeps the server from reading all plants where its statistics are old.
_DIFFERENCE = """
    WITH changed AS (
        SELECT DISTINCT ON (plant_id) plant_id, seq, tag, source_id, added_at FROM before_image
        WHERE change > %(change)s ORDER BY plant_id, change
    ), step (number, tag, source_id, added_at) AS (
        SELECT -1, tag, source_id, added_at FROM changed WHERE seq <= %(seq)s
        UNION ALL
        SELECT 1, tag, source_id, added_at FROM plant WHERE seq > %(seq)s
        UNION ALL
        SELECT 1, now.tag, now.source_id, now.added_at FROM changed CROSS JOIN LATERAL (
            SELECT tag, source_id, added_at FROM plant WHERE id = plant_id AND plant.seq <= %(seq)s OFFSET 0) AS now
    )
    SELECT tag, source_id, sum(number), sum(number) FILTER (WHERE added_at >= %(start)s AND added_at < %(stop)s)
    FROM step GROUP BY tag, source_id"""
_ALL = """SELECT tag, source_id, count(*), count(*) FILTER (WHERE added_at >= %(start)s AND added_at < %(stop)s)
          FROM plant GROUP BY tag, source_id"""
_STATE = """SELECT last_seq, last_change,
                   (SELECT coalesce(sum(plants), 0) FROM change WHERE number > %(change)s),
                   EXISTS (SELECT FROM change WHERE number > %(change)s AND size IS NULL)
            FROM state"""
#: Plants that are counted in the time that one changed plant of a difference takes, about.
_DIFFERENCE_COST = 8
#: Up to this number of plants, neither way is slow.
_SMALL_STORE = 10_000


class CountedAt(NamedTuple):
    """The position of counts: last sequence number and change, and the day."""

    seq: int
    change: int
    day: range


def count_plants(connection: Connection, before: Counts | None) -> Counts:
    """Return the current counts; with earlier ones of the same store only the differences are counted.

    Must run in one snapshot. Raises psycopg.Error.
    """
    then = before.position if before is not None and isinstance(before.position, CountedAt) else None
    known = then.change if then else 0
    row = execute(connection, _STATE, {"change": known}).fetchone() or (0, 0, 0, True)
    seq, change, changed, is_pruned = row
    now = CountedAt(seq, change, AddedOn(0, 0).milliseconds())
    values = {"start": now.day.start, "stop": now.day.stop, "seq": then.seq if then else 0, "change": known}
    is_quick = (
        before is not None
        and then is not None
        and (then.day == now.day and then.seq <= seq and then.change <= change and not is_pruned)
        and max(changed, seq - then.seq) * _DIFFERENCE_COST <= max(before.total, _SMALL_STORE)
    )
    named = {
        each[0]: Source(each[0], SourceKind(each[1]), each[2])
        for each in execute(connection, "SELECT id, kind, label FROM source")
    }
    rows = execute(connection, _DIFFERENCE if is_quick else _ALL, values)
    steps = ((tag, named[source_id], int(step), int(step_today or 0)) for tag, source_id, step, step_today in rows)
    return (before if is_quick and before is not None else Counts({}, {}, 0)).plus(steps, now)
