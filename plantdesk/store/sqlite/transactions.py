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
from typing import TYPE_CHECKING

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
from plantdesk.store.entries import is_prunable, prune
from plantdesk.store.sqlite.commit_tracker import CommitTracker, is_locked
from plantdesk.store.sqlite.connections import transaction, translate_errors
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.files.backup_folder import Backups
from plantdesk.store.sqlite.files.disk import max_log_size
from plantdesk.store.sqlite.files.log_origin import attached

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.store.base import Health
    from plantdesk.store.sqlite.files.file_lock import FileIdentity
    from plantdesk.store.sqlite.files.store_file import StoreFile

_log = logging.getLogger(__name__)

#: Seconds after which a file that could not be opened is tried again, if it is still the same.
_REOPEN_DELAY = 2.0
#: Bytes of the log for a small commit: more than it takes as a rule, so that the log is seldom cut.
_COMMIT_SIZE = 32_000


class WriteConnection:
    """A connection for writing to one file: its position in the commits, and checkpoints when they are due.

    A checkpoint is safe from the WAL-reset bug of SQLite before 3.51.3. That needs a write at the very moment of
    another connection's checkpoint. Holding the write lock on this connection while a second one runs the checkpoint
    excludes it, between processes as well. Only a passive checkpoint is used: it waits for nobody, and what readers
    still need stays for the next time.
    """

    def __init__(self, file: StoreFile) -> None:
        """Open the connection. Raises StoreMovedError and sqlite3.Error."""
        self._file, self._max_log = file, max_log_size(file.path.parent)
        self._commits = 0
        self.sqlite = file.connect()
        self.sqlite.execute("PRAGMA cache_size = -32768")  # 32 MiB, as a change may touch all pages
        self.sqlite.execute(f"PRAGMA journal_size_limit = {self._max_log}")
        try:
            self.tracker = CommitTracker(self.sqlite)
        except StoreDamagedError:
            self.sqlite.close()
            raise

    @property
    def has_pending(self) -> bool:
        """Whether the log has commits that are not in the file yet."""
        return self._commits > 0

    @property
    def is_checkpoint_due(self) -> bool:
        """Whether so much was committed that the log should be moved now, to keep it within `max_log_size`."""
        return self._commits * _COMMIT_SIZE >= self._max_log

    def committed(self, weight: int = 1, size: int = 0) -> None:
        """Note a commit of so many characters; `weight` is the number of small commits that write about as much."""
        self._commits += weight + size // _COMMIT_SIZE

    def checkpoint(self) -> bool:
        """Checkpoint what can be; return whether the log is too long and nothing in it is needed any more.

        An error loses nothing, as the log keeps the commits: the next write reports it.
        """
        is_whole = False
        with contextlib.suppress(sqlite3.Error):
            self.sqlite.execute("BEGIN IMMEDIATE")
            try:
                is_whole = self._file.checkpoint()
            finally:
                self.sqlite.execute("ROLLBACK")
        self._commits = 0 if is_whole else 1  # to try again when idle
        self.tracker.begins_log = True
        return is_whole and self._file.log_size > self._max_log


class UnsavedError(StoreError):
    """What was committed is in no file any more."""

    text = Text("The database was moved, replaced or deleted just after something was saved, which is lost. {reason}")

    def __init__(self, reason: StoreError) -> None:
        super().__init__(reason=reason.text)


#: Seconds between two polls for what other processes did, which must be noticed within 100 ms. Each costs 0.1 ms.
POLL_INTERVAL = 0.08
#: Polls without work of this process, about a second, after which the log is moved into the database file.
_QUIET_POLLS = 12
#: Polls between two releases of the connection's cache: about ten seconds.
_RELEASE_POLLS = 125
#: Polls after which a store that cannot be written to is tried again: about two seconds.
_RETRY_POLLS = 25


class Transactions:
    """Begins transactions, publishes what others commit, and keeps the store's health up to date.

    What a replaced or removed file held is saved as a backup first, once, from the connection that is still open to it.
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
            health.set(StoreReadOnlyError())
        else:
            with translate_errors():
                self._open = WriteConnection(file)

    @property
    def _is_damaged(self) -> bool:
        """Whether SQLite found the file malformed; a successful write does not end that, only another file."""
        return isinstance(self._health.error, StoreDamagedError)

    def close(self) -> None:
        """Close the connection; what a file holds that nobody can find any more is saved. Raises UnsavedError."""
        if self._open is None:
            return
        try:
            if not self._file.is_current:
                self._save(self._open.sqlite)
        except StoreError as error:
            raise UnsavedError(error) from error
        finally:
            self._open.sqlite.close()

    # --- the file under the name ---

    def connection(self) -> WriteConnection:
        """Return the connection to the file that is under the name now. Raises StoreError while there is none."""
        if self._open is not None and self._file.is_current and self._file.has_index:
            self._is_saved = False  # any process may write to it from now on
            connection = self._open
        else:
            connection = self._open = self._reopened()
        if self._is_new:
            self._is_new = False
            self._health.set(None)
            self.notify(Changes(needs_reload=True, tokens=True))
        return connection

    def _reopened(self) -> WriteConnection:
        if self._failure is not None:
            error, identity, until = self._failure
            if time.monotonic() < until and identity == self._file.identity_now:
                raise error
        try:
            connection = self._reopen()
        except StoreError as error:
            self._failure = error, self._file.identity_now, time.monotonic() + _REOPEN_DELAY
            raise
        self._failure, self._is_saved, self._is_new = None, False, True
        return connection

    def _reopen(self) -> WriteConnection:
        if self._file.read_only and not self._file.may_be_writable:
            raise StoreReadOnlyError
        if self._open is not None:
            self._leave(self._open)
        elif not self._file.is_current or self._file.read_only:
            self._file.reopen()
        if self._file.read_only:
            raise StoreReadOnlyError
        with translate_errors():
            return WriteConnection(self._file)

    def _leave(self, connection: WriteConnection) -> None:
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
                changes = connection.tracker.poll()
        except StoreError as error:
            self._health.set(error)
            return
        if changes != Changes():
            connection.committed()  # whoever wrote it may be gone before it is due
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
                with transaction(connection.sqlite):
                    self.notify(connection.tracker.poll())  # of others, and durable already; ours come after it
                    yield connection
                    position = connection.tracker.count(self._file)
            connection.tracker.committed(position)
            self._file.check()
        except StoreError as error:
            if isinstance(error, StoreMovedError):
                self._is_new = True  # if the file returns, what was committed to it is published
            self._health.set(error)
            raise
        connection.committed()
        if not self._is_damaged:
            self._health.set(None)

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
        if connection is not None and connection.has_pending and not is_locked(connection.sqlite):
            self._checkpoint(connection)
            self._prune(is_idle)

    def _prune(self, is_idle: Callable[[], bool]) -> None:
        """Remove outdated before-images, a few at a time, so that a plant waits for milliseconds only."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            while is_idle() and self._open is not None and is_prunable(runner(self._open.sqlite)):
                if is_locked(self._open.sqlite):  # a wait would delay the notice of what another process commits
                    return
                with self.durable() as connection:
                    prune(runner(connection.sqlite))
