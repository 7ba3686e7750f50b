"""Reads a shared store. All readers of a desk take turns on one connection, since a server accepts only few."""

from __future__ import annotations

import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import TypeVar

import psycopg
import sqlalchemy as sa
from typing_extensions import override

from plantdesk.domain.errors import StoreClosedError, StoreError
from plantdesk.domain.history import HistorySummary
from plantdesk.domain.records import Desk
from plantdesk.domain.selections import Order, Selection, View
from plantdesk.store.conditions import ordering
from plantdesk.store.database import Runner
from plantdesk.store.history import DESK, read_history_summary
from plantdesk.store.models import PLANT, STATE
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.connections import READER, Connection, connect, execute, snapshot
from plantdesk.store.postgres.database import DATABASE, runner_of
from plantdesk.store.postgres.desks import ACTIVE_MS, read_desks
from plantdesk.store.postgres.errors import translate_errors
from plantdesk.store.postgres.schema import LONGEST_TAG, NAME_START, TAG_START, check_readable, read_version
from plantdesk.store.reader import CHUNK, FIRST_CHUNK, StoreReader

_Result = TypeVar("_Result")

#: Seconds after a failed connection in which other queries fail at once instead of waiting for the server.
_RETRY_DELAY = 0.5
#: Seconds between two attempts to end the query that runs.
_CLOSE_DELAY = 0.5
_DESKS = """SELECT DISTINCT parameters::json ->> %(desk)s FROM change
            WHERE undoes IS NULL AND parameters::json ->> %(desk)s <> '' ORDER BY 1"""
#: The orders by a unique column that has an index.
INDEXED = {Order.ADDED: PLANT.c.seq, Order.ID: PLANT.c.id}
#: The orders with an index of the beginnings of texts, as SQL: its plants, its keys, and whether it sorts them exactly.
_SORTED_BY_INDEX = {
    Order.NAME: ("true", (NAME_START, "plant.searched_name", "plant.id"), "true"),
    Order.TAG: (
        "plant.tag IS NOT NULL",
        (TAG_START, NAME_START, "plant.searched_tag", "plant.searched_name", "plant.id"),
        f"length(plant.searched_tag) < {LONGEST_TAG}",
    ),
}


class ReadConnection:
    """The connection of all readers of a desk, opened by the first query, and again after it was lost."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._use_lock = threading.Lock()
        self._cancel_lock = threading.Lock()
        self._user: object = None
        self._connection: Connection | None = None
        self._is_closed = False
        self._failure: StoreError | None = None
        self._retry_at = 0.0

    def ask(self, user: object, query: Callable[[Connection], _Result], *, in_snapshot: bool = False) -> _Result:
        """Run a query of a reader, `user`; repeat it on a new connection if the old one was lost. Raises StoreError.

        `in_snapshot`: all its statements read one state of the store.
        """
        with self._use_lock:
            while True:
                is_new = self._connection is None
                connection = self._open()
                try:
                    with translate_errors(self.address):
                        self._user = user
                        with snapshot(connection) if in_snapshot else nullcontext():
                            return query(connection)
                except Exception:
                    if is_new or not connection.closed:
                        raise
                finally:
                    with self._cancel_lock:
                        self._user = None
                    if connection.closed:
                        self._connection = None

    def cancel(self, user: object) -> None:
        """Cancel the query of `user`, if it runs, without waiting for the server."""
        if self._user is user:
            threading.Thread(target=self._cancel, args=(user,), name="query-cancel", daemon=True).start()

    def close(self) -> None:
        """End the running query and close the connection; later queries raise StoreClosedError."""
        self._is_closed = True
        while not self._use_lock.acquire(timeout=_CLOSE_DELAY):
            self.abandon()
        try:
            if self._connection is not None:
                self._connection.close()
        finally:
            self._use_lock.release()

    def abandon(self) -> None:
        """Stop waiting for the server, now and later. May be called by any thread."""
        self._is_closed = True
        if (connection := self._connection) is not None:
            connection.abandon()

    def _open(self) -> Connection:
        """Return the connection, a new one if needed; soon after a failure, raise that again. Raises StoreError."""
        if self._is_closed:
            raise StoreClosedError
        if self._connection is None:
            if self._failure is not None and time.monotonic() < self._retry_at:
                raise self._failure
            try:
                self._connection = connect(self.address, READER)
            except StoreError as error:
                self._failure = error
                self._retry_at = time.monotonic() + _RETRY_DELAY
                raise
        return self._connection

    def _cancel(self, user: object) -> None:
        with self._cancel_lock:  # the next query does not begin meanwhile
            if self._user is user and self._connection is not None:
                with suppress(psycopg.Error):
                    self._connection.cancel_safe(timeout=2)


class PostgresReader(StoreReader):
    """A reader on the connection that all readers of the desk share."""

    database = DATABASE

    def __init__(self, shared: ReadConnection) -> None:
        self._shared = shared
        self._is_interrupted = False

    @override
    def ids(self, view: View) -> Iterator[array[int]]:
        if view.order not in INDEXED:
            first = array("q")
            if view.plants == Selection() and view.order in _SORTED_BY_INDEX:
                first = self.ask(lambda runner: _read_first_sorted(runner, view))
                yield from _split_into_chunks(first)
            all_ids, _, _ = self._read_page(view, PLANT.c.id, None)
            yield from _split_into_chunks(_skip_known(all_ids, first), CHUNK if first else FIRST_CHUNK)
            return
        key = INDEXED[view.order]
        first, smallest, largest = self._read_page(view, key, FIRST_CHUNK)
        yield from _split_into_chunks(first)
        if len(first) == FIRST_CHUNK:
            later_ids, _, _ = self._read_page(view, key, None, key < smallest if view.descending else key > largest)
            yield from _split_into_chunks(_skip_known(later_ids, first))

    def _read_page(
        self, view: View, key: sa.ColumnElement[int], limit: int | None, *conditions: sa.ColumnElement[bool]
    ) -> tuple[array[int], int, int]:
        """Return the first ids of a view, all without `limit`, in its order, and their smallest and largest `key`.

        The server sends the ids as one value: a row for each takes far longer.
        """
        order = ordering(view, self.database, by_index=limit is not None)
        plants = self._ids(view.plants, *conditions).add_columns(key.label("key"))
        page = plants.order_by(*order).limit(limit).subquery()
        ids = sa.func.string_agg(sa.func.int8send(page.c.id), sa.literal_column("''::bytea"))
        sql, values = self.database.compile_statement(sa.select(ids, sa.func.min(page.c.key), sa.func.max(page.c.key)))
        ((data, smallest, largest),) = self.ask(lambda runner: runner.driver.cursor(binary=True).execute(sql, values))
        return _unpack_ids(data), smallest or 0, largest or 0

    @override
    def count(self) -> int:
        return int(self.ask(lambda runner: runner.run(sa.select(STATE.c.plants)).scalar_one()))

    @override
    def active_desks(self) -> list[Desk]:
        return self.ask(lambda runner: read_desks(runner.driver, self._shared.address.desk, ACTIVE_MS))

    @override
    def history_summary(self) -> HistorySummary:
        def read(runner: Runner) -> HistorySummary:
            rows = execute(runner.driver, _DESKS, {"desk": DESK}).fetchall()
            return read_history_summary(runner)._replace(desks=tuple(desk for (desk,) in rows))

        return self.ask(read, snapshot=True)

    @override
    def interrupt(self) -> None:
        self._is_interrupted = True
        self._shared.cancel(self)

    @override
    def close(self) -> None:
        """Do nothing: the store closes the connection that its readers share."""

    @override
    def ask(self, query: Callable[[Runner], _Result], *, snapshot: bool = False) -> _Result:
        self._is_interrupted = False
        try:
            return self._shared.ask(self, partial(self._run_unless_interrupted, query), in_snapshot=snapshot)
        except Exception:
            if self._is_interrupted:
                raise InterruptedError from None
            raise

    def _run_unless_interrupted(self, query: Callable[[Runner], _Result], connection: Connection) -> _Result:
        if self._is_interrupted:  # while it waited for its turn
            raise InterruptedError
        return query(runner_of(connection))


class StandalonePostgresReader(PostgresReader):
    """A reader with a connection of its own."""

    def __init__(self, address: Address) -> None:
        """Connect, and check the version of the tables. Raises StoreError."""
        super().__init__(ReadConnection(address))
        try:
            check_readable(self._shared.ask(self, read_version), address.name, address.server)
        except BaseException:
            self.close()
            raise

    @override
    def close(self) -> None:
        self._shared.close()


def _read_first_sorted(runner: Runner, view: View) -> array[int]:
    """Return the first ids of all plants in an order that has an index; none if the index cannot give them exactly."""
    indexed, keys, is_exact = _SORTED_BY_INDEX[view.order]
    direction = " DESC" if view.descending else ""
    order = ", ".join(f"{key}{direction}" for key in keys)
    sql = f"""SELECT string_agg(int8send(id), '') FROM (
              SELECT id, {is_exact} AS is_exact FROM plant WHERE {indexed} ORDER BY {order} LIMIT {FIRST_CHUNK}
              ) AS found HAVING bool_and(is_exact) AND count(*) = {FIRST_CHUNK}"""
    (data,) = runner.driver.cursor(binary=True).execute(sql.encode()).fetchone() or (None,)
    return _unpack_ids(data)


def _unpack_ids(data: bytes | None) -> array[int]:
    ids = array("q", data or b"")
    if sys.byteorder == "little":
        ids.byteswap()
    return ids


def _skip_known(ids: array[int], first: array[int]) -> array[int]:
    """Return `ids` without the `first` ones, which were read before; plants may have changed their places since."""
    if ids[: len(first)] == first:
        return ids[len(first) :]
    known = frozenset(first)
    return array("q", (plant_id for plant_id in ids if plant_id not in known))


def _split_into_chunks(ids: array[int], first_size: int = CHUNK) -> Iterator[array[int]]:
    """Divide ids into chunks; the first one may be small."""
    start = 0
    size = first_size
    while start < len(ids):
        yield ids[start : start + size]
        start = start + size
        size = CHUNK
