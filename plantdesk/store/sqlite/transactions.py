"""Durable transactions in the file that is at the store's path, and what other processes commit to it.

The writer's connection runs checkpoints, and is exchanged when another file has replaced the one that it was opened to.
All of it belongs to the writer thread, as does the health of the store: whether the last attempt to write succeeded.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import (
    BackupFolderError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
    Text,
)
from plantdesk.domain.records import Changes
from plantdesk.store.base import Health
from plantdesk.store.entries import is_prunable, prune
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.store.sqlite.database import runner_of
from plantdesk.store.sqlite.files.backup_folder import Backups
from plantdesk.store.sqlite.files.file_lock import FileIdentity, identity
from plantdesk.store.sqlite.files.log_origin import attached
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.write_connection import WriteConnection

_log = logging.getLogger(__name__)

#: Seconds after which a file that could not be opened is tried again, if it is still the same.
_REOPEN_DELAY = 2.0
#: Seconds between two polls for what other processes did, which must be noticed within 100 ms. Each costs 0.1 ms.
POLL_INTERVAL = 0.08
#: Polls without work of this process, about a second, after which the log is moved into the database file.
_QUIET_POLLS = 12
#: Polls between two releases of the connection's cache: about ten seconds.
_RELEASE_POLLS = 125
#: Polls after which a store that cannot be written to is tried again: about two seconds.
_RETRY_POLLS = 25


class UnsavedError(StoreError):
    """What was committed is in no file any more."""

    text = Text("The database was moved, replaced or deleted just after something was saved, which is lost. {reason}")

    def __init__(self, reason: StoreError) -> None:
        super().__init__(reason=reason.text)


class Transactions:
    """Begins transactions, publishes what others commit, and keeps the store's health up to date.

    What a replaced or removed file held is saved as a backup first, once, from the connection that is still open to it.
    An overwritten file holds it no more: its log is quarantined when the file is opened again.
    """

    def __init__(self, file: StoreFile, publish: Callable[[Changes], None], health: Health) -> None:
        """Connect, unless the file can only be read. Raises StoreError."""
        self._file = file
        self._publish = publish
        self._health = health
        #: The connection that was used last; its file may have been replaced meanwhile.
        self._open: WriteConnection | None = None
        #: Whether what a replaced file held is in a backup, and whether listeners must read another file.
        self._is_saved = self._is_new = False
        #: Why the file under the name could not be opened, which one it is, and until when it is not tried again.
        self._failure: tuple[StoreError, FileIdentity, float] | None = None
        if file.read_only:
            health.record(StoreReadOnlyError())
        else:
            with translate_errors():
                self._open = WriteConnection(file)

    @property
    def _is_damaged(self) -> bool:
        """Whether SQLite found the file malformed; a successful write does not end that, only another file."""
        return isinstance(self._health.error, StoreDamagedError)

    def close(self) -> None:
        """Close the connection; what a file holds that nobody can find any more is saved. Raises UnsavedError."""
        connection, self._open = self._open, None
        if connection is None:
            return
        try:
            with translate_errors():
                if connection.is_overwritten():
                    self._file.quarantine_log()
                    raise StoreMovedError
                if not self._file.is_current:
                    self._save(connection.sqlite)
                elif connection.has_pending and not connection.is_locked():  # another program may keep the log
                    connection.checkpoint()
        except StoreError as error:
            raise UnsavedError(error) from error
        finally:
            connection.sqlite.close()

    # --- the file under the name ---

    def connection(self) -> WriteConnection:
        """Return the connection to the file that is under the name now. Raises StoreError while there is none."""
        if self._open is not None and self._is_usable(self._open):
            self._is_saved = False  # any process may write to it from now on
            connection = self._open
        else:
            connection = self._open = self._reopen_after_delay()
        if self._is_new:
            self._is_new = False
            self._health.record(None)
            self.notify(Changes(needs_reload=True, tokens=True))
        return connection

    def _is_usable(self, connection: WriteConnection) -> bool:
        return self._file.is_current and self._file.has_index and not connection.is_overwritten()

    def _reopen_after_delay(self) -> WriteConnection:
        """Reopen the file; soon after a failure, raise that failure again."""
        if self._failure is not None:
            error, seen, until = self._failure
            if time.monotonic() < until and seen == identity(self._file.path):
                raise error
        try:
            connection = self._reopen()
        except StoreError as error:
            self._failure = error, identity(self._file.path), time.monotonic() + _REOPEN_DELAY
            raise
        self._failure, self._is_saved, self._is_new = None, False, True
        return connection

    def _reopen(self) -> WriteConnection:
        if self._file.read_only and not self._file.may_be_writable:
            raise StoreReadOnlyError
        if self._open is not None:
            self._leave_file(self._open)
        elif not self._file.is_current or self._file.read_only:
            self._file.reopen()
        if self._file.read_only:
            raise StoreReadOnlyError
        with translate_errors():
            return WriteConnection(self._file)

    def _leave_file(self, connection: WriteConnection) -> None:
        """Save what the replaced file held, or quarantine the log of an overwritten one."""
        if connection.is_overwritten():
            _, size = self._file.last_written
            if not size:  # emptied: what fills it is opened, or a backup is restored
                raise StoreMovedError
            self._file.quarantine_log()
            self._is_saved = True
        try:
            self._save(connection.sqlite)
        except (BackupFolderError, StoreBusyError, StoreFullError, StoreReadOnlyError) as error:
            if not self._file.is_there:  # the first thing to know
                raise StoreMovedError from error
            raise
        except StoreError as error:  # it may have been replaced for that
            _log.error("What the replaced file held cannot be read: %s", error)
            self._is_saved = True
        try:
            self._file.rebuild(connection.sqlite)
        except OSError as error:
            raise StoreUnreachableError from error
        self._file.reopen()
        connection.sqlite.close()
        self._open = None
        _log.warning("Opened the file that has taken the place of %s", self._file.path.name)

    def _save(self, connection: sqlite3.Connection) -> None:
        if not self._is_saved:
            backup = Backups(self._file.path).make_from(connection, BackupKind.REPLACED)
            _log.warning("The file was replaced or removed; what it held is saved as %s", backup.path.name)
            self._is_saved = True

    # --- transactions ---

    def poll(self) -> None:
        """Publish what others have committed, and open the file that has replaced the present one."""
        try:
            with translate_errors():
                connection = self.connection()
                changes = connection.poll()
        except StoreError as error:
            self._health.record(error)
            return
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
                connection = self.connection()
                with connection.transaction(self.notify):
                    yield connection
                self._file.check()
                if connection.is_overwritten():
                    raise StoreMovedError
        except StoreError as error:
            if isinstance(error, StoreMovedError):
                self._is_new = True  # if the file returns, what was committed to it is published
            self._health.record(error)
            raise
        if not self._is_damaged:
            self._health.record(None)

    def checkpoint_if_due(self) -> None:
        """Checkpoint when very much was committed since the last one."""
        if self._open is not None and self._open.is_checkpoint_due:
            self._checkpoint(self._open)

    def _checkpoint(self, connection: WriteConnection) -> None:
        """Move the log into the file."""
        if connection.checkpoint():
            with contextlib.suppress(StoreError), self.durable():
                pass  # it begins a new log, which SQLite cuts

    @contextlib.contextmanager
    def attached(self, file: Path | None) -> Iterator[None]:
        """Let a block read the tables of a file of SQLite, if any, as `other`. Raises StoreError."""
        if file is None:
            yield
            return
        with translate_errors(), attached(connection := self.connection().sqlite, file):
            connection.execute("PRAGMA foreign_keys = OFF")  # plants get a source of the same transaction
            try:
                yield
            finally:
                connection.execute("PRAGMA foreign_keys = ON")

    # --- while nothing is queued ---

    def work_idly(self, polls: int, is_idle: Callable[[], bool]) -> None:
        """Do what is due at the poll of this number since the last job; `is_idle` returns whether nothing is queued.

        That is: poll for other processes, move the log, remove old history, and try a store again that cannot be
        written to.
        """
        self.poll()
        if polls % _QUIET_POLLS == 0:
            self._run_quiet(is_idle)
        if polls % _RELEASE_POLLS == 0 and self._open is not None:
            self._open.sqlite.execute("PRAGMA shrink_memory")  # up to 36 MB of pages after an import
        if polls % _RETRY_POLLS == 0 and self._health.error is not None and not self._is_damaged:
            with contextlib.suppress(StoreError), self.durable():
                pass  # the count of such commits is written

    def _run_quiet(self, is_idle: Callable[[], bool]) -> None:
        connection = self._open
        if connection is not None and connection.has_pending and not connection.is_locked():
            self._checkpoint(connection)
            self._prune(is_idle)

    def _prune(self, is_idle: Callable[[], bool]) -> None:
        """Remove outdated before-images, a few at a time, so that a plant waits for milliseconds only."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            while is_idle() and self._open is not None and is_prunable(runner_of(self._open.sqlite)):
                if self._open.is_locked():  # a wait would delay the notice of what another process commits
                    return
                with self.durable() as connection:
                    prune(runner_of(connection.sqlite))
