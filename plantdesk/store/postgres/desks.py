"""The desks of a shared store: the computers that work on it, each by the name that others see in the history.

A listening desk records its name and version every 30 s on its LISTEN connection, so that writes take no longer. Each
commit has the name of its desk, so that commands, which do not listen, are listed, too. A notification carries no data,
as it may be lost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import psycopg

from plantdesk import __version__
from plantdesk.domain.errors import StoreError
from plantdesk.domain.records import Desk
from plantdesk.store.postgres.address import Address
from plantdesk.store.postgres.connections import NOW_MS, Connection, connect, execute
from plantdesk.store.postgres.schema import SCHEMA_VERSION

_log = logging.getLogger(__name__)

#: Milliseconds for which a desk is listed after it was seen, and for which it counts as active.
_LISTED_MS = 30 * 86_400_000
ACTIVE_MS = 60_000
_RECORD_DESK = f"""INSERT INTO desk (name, version, tables, last_seen) VALUES (%s, %s, %s, {NOW_MS})
            ON CONFLICT (name) DO UPDATE SET version = excluded.version, tables = excluded.tables,
                                             last_seen = excluded.last_seen"""
_COMMITTED = f"""SELECT desk AS name, '' AS version, 0 AS tables, max(made_at) AS last_seen FROM commits
                 WHERE made_at > {NOW_MS} - %(lately)s GROUP BY desk"""
_LISTED = f"""SELECT DISTINCT ON (name) name, version, tables, last_seen
              FROM ({{found}}) AS found WHERE last_seen > {NOW_MS} - %(lately)s ORDER BY name, tables DESC"""
_RECORDED = "SELECT name, version, tables, last_seen FROM desk"
#: Seconds after which the store is read without a notification, and between two attempts to connect.
_POLL_INTERVAL = 30
_RETRY_DELAY = 1
#: Seconds after a notification, in which further ones are collected: each of many desks has one for each commit.
_BATCH_DELAY = 0.05


def record_desk(connection: Connection, name: str) -> None:
    """Record that this desk has the store open; ignore errors such as a missing right, but not a lost connection."""
    try:
        execute(connection, _RECORD_DESK, (name, __version__, SCHEMA_VERSION))
    except psycopg.Error:
        if connection.closed:
            raise


def read_desks(connection: Connection, own_name: str, max_age_ms: int = _LISTED_MS) -> list[Desk]:
    """Return the desks seen within `max_age_ms` (tables of version 1: those that committed). Raises psycopg.Error."""
    has_table = connection.execute("SELECT to_regclass('plantdesk.desk') IS NOT NULL").fetchone() == (True,)
    listed = f"{_RECORDED} UNION ALL {_COMMITTED}" if has_table else _COMMITTED
    rows = execute(connection, _LISTED.format(found=listed), {"lately": max_age_ms})
    return [Desk(name, version, tables, last_seen, name == own_name) for name, version, tables, last_seen in rows]


# --- listening ---


class CommitListener:
    """A thread with a connection of its own, which calls `poll` when another desk has committed."""

    def __init__(self, address: Address, poll: Callable[[], None], own_backend: Callable[[], int]) -> None:
        """Start the thread. `own_backend` returns the server process of this desk's writer, whose commits are known."""
        self._address = address
        self._poll = poll
        self._own_backend = own_backend
        self._closing = threading.Event()
        self._connection: Connection | None = None
        self._has_listened = False
        self._thread = threading.Thread(target=self._run, name="store-listener", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Tell the thread to end, without waiting for it."""
        self._closing.set()
        if (connection := self._connection) is not None:
            connection.abandon()

    def close(self) -> None:
        """End the thread and wait for it."""
        self.end()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._listen()
            except (StoreError, psycopg.Error, OSError) as error:
                _log.info("no notifications from the shared store: %s", type(error).__name__)
                if self._has_listened:  # the poll reports whether the server is away, which it may not be yet at first
                    self._poll()
            self._closing.wait(_RETRY_DELAY)

    def _listen(self) -> None:
        """Listen and poll until the thread is told to end. Raises StoreError, psycopg.Error and OSError."""
        with connect(self._address, "listener") as connection:
            self._connection = connection
            self._has_listened = True  # from now on `end` ends any wait
            try:
                if not self._closing.is_set():
                    connection.execute("LISTEN plantdesk")
                while not self._closing.is_set():
                    self._poll()
                    record_desk(connection, self._address.desk)
                    while notes := [*connection.notifies(timeout=_POLL_INTERVAL, stop_after=1)]:
                        if any(note.pid != self._own_backend() for note in notes):
                            self._poll()
                        if self._closing.wait(_BATCH_DELAY):
                            return
            finally:
                self._connection = None
