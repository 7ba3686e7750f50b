"""Durable transactions in the file that is at the store's path, and what other processes commit to it.

Belongs to the writer thread, as does the health of the store: whether the last attempt to write succeeded.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreDamagedError, StoreError, StoreMovedError, StoreReadOnlyError
from plantdesk.domain.records import Changes
from plantdesk.store.pruning import is_prunable, prune
from plantdesk.store.sqlite.commit_tracker import is_locked
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.files.log_origin import attached
from plantdesk.store.sqlite.write_connection import CurrentConnection, WriteConnection

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.store.sqlite.files.store_file import StoreFile
    from plantdesk.store.write_queue import Health


#: Seconds between two polls for what other processes did, which must be noticed within 100 ms. Each costs 0.1 ms.
POLL_INTERVAL = 0.08
#: Polls without work of this process, about a second, after which the log is moved into the database file.
_QUIET_POLLS = 12
#: Polls between two releases of the connection's cache: about ten seconds.
_RELEASE_POLLS = 125
#: Polls after which a store that cannot be written to is tried again: about two seconds.
_RETRY_POLLS = 25


class Transactions:
    """Begins transactions, publishes what others commit, and keeps the store's health up to date."""

    def __init__(self, file: StoreFile, publish: Callable[[Changes], None], health: Health) -> None:
        """Connect, unless the file can only be read. Raises StoreError."""
        self._file = file
        self._publish = publish
        self._health = health
        self._current = CurrentConnection(file)
        #: The last connection that was used; its file may have been replaced meanwhile.
        self.known: WriteConnection | None = None
        if file.read_only:
            health.set(StoreReadOnlyError())
        else:
            self.known = self._current.get()

    @property
    def _is_damaged(self) -> bool:
        """Whether SQLite found the file malformed; a successful write does not end that, only another file."""
        return isinstance(self._health.error, StoreDamagedError)

    def close(self) -> None:
        """Close the connection; what a file holds that nobody can find any more is saved. Raises UnsavedError."""
        self._current.close()

    def poll(self) -> None:
        """Publish what others have committed, and open the file that has replaced the present one."""
        try:
            with translate_errors():
                connection = self._current_connection()
                changes = connection.tracker.poll()
        except StoreError as error:
            self._health.set(error)
            return
        if changes != Changes():
            connection.checkpointer.committed()  # whoever wrote it may be gone before it is due
            self.notify(changes)

    def notify(self, changes: Changes) -> None:
        """Publish durable changes, unless there are none."""
        if changes != Changes():
            self._publish(changes)

    @contextlib.contextmanager
    def durable(self) -> Iterator[WriteConnection]:
        """Make what a block writes durable, in the file that is under the name. Raises StoreError."""
        try:
            with translate_errors():
                connection = self._current_connection()
                with transaction(connection.sqlite):
                    self.notify(connection.tracker.poll())  # of others, and durable already; ours come after it
                    connection.tracker.count(self._file)
                    yield connection
                    position = connection.tracker.read_position()
            connection.tracker.committed(position)
            self._file.check()
        except StoreError as error:
            if isinstance(error, StoreMovedError):
                self.known = None  # if the file returns, what was committed to it is published
            self._health.set(error)
            raise
        if not self._is_damaged:
            self._health.set(None)

    @contextlib.contextmanager
    def without_plants(self) -> Iterator[WriteConnection]:
        """Make a durable transaction of a block that changes no plant. Raises StoreError."""
        with self.durable() as connection:
            yield connection
        connection.checkpointer.committed()

    def checkpoint_if_due(self) -> None:
        """Checkpoint when very much was committed since the last one."""
        if self.known is not None and self.known.checkpointer.is_due:
            self._checkpoint(self.known)

    def _checkpoint(self, known: WriteConnection) -> None:
        """Move the log into the file."""
        is_log_too_long = known.checkpointer.run()
        known.tracker.begins_log = True
        if is_log_too_long:
            with contextlib.suppress(StoreError), self.without_plants():
                pass  # it begins a new log, which SQLite cuts

    @contextlib.contextmanager
    def attached(self, file: Path | None) -> Iterator[None]:
        """Let a block read the tables of a file of SQLite, if any, as `other`. Raises StoreError."""
        if file is None:
            yield
            return
        with translate_errors(), attached(connection := self._current_connection().sqlite, file):
            connection.execute("PRAGMA foreign_keys = OFF")  # plants get a source of the same transaction
            try:
                yield
            finally:
                connection.execute("PRAGMA foreign_keys = ON")

    def _current_connection(self) -> WriteConnection:
        """Return the connection to the file that is under the name now. Raises StoreError while there is none."""
        connection = self._current.get()
        if connection is not self.known:
            self.known = connection
            self._health.set(None)
            self.notify(Changes(needs_reload=True, tokens=True))
        return connection

    # --- while nothing is queued ---

    def work_idly(self, polls: int, is_idle: Callable[[], bool]) -> None:
        """Do what is due at the poll of this number since the last job; `is_idle` returns whether nothing is queued.

        That is: poll for other processes, move the log, remove old history, and try a store again that cannot be
        written to.
        """
        self.poll()
        if polls % _QUIET_POLLS == 0:
            self._run_quiet(is_idle)
        if polls % _RELEASE_POLLS == 0 and (known := self.known) is not None:
            known.sqlite.execute("PRAGMA shrink_memory")  # up to 36 MB of pages after an import
        if polls % _RETRY_POLLS == 0 and self._health.error is not None and not self._is_damaged:
            with contextlib.suppress(StoreError), self.without_plants():
                pass  # the count of such commits is written

    def _run_quiet(self, is_idle: Callable[[], bool]) -> None:
        known = self.known
        if known is not None and known.checkpointer.pending and not is_locked(known.sqlite):
            self._checkpoint(known)
            self._prune(is_idle)

    def _prune(self, is_idle: Callable[[], bool]) -> None:
        """Remove outdated before-images, a few at a time, so that a plant waits for milliseconds only."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            while is_idle() and (known := self.known) and is_prunable(runner(known.sqlite)):
                if is_locked(known.sqlite):  # a wait would delay the notice of what another process commits
                    return
                with self.without_plants() as connection:
                    prune(runner(connection.sqlite))
