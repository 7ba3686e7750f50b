"""Reading the store: the order of the rows in a view, pages of rows by id, and short queries.

All readers of a desk share one connection, query by query: a server has few of them.
"""

from __future__ import annotations

import sys
import threading
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from typing_extensions import override

from plantdesk.domain.duplicates import PlantGroups
from plantdesk.domain.errors import StoreClosedError, StoreError
from plantdesk.domain.folding import natural_key
from plantdesk.domain.protocols import FindsRows, PlantReader
from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.selections import Selection
from plantdesk.domain.views import KnownName, View, find_insertion_points
from plantdesk.store.history import newest_changes
from plantdesk.store.postgres.connections import READER, connect, execute, shared, storable, translate_errors
from plantdesk.store.postgres.counts import count_plants
from plantdesk.store.postgres.desks import AT_WORK, desk_name, desks
from plantdesk.store.postgres.dialect import INDEXED, SORTED_BY_INDEX, alike_key, condition_of, order_by
from plantdesk.store.postgres.history import history_entries, history_summary, plant_history
from plantdesk.store.postgres.rows import PAGE, SELECT, last_id, row_of, rows_by_id, rows_cut
from plantdesk.store.sql import VERSION

if TYPE_CHECKING:
    from plantdesk.domain.desks import Desk
    from plantdesk.domain.events import EventPage
    from plantdesk.domain.history import Change, HistoryEntry, PlantChange
    from plantdesk.domain.protocols import HistorySummary
    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.views import Counts, InsertionPoint
    from plantdesk.store.conditions import Condition
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.connections import Connection

_Result = TypeVar("_Result")

#: Seconds for which others do not wait for a server that has just not answered.
_RETRY_DELAY = 0.5
#: Seconds between two attempts to end the query that runs.
_CLOSE_DELAY = 0.5
#: Ids in the first chunk of a view, a few screens, and in later ones.
_FIRST_CHUNK, _CHUNK = 512, 200_000
#: Plants among which names are counted.
_MAX_COUNTED = 50_000
_KNOWN_NAMES = """SELECT name, (array_agg(tag ORDER BY seq DESC))[1], count(*) FROM (
                      SELECT name, tag, seq FROM plant WHERE {} ORDER BY {} DESC LIMIT {}) AS found
                  GROUP BY name ORDER BY count(*) DESC, max(seq) DESC LIMIT {}"""
_DUPLICATES = f"""WITH alike AS (
        SELECT {{key}} AS key, count(*) AS size, string_agg(int8send(id), '' ORDER BY id) AS ids,
               string_agg(int8send({VERSION}), '' ORDER BY id) AS versions
        FROM plant GROUP BY 1 HAVING count(*) > 1)
    SELECT string_agg(ids, '' ORDER BY key), string_agg(versions, '' ORDER BY key),
           string_agg(int8send(size), '' ORDER BY key)
    FROM alike WHERE left(key, 1) NOT IN ('', E'\\x1f')"""
_TWO_SOURCES = """WITH one AS (SELECT source_id FROM plant LIMIT 1)
                  SELECT source_id FROM one
                  UNION ALL (SELECT source_id FROM plant WHERE source_id <> (SELECT source_id FROM one) LIMIT 1)"""


_LISTED = "plant_id IN (SELECT value::bigint FROM json_array_elements_text(:ids::json))"


class ReadConnection:
    """The connection of all readers of a desk, opened with the first query and again after it was lost."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._using = threading.Lock()
        self._cancelling = threading.Lock()
        self._user: object = None
        self._connection: Connection | None = None
        self._is_closed = False
        self._failure: StoreError | None = None
        self._retry_at = 0.0

    def ask(self, user: object, query: Callable[[Connection], _Result], *, snapshot: bool = False) -> _Result:
        """Run a query; once more on a new connection where the old one turns out to be lost. Raises StoreError.

        `snapshot`: several statements read one state of the store.
        """
        with self._using:
            while True:
                is_new = self._connection is None
                connection = self._open()
                try:
                    with translate_errors(self.address):
                        self._user = user
                        return _in_snapshot(connection, query) if snapshot else query(connection)
                except Exception:
                    if is_new or not connection.closed:
                        raise
                finally:
                    with self._cancelling:
                        self._user = None
                    if connection.closed:
                        self._connection = None

    def cancel(self, user: object) -> None:
        """Cancel the query of `user`, if it runs, without waiting for the server."""
        threading.Thread(target=self._cancel, args=(user,), name="query-cancel", daemon=True).start()

    def close(self) -> None:
        """Close it, after the query that runs is cancelled; later ones raise StoreClosedError."""
        self._is_closed = True
        while not self._using.acquire(timeout=_CLOSE_DELAY):
            self.cancel(self._user)
        try:
            if self._connection is not None:
                self._connection.close()
        finally:
            self._using.release()

    def abandon(self) -> None:
        """Wait no longer for the server, now and later. Any thread."""
        self._is_closed = True
        if (connection := self._connection) is not None:
            connection.abandon()

    def drop(self) -> None:
        """Connect anew with the next query, as after a sleep of the computer."""
        with self._using:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> Connection:
        if self._is_closed:
            raise StoreClosedError
        if self._connection is None:
            if self._failure is not None and time.monotonic() < self._retry_at:
                raise self._failure
            try:
                self._connection = connect(self.address, READER)
            except StoreError as error:
                self._failure, self._retry_at = error, time.monotonic() + _RETRY_DELAY
                raise
        return self._connection

    def _cancel(self, user: object) -> None:
        with self._cancelling:  # the next query does not begin meanwhile
            if self._user is user and self._connection is not None:
                with suppress(psycopg.Error):
                    self._connection.cancel_safe(timeout=2)


def _in_snapshot(connection: Connection, query: Callable[[Connection], _Result]) -> _Result:
    with connection.transaction(force_rollback=True):
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return query(connection)


class PostgresReader(PlantReader, FindsRows):
    """A reader. One thread at a time may use it, but any thread may interrupt it."""

    def __init__(self, shared: ReadConnection) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self._is_asking = self._is_interrupted = False

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        key = INDEXED.get(view.order)
        if key is None:
            first = array("q")
            if view.plants == Selection() and view.order in SORTED_BY_INDEX:
                first = self._ask(lambda connection: _first_sorted(connection, view))
                yield from _chunks(first)
            every = self._ask(lambda connection: _ids(connection, view))
            yield from _chunks(_without(every, first), _CHUNK if first else _FIRST_CHUNK)
            return
        found = condition_of(view.plants)
        first, smallest, largest = self._ask(lambda connection: _page(connection, view, found, key, _FIRST_CHUNK))
        yield from _chunks(first)
        if len(first) == _FIRST_CHUNK:
            bound = f"{key} < {found.bind(smallest)}" if view.descending else f"{key} > {found.bind(largest)}"
            found.require(bound)
            rest, _, _ = self._ask(lambda connection: _page(connection, view, found, key, None))
            yield from _chunks(_without(rest, first))

    @override
    def matching(self, ids: Sequence[int], view: View) -> set[int]:
        found = condition_of(view.plants).among(ids)
        return {plant_id for (plant_id,) in self._all(f"SELECT id FROM plant WHERE {found.sql}", found.values)}

    @override
    def insertion_points(self, ids: Sequence[int], view: View, known: array[int]) -> list[InsertionPoint] | None:
        def in_order(listed: Sequence[int]) -> list[int]:
            plants = View(Selection(ids=listed), view.order, view.descending)
            return self._ask(lambda connection: _ids(connection, plants)).tolist()

        return find_insertion_points(in_order([*self.matching(ids, view)]), known, in_order)

    @override
    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        return self._ask(lambda connection: rows_by_id(connection, ids))

    @override
    def rows_cut(self, ids: Sequence[int], longest: int) -> dict[int, PlantRow]:
        return self._ask(lambda connection: rows_cut(connection, ids, longest))

    @override
    def plant(self, plant_id: int) -> PlantRow | None:
        return self.rows([plant_id]).get(plant_id)

    @override
    def count(self) -> int:
        return int(self._all("SELECT plants FROM state")[0][0])

    @override
    def next_free_id(self) -> int:
        return self._ask(last_id) + 1

    @override
    def tags(self) -> list[str]:
        return [*self.tag_counts()]

    @override
    def tag_counts(self) -> dict[str, int]:
        counts = self._all("SELECT tag, count(*) FROM plant WHERE tag IS NOT NULL GROUP BY tag")
        return dict(sorted(counts, key=lambda item: natural_key(item[0])))

    @override
    def known_names(self, start: str, limit: int) -> list[KnownName]:
        return self._names(condition_of(Selection()).begin(start), "id", limit)

    @override
    def near_names(self, name: str, limit: int) -> list[KnownName]:
        from plantdesk.domain.spelling import MAX_COMPARED, maybe_near, nearest

        near = maybe_near(name) if storable(name) else None
        if near is None:
            return []
        found = condition_of(near[0]).has_length(near[1])
        # By an expression: else the server reads all plants in the order of their ids.
        return nearest(name, self._names(found, "id + 0", MAX_COMPARED), limit, attrgetter("name"))

    def _names(self, found: Condition, order: str, limit: int) -> list[KnownName]:
        sql = _KNOWN_NAMES.format(found.sql, order, _MAX_COUNTED, found.bind(limit))
        return [*map(KnownName._make, self._all(sql, found.values))]

    @override
    def first_with_name(self, view: View, start: str) -> int | None:
        found = condition_of(view.plants).begin(start)
        rows = self._all(f"SELECT id FROM plant WHERE {found.sql} {order_by(view)} LIMIT 1", found.values)
        return rows[0][0] if rows else None

    @override
    def names_in_use(self, names: Collection[str]) -> set[str]:
        sql = "SELECT DISTINCT name FROM plant WHERE name = ANY(%s::text[])"
        return {name for (name,) in self._all(sql, ([*filter(storable, names)],))}

    @override
    def duplicates(self, *, by_tag: bool) -> PlantGroups:
        sql = _DUPLICATES.format(key=alike_key(by_tag=by_tag))
        found = self._ask(lambda connection: connection.cursor(binary=True).execute(sql.encode()).fetchone())
        return PlantGroups(*map(_unpacked, found or (None, None, None)))

    @override
    def counts(self, before: Counts | None = None) -> Counts:
        return self._ask(lambda connection: count_plants(connection, before), snapshot=True)

    @override
    def sources(self) -> list[Source]:
        rows = self._all("SELECT id, kind, label FROM source ORDER BY id")
        return [Source(source_id, SourceKind(kind), label) for source_id, kind, label in rows]

    @override
    def two_sources(self) -> list[int]:
        return [source_id for (source_id,) in self._all(_TWO_SOURCES)]

    @override
    def desks_at_work(self) -> list[Desk]:
        return self._ask(lambda connection: desks(connection, desk_name(self._shared.address), AT_WORK))

    @override
    def count_selected(self, selection: Selection) -> int:
        found = condition_of(selection)
        return int(self._all(f"SELECT count(*) FROM plant WHERE {found.sql}", found.values)[0][0])

    @override
    def selected(self, selection: Selection, limit: int | None = None) -> Iterator[PlantRow]:
        ids = self._ask(lambda connection: _ids(connection, View(selection), limit))
        for start in range(0, len(ids), PAGE):
            yield from self.rows(ids[start : start + PAGE].tolist()).values()

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        last = 0
        while True:
            found = condition_of(selection).require("plant.seq > %(last)s", last=last)
            sql = (
                f"{SELECT.replace('SELECT', 'SELECT plant.seq,', 1)} WHERE {found.sql} ORDER BY plant.seq LIMIT {PAGE}"
            )
            rows = self._all(sql, found.values)
            if not rows:
                return
            yield [row_of(values[1:]) for values in rows]
            last = rows[-1][0]

    @override
    def history(self, limit: int = 100) -> list[Change]:
        return self._ask(lambda connection: newest_changes(shared(connection), limit))

    @override
    def history_entries(
        self,
        limit: int = 100,
        before: int | None = None,
        text: str = "",
        source: Source | str | None = None,
        shown: Callable[[Change], str] | None = None,
    ) -> list[HistoryEntry]:
        arguments = (limit, before, text, source, shown or _english)
        return self._ask(lambda connection: history_entries(connection, *arguments), snapshot=True)

    @override
    def history_summary(self) -> HistorySummary:
        return self._ask(history_summary, snapshot=True)

    @override
    def plant_history(self, plant_id: int, limit: int = 100) -> list[PlantChange]:
        return self._ask(lambda connection: plant_history(connection, plant_id, limit))

    @override
    def events(self, since: str | None, limit: int = PAGE) -> EventPage:
        from plantdesk.store.events import StoreState, read_events

        def read(connection: Connection) -> EventPage:
            row = execute(connection, "SELECT identity, last_seq, last_change FROM state").fetchone()
            return read_events(shared(connection), StoreState(*(row or ("", 0, 0))), since, limit, _LISTED)

        return self._ask(read, snapshot=True)

    @override
    def interrupt(self) -> None:
        with self._lock:
            if self._is_asking:
                self._is_interrupted = True
                self._shared.cancel(self)

    @override
    def close(self) -> None:
        """Nothing of its own is open."""

    def _all(self, sql: str, values: dict[str, Any] | tuple[Any, ...] | None = None) -> list[Any]:
        return self._ask(lambda connection: execute(connection, sql, values).fetchall())

    def _ask(self, query: Callable[[Connection], _Result], *, snapshot: bool = False) -> _Result:
        with self._lock:
            self._is_asking, self._is_interrupted = True, False
        try:
            return self._shared.ask(self, partial(self._uninterrupted, query), snapshot=snapshot)
        except Exception:
            if self._is_interrupted:
                raise InterruptedError from None
            raise
        finally:
            with self._lock:
                self._is_asking = False

    def _uninterrupted(self, query: Callable[[Connection], _Result], connection: Connection) -> _Result:
        if self._is_interrupted:  # while it waited for its turn
            raise InterruptedError
        return query(connection)


def _ids(connection: Connection, view: View, limit: int | None = None) -> array[int]:
    """Return the ids of a view in its order."""
    return _page(connection, view, condition_of(view.plants), "plant.id", limit)[0]


def _page(
    connection: Connection, view: View, condition: Condition, key: str, limit: int | None
) -> tuple[array[int], int, int]:
    """Return ids in the order of a view, and the smallest and largest key.

    The server sends the ids as one value: a row for each takes far longer.
    """
    values = {**condition.values, "limit": limit}
    order = order_by(view, limited=limit is not None)
    sql = f"""SELECT string_agg(int8send(id), ''), min(key), max(key) FROM (
              SELECT id, {key} AS key FROM plant WHERE {condition.sql} {order}
              LIMIT %(limit)s::bigint) AS found"""
    cursor = connection.cursor(binary=True)
    cursor.execute(sql.encode(), values)
    data, smallest, largest = cursor.fetchone() or (None, 0, 0)
    return _unpacked(data), smallest or 0, largest or 0


def _first_sorted(connection: Connection, view: View) -> array[int]:
    """Return the first ids of all plants in an order that has an index; none where the index does not have them."""
    indexed, keys, is_exact = SORTED_BY_INDEX[view.order]
    direction = " DESC" if view.descending else ""
    order = ", ".join(f"{key}{direction}" for key in keys)
    sql = f"""SELECT string_agg(int8send(id), '') FROM (
              SELECT id, {is_exact} AS is_exact FROM plant WHERE {indexed} ORDER BY {order} LIMIT {_FIRST_CHUNK}
              ) AS found HAVING bool_and(is_exact) AND count(*) = {_FIRST_CHUNK}"""
    (data,) = connection.cursor(binary=True).execute(sql.encode()).fetchone() or (None,)
    return _unpacked(data)


def _unpacked(data: bytes | None) -> array[int]:
    ids = array("q", data or b"")
    if sys.byteorder == "little":
        ids.byteswap()
    return ids


def _without(ids: array[int], first: array[int]) -> array[int]:
    """Return what comes behind the first ids, which were read before: plants may have been changed, or added again."""
    if ids[: len(first)] == first:
        return ids[len(first) :]
    known = frozenset(first)
    return array("q", (each for each in ids if each not in known))


def _chunks(ids: array[int], first: int = _CHUNK) -> Iterator[array[int]]:
    """Divide ids into chunks, the first of which may be small."""
    start, size = 0, first
    while start < len(ids):
        yield ids[start : start + size]
        start, size = start + size, _CHUNK


def _english(change: Change) -> str:
    return str(change.title)
