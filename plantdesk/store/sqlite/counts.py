"""Counts plants by tag, source and day: all of them, or only what has changed since they were counted.

A count of a million plants takes 0.4 s; one plant that was added, edited, deleted or brought back, 1 ms. Nearly all of
that is spent inside SQLite, where the thread does not hold the interpreter.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.records import Source, SourceKind, now_ms
from plantdesk.domain.selections import AddedOn
from plantdesk.domain.views import Counts
from plantdesk.store.sqlite.connections import snapshot
from plantdesk.store.sqlite.history import is_pruned_since, last_number
from plantdesk.store.sqlite.row_reads import last_seq

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

#: Each plant that was there before and is changed or gone, with -1, and each that is new or changed, with 1. Beside
#: min() SQLite takes the other columns from the same row (https://sqlite.org/lang_select.html#bareagg).
_DIFFERENCE = """
    WITH changed AS (
        SELECT plant_id, min(change), seq, tag, source_id, added_at FROM before_image WHERE change > :change
        GROUP BY plant_id
    ), step (number, tag, source_id, added_at) AS (
        SELECT -1, tag, source_id, added_at FROM changed WHERE seq <= :seq
        UNION ALL
        SELECT 1, tag, source_id, added_at FROM plant WHERE seq > :seq
        UNION ALL
        SELECT 1, plant.tag, plant.source_id, plant.added_at FROM changed JOIN plant ON plant.id = plant_id
        WHERE plant.seq <= :seq
    )
    SELECT tag, source_id, sum(number), sum(number * (added_at >= :start AND added_at < :stop)) FROM step
    GROUP BY tag, source_id"""
_CHANGED_PLANTS = "SELECT total(plants) FROM change WHERE number > ?"
#: Plants that SQLite counts in the time that one changed plant of a difference takes, measured; a new one takes less.
_DIFFERENCE_COST = 8
#: Up to this number of plants, neither way is slow.
_SMALL_STORE = 10_000
#: A table of counts instead of GROUP BY, for which SQLite would sort all plants, which takes twice as long. The number
#: 0 is for plants without a tag: a tag is never a number.
_COUNT_TABLE = "CREATE TEMP TABLE tag_count (tag PRIMARY KEY, plants INTEGER NOT NULL) WITHOUT ROWID"
_COUNT_TAGS = """INSERT INTO temp.tag_count SELECT coalesce(tag, 0), 1 FROM plant WHERE true
                 ON CONFLICT DO UPDATE SET plants = plants + 1"""
_TODAY = "SELECT count(*) FILTER (WHERE added_at >= ? AND added_at < ?)"
#: With more tags than this, counting them in a write transaction would take seconds.
MAX_TAGS = 10_000
_SAMPLED_TAGS = f"SELECT count(DISTINCT tag) FROM (SELECT tag FROM plant ORDER BY seq DESC LIMIT {2 * MAX_TAGS})"
_STORED = (
    "SELECT tag, plants FROM plant_count WHERE source_id IS NULL",
    "SELECT source_id, plants FROM plant_count WHERE source_id IS NOT NULL",
)
#: With more sources than this, sorting all plants by their source is quicker than comparing each plant with each.
_MAX_COMPARED = 20


class CountedAt(NamedTuple):
    """The position of counts: last sequence number and change, the day, and the epoch of the file (`StoreFile`)."""

    seq: int
    change: int
    day: range
    epoch: int = 0


def count_plants(connection: sqlite3.Connection, before: Counts | None, epoch: int) -> Counts:
    """Return the current counts; with earlier ones of the same store (`before`) only the differences are counted.

    `epoch` is that of the file, read before this is called. Raises StoreDamagedError and sqlite3.Error.
    """
    with snapshot(connection):
        now, sources = _now(connection)._replace(epoch=epoch), _sources(connection)
        known = before if before is not None and _at(before).epoch == epoch else None
        if known is not None and any(sources.get(each.id, _unknown(each.id)) != each for each in known.sources):
            known = None  # another program has changed them, which no change shows
        known = known and _quickest(connection, sources, known, now)
        if known is None:
            return _all(connection, sources, now)
        return _changed(connection, sources, known, now)


def next_counts(connection: sqlite3.Connection, plants: int) -> Counts | None:
    """Return what `store_counts` is to know of the next change, of so many plants, which alters no tag or source.

    Raises StoreDamagedError and sqlite3.Error.
    """
    if not _is_worth_storing(connection, plants) or _has_too_many_tags(connection):
        return None
    now = _now(connection)
    return _all(connection, _sources(connection), now._replace(change=now.change + 1))


def counts_after(before: Counts, added: Mapping[str | None, int], source: Source, seq: int) -> Counts:
    """Return what `store_counts` is to know after plants of a new source were added to those of `next_counts`.

    `added` are their numbers by tag, `seq` is the sequence number of the last of them.
    """
    at, plants = _at(before), sum(added.values())
    tags, sources = Counter(before.tags) + Counter(added), {**before.sources, source: plants}
    today = before.today + (plants if now_ms() in at.day else 0)
    return Counts(dict(tags), sources, today, at._replace(seq=seq))


def store_counts(connection: sqlite3.Connection, plants: int, known: Counts | None) -> None:
    """Store the counts, within the transaction of a change of so many `plants` that readers would count all again.

    `known` are those of `next_counts`, before plants were added, or of `counts_after`. Raises StoreDamagedError and
    sqlite3.Error.
    """
    if not _is_worth_storing(connection, plants):
        return
    connection.execute("DELETE FROM counted_at")
    connection.execute("DELETE FROM plant_count")
    now = _now(connection)
    is_counted = known is not None and _at(known) == now
    if not is_counted and _has_too_many_tags(connection):
        return
    named = _sources(connection)
    if known is not None and _at(known).change == now.change:
        tags, sources, today, _ = _changed(connection, named, known, now)
    else:
        tags, sources, today, _ = _all(connection, named, now)
    values = (now.seq, now.change, now.day.start, now.day.stop, today)
    connection.execute("INSERT INTO counted_at VALUES (1, ?, ?, ?, ?, ?)", values)
    connection.executemany("INSERT INTO plant_count (tag, plants) VALUES (?, ?)", tags.items())
    rows = ((source.id, count) for source, count in sources.items())
    connection.executemany("INSERT INTO plant_count (source_id, plants) VALUES (?, ?)", rows)


def _is_worth_storing(connection: sqlite3.Connection, plants: int) -> bool:
    cost = plants * (_DIFFERENCE_COST + 1)  # one more, as so many plants may have been added
    return cost > _SMALL_STORE and cost > _single(connection, "SELECT count(*) FROM plant")


def _has_too_many_tags(connection: sqlite3.Connection) -> bool:
    return _single(connection, _SAMPLED_TAGS) > MAX_TAGS


def _quickest(
    connection: sqlite3.Connection, sources: dict[int, Source], before: Counts, now: CountedAt
) -> Counts | None:
    """Return the counts to go on from: `before`, or stored ones; None where counting all plants is quicker."""
    if _is_quick(connection, before, now):
        return before
    stored = _stored_since(connection, sources, _at(before))
    return stored if stored is not None and _is_quick(connection, stored, now) else None


def _stored_since(connection: sqlite3.Connection, sources: dict[int, Source], then: CountedAt) -> Counts | None:
    """Return the counts of the last change of very many plants, unless it is older than `then`.

    Older ones lack what other programs, such as sqlite3, have changed before `then`.
    """
    sql = "SELECT seq, change, day_start, day_stop, today FROM counted_at WHERE change > ?"
    row = connection.execute(sql, (then.change,)).fetchone()
    if row is None:
        return None
    seq, change, start, stop, today = row
    tags, by_source = (dict(connection.execute(sql)) for sql in _STORED)
    found = {sources.get(source_id, _unknown(source_id)): plants for source_id, plants in by_source.items()}
    return Counts(tags, found, today, CountedAt(seq, change, range(start, stop)))


def _at(counts: Counts) -> CountedAt:
    if not isinstance(counts.position, CountedAt):
        raise TypeError(counts.position)
    return counts.position


def _now(connection: sqlite3.Connection) -> CountedAt:
    return CountedAt(last_seq(connection), last_number(connection), AddedOn(0, 0).milliseconds())


def _is_quick(connection: sqlite3.Connection, before: Counts, now: CountedAt) -> bool:
    """Whether everything that changed since `before` is still known, and quicker to count than all plants."""
    then = _at(before)
    if then.seq > now.seq or then.change > now.change or is_pruned_since(connection, then.change):
        return False
    (changed,) = connection.execute(_CHANGED_PLANTS, (then.change,)).fetchone()
    return bool(max(changed, now.seq - then.seq) * _DIFFERENCE_COST <= max(before.total, _SMALL_STORE))


def _all(connection: sqlite3.Connection, sources: dict[int, Source], now: CountedAt) -> Counts:
    connection.execute(_COUNT_TABLE)
    connection.execute(_COUNT_TAGS)
    tags: Counter[str | None] = Counter()
    for tag, plants in connection.execute("SELECT tag, plants FROM temp.tag_count"):
        tags[None if tag == 0 else tag] += plants  # two tags that are not UTF-8 may be read as the same text
    connection.execute("DROP TABLE temp.tag_count")
    compared = list(sources)[:_MAX_COMPARED]
    columns = "".join(f", count(*) FILTER (WHERE source_id = {source_id})" for source_id in compared)
    today, *numbers = connection.execute(f"{_TODAY}{columns} FROM plant", (now.day.start, now.day.stop)).fetchone()
    found = {sources[source_id]: count for source_id, count in zip(compared, numbers, strict=True) if count}
    if sum(numbers) < tags.total():
        by_source = connection.execute("SELECT source_id, count(*) FROM plant GROUP BY source_id")
        found = {sources.get(source_id, _unknown(source_id)): count for source_id, count in by_source}
    return Counts(dict(tags), found, today, now)


def _changed(connection: sqlite3.Connection, sources: dict[int, Source], before: Counts, now: CountedAt) -> Counts:
    tags, found = Counter(before.tags), Counter(before.sources)
    today, day = before.today, now.day
    then = _at(before)
    values = {"seq": then.seq, "change": then.change, "start": day.start, "stop": day.stop}
    for tag, source_id, step, step_today in connection.execute(_DIFFERENCE, values):
        tags[tag] += step
        found[sources.get(source_id, _unknown(source_id))] += step
        today += step_today
    if then.day != day:
        (today,) = connection.execute(f"{_TODAY} FROM plant", (day.start, day.stop)).fetchone()
    return Counts(dict(+tags), dict(+found), today, now)


def _sources(connection: sqlite3.Connection) -> dict[int, Source]:
    rows = connection.execute("SELECT id, kind, label FROM source")
    return {source_id: Source(source_id, SourceKind(kind), label) for source_id, kind, label in rows}


def _single(connection: sqlite3.Connection, sql: str) -> int:
    (number,) = connection.execute(sql).fetchone()
    return int(number)


def _unknown(source_id: int) -> Source:
    return Source(source_id, SourceKind.OTHER)
