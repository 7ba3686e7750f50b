"""Listens for the commits of other desks: LISTEN first, then read since the last position.

A notification may be lost, and one for every commit would be too many: it says only that there is something to read,
which is read after each reconnection and every 30 s anyway.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import psycopg

from plantdesk.domain.errors import StoreError
from plantdesk.store.postgres.connections import connect
from plantdesk.store.postgres.desks import note_desk

if TYPE_CHECKING:
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.connections import Connection

_log = logging.getLogger(__name__)

#: Seconds after which the store is read without a notification, and between two attempts to connect.
_POLL_INTERVAL, _RETRY_DELAY = 30, 1
#: Seconds after a notification, in which further ones are collected: each of many desks has one for each commit.
_PAUSE = 0.05


class CommitListener:
    """A thread with a connection of its own, which calls `poll` when another process of the server has committed."""

    def __init__(self, address: Address, desk: str, poll: Callable[[], None], own_backend: Callable[[], int]) -> None:
        """Start the thread. `own_backend` is the server process of this desk's writer: its commits are known."""
        self._address, self._desk, self._poll, self._own_backend = address, desk, poll, own_backend
        self._closing = threading.Event()
        self._connection: Connection | None = None
        self._has_listened = False
        self._thread = threading.Thread(target=self._run, name="store-listener", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let the thread end soon."""
        self._closing.set()
        if (connection := self._connection) is not None:
            connection.abandon()

    def close(self) -> None:
        """End the thread."""
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
        with connect(self._address, "listener") as connection:
            self._connection, self._has_listened = connection, True  # from now on `end` ends any wait
            try:
                if not self._closing.is_set():
                    connection.execute("LISTEN plantdesk")
                while not self._closing.is_set():
                    self._poll()
                    note_desk(connection, self._desk)
                    while notes := [*connection.notifies(timeout=_POLL_INTERVAL, stop_after=1)]:
                        if any(note.pid != self._own_backend() for note in notes):
                            self._poll()
                        if self._closing.wait(_PAUSE):
                            return
            finally:
                self._connection = None
