"""The writer's connection: its checkpoints, and the change to a file that has replaced the one that it was opened to.

Belongs to the writer thread.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
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
from plantdesk.store.sqlite.commit_tracker import CommitTracker
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.store.sqlite.files.backup_folder import Backups
from plantdesk.store.sqlite.files.disk_space import max_log_size

if TYPE_CHECKING:
    from plantdesk.store.sqlite.files.file_lock import FileIdentity
    from plantdesk.store.sqlite.files.store_file import StoreFile

_log = logging.getLogger(__name__)

#: Seconds after which a file that could not be opened is tried again, if it is still the same.
_RETRY_DELAY = 2.0
#: Bytes of the log for a small commit: more than it takes as a rule, so that the log is seldom cut.
_COMMIT_SIZE = 32_000


class Checkpointer:
    """Counts commits and runs a checkpoint when due, safe from the WAL-reset bug of SQLite before 3.51.3.

    That needs a write at the very moment of another connection's checkpoint. Holding the write lock on the writer's
    connection while a second connection runs the checkpoint excludes it, between processes as well. Only a passive
    checkpoint is used: it waits for nobody, and what readers still need stays for the next time.
    """

    def __init__(self, file: StoreFile, writing: sqlite3.Connection, max_log: int) -> None:
        self._file = file
        self._writing = writing
        self._max_log = max_log
        self._commits = 0

    @property
    def pending(self) -> bool:
        """Whether the log has commits that are not in the file yet."""
        return self._commits > 0

    @property
    def is_due(self) -> bool:
        """Whether so much was committed that the log should be moved now, to keep it within `max_log` bytes."""
        return self._commits * _COMMIT_SIZE >= self._max_log

    def committed(self, weight: int = 1, size: int = 0) -> None:
        """Note a commit of so many characters; `weight` is the number of small commits that write about as much."""
        self._commits += weight + size // _COMMIT_SIZE

    def run(self) -> bool:
        """Checkpoint what can be; return whether the log is too long and nothing in it is needed any more.

        An error loses nothing, as the log keeps the commits: the next write reports it.
        """
        is_whole = False
        with contextlib.suppress(sqlite3.Error):
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                is_whole = self._file.checkpoint()
            finally:
                self._writing.execute("ROLLBACK")
        self._commits = 0 if is_whole else 1  # to try again when idle
        return is_whole and self._file.log_size > self._max_log


class WriteConnection:
    """A connection for writing to one file, with its checkpoints and its position in the commits."""

    def __init__(self, file: StoreFile) -> None:
        """Open the connection. Raises StoreMovedError and sqlite3.Error."""
        self.sqlite = file.connect()
        self.sqlite.execute("PRAGMA cache_size = -32768")  # 32 MiB, as a change may touch all pages
        max_log = max_log_size(file.path.parent)
        self.sqlite.execute(f"PRAGMA journal_size_limit = {max_log}")
        self.checkpointer = Checkpointer(file, self.sqlite, max_log)
        try:
            self.tracker = CommitTracker(self.sqlite)
        except StoreDamagedError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self.sqlite.close()


class UnsavedError(StoreError):
    """What was committed is in no file any more."""

    text = Text("The database was moved, replaced or deleted just after something was saved, which is lost. {reason}")

    def __init__(self, reason: StoreError) -> None:
        super().__init__(reason=reason.text)


class CurrentConnection:
    """The write connection to the file that is at the store's path.

    What a replaced or removed file held is saved as a backup first, once, from the connection that is still open to it.
    """

    def __init__(self, file: StoreFile) -> None:
        """Connect, unless the file can only be read. Raises StoreError."""
        self._file = file
        self._saved = False
        self._failure: _Failure | None = None
        with translate_errors():
            self._open = None if file.read_only else WriteConnection(file)

    def get(self) -> WriteConnection:
        """Return the connection, perhaps a new one to another file. Raises StoreError while there is none."""
        if self._open is not None and self._file.is_current and self._file.has_index:
            self._saved = False  # any process may write to it from now on
            return self._open
        if self._failure is not None and self._failure.is_recent(self._file):
            raise self._failure.error
        try:
            self._open = self._reopened()
        except StoreError as error:
            self._failure = _Failure(error, self._file)
            raise
        self._failure, self._saved = None, False
        return self._open

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
            self._open.close()

    def _reopened(self) -> WriteConnection:
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
            self._saved = True
        try:
            self._file.rebuild(connection.sqlite)
        except OSError as error:
            raise StoreUnreachableError from error
        self._file.reopen()
        connection.close()
        self._open = None
        _log.warning("Opened the file that has taken the place of %s", self._file.path.name)

    def _save(self, connection: sqlite3.Connection) -> None:
        if self._saved:
            return
        backup = Backups(self._file.path).make_from(connection, BackupKind.REPLACED)
        _log.warning("The file was replaced or removed; what it held is saved as %s", backup.path.name)
        self._saved = True


class _Failure:
    """Why the file under the name could not be opened, so that it is not tried for each write."""

    def __init__(self, error: StoreError, file: StoreFile) -> None:
        self.error = error
        self._identity: FileIdentity = file.identity_now
        self._until = time.monotonic() + _RETRY_DELAY

    def is_recent(self, file: StoreFile) -> bool:
        return time.monotonic() < self._until and file.identity_now == self._identity
