"""A store's file as a process has it open: checked once, and from then on the one way to open connections to it.

Opening, creating and replacing happen under the lock of `file_lock`. Afterwards the identity of the files decides: when
another file has taken the name, or the log is gone, no connection is opened and no commit is acknowledged any more,
until the writer has saved what the old file holds and calls `reopen`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import stat
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.errors import (
    FolderMissingError,
    ForeignFileError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreGoneError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
    UnsafeFileError,
)
from plantdesk.store.atomic_file import new_file, remove_old_drafts, replaced_file
from plantdesk.store.backups import SIDE_FILES, BackupKind, Backups, fill_copy
from plantdesk.store.engine import DISK_FULL, LOCK_SECONDS, check_whole, configure, connect, translate_errors
from plantdesk.store.file_lock import FileId, Identity, LockedStore, locked
from plantdesk.store.migrations import SCHEMA_VERSION, check_schema, migrate
from plantdesk.store.open_checks import check_file, has_log, is_absent, is_writable, named, refuse_newer, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_log = logging.getLogger(__name__)

#: Files up to this size (bytes) are checked whole at every opening; a larger one only at its first.
_CHECKED_SIZE = 16 * 1024 * 1024
_RETRY_DELAY = 0.02
#: Seconds for which a process that has a file with a deleted log open may take to save it.
_HOLDER_TIMEOUT = 1.0


class _Opened(NamedTuple):
    """One file that was opened: changes only when another one is."""

    identity: Identity
    read_only: bool
    generation: int


class StoreFile:
    """The open file of a store. May be used by any thread; only one may `reopen`."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the store at `path`, make it where there is none, and bring its schema up to date.

        A store that may not be written to is opened for reading. `create` makes a new one even where backups say that
        there was one. Raises StoreError of the kinds that `Store` names; a refused file is left untouched.
        """
        with _naming(path):
            self.path = resolved(path)
            self._opened, self._anchor = self._open(0, create=create)

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read."""
        return self._opened.read_only

    @property
    def generation(self) -> int:
        """Grows when another file was opened: a connection of before is to be opened again."""
        return self._opened.generation

    @property
    def is_there(self) -> bool:
        """Whether any file is under the name."""
        return os.path.lexists(self.path)

    @property
    def identity_now(self) -> Identity:
        """The files that are under the names now."""
        return identity(self.path)

    @property
    def may_be_writable(self) -> bool:
        """Whether a store that could only be read should be opened again."""
        opened = self._opened
        return opened.read_only and (is_writable(self.path) or identity(self.path) != opened.identity)

    @property
    def is_current(self) -> bool:
        """Whether the opened files are still there under their names. Takes a few µs."""
        return self._opened.read_only or identity(self.path) == self._opened.identity

    def check(self) -> None:
        """Raise StoreMovedError unless `is_current`."""
        if not self.is_current:
            raise StoreMovedError

    def connect(self) -> sqlite3.Connection:
        """Open a connection to the file that was checked, for any one thread at a time; the caller closes it.

        Waits up to a second for the writer to `reopen` a file that was replaced. Raises StoreMovedError and
        sqlite3.Error.
        """
        until = time.monotonic() + _HOLDER_TIMEOUT
        while not self.is_current and time.monotonic() < until:
            time.sleep(_RETRY_DELAY)
        self.check()
        opened = self._opened
        connection = connect(self.path, read_only=opened.read_only, immutable=_is_frozen(self.path, opened))
        if _file_id(str(self.path)) != opened.identity.database:  # nothing was read yet: no log was touched
            connection.close()
            raise StoreMovedError
        return configure(connection)

    def checkpoint(self) -> None:
        """Copy what readers allow from the log into the file. On the thread that may `reopen`. Raises sqlite3.Error."""
        if self.is_current:  # the log of a replaced file is nobody's to copy
            self._anchor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def reopen(self) -> None:
        """Open what is under the name now, after it was replaced or has become writable. Raises StoreError.

        The files of before must be of no use to anyone any more: a log of theirs that is in the way is set aside.
        """
        with _naming(self.path):
            if not self.is_there:
                raise StoreMovedError
            old = self._anchor
            self._opened, self._anchor = self._open(self._opened.generation + 1)
        old.close()

    def rebuild(self, connection: sqlite3.Connection) -> None:
        """Put a copy of what `connection` sees in the place of the file whose log was deleted while it was in use.

        Another log for the same file would not know of this one. Does nothing where the file was replaced. Raises
        OSError and StoreError.
        """
        with locked(self.path):
            now, known = identity(self.path), self._opened.identity
            if now.database == known.database and now.wal != known.wal:
                with replaced_file(self.path) as draft:
                    fill_copy(connection, draft)
                    Backups(self.path).set_aside_log(self.path)

    def close(self) -> None:
        """Close the connection that keeps the log in place. May be called again."""
        self._anchor.close()
        with contextlib.suppress(OSError, StoreError):
            if not self._opened.read_only and not os.path.lexists(_log_file(self.path)):
                self._note_closed()

    # --- opening ---

    def _open(self, generation: int, *, create: bool = False) -> tuple[_Opened, sqlite3.Connection]:
        path = self.path
        if is_absent(path):
            _create(path, create=create)
        _check_own(path)
        if not is_writable(path):
            return self._open_for_reading(generation)
        opened = None
        deadline = time.monotonic() + _HOLDER_TIMEOUT
        while opened is None:
            with locked(path) as lock, translate_errors():
                opened = self._open_locked(lock, generation, wait=time.monotonic() < deadline)
            if opened is None:
                time.sleep(_RETRY_DELAY)
        return opened

    def _open_locked(
        self, lock: LockedStore, generation: int, *, wait: bool
    ) -> tuple[_Opened, sqlite3.Connection] | None:
        """Open the file under the lock; None to try again.

        That is where the file or its log was replaced at this very moment, and where its log was deleted before: a
        process that has it open gets the time to `rebuild` it.
        """
        if wait and _is_log_lost(lock, identity(self.path)):
            return None
        self._replace_after_lost_log(lock)
        expected = self._set_aside_old_log(lock)
        try:
            connection = self._checked(expected, first_time=lock.used == Identity())
        except StoreMovedError:
            return None
        now = identity(self.path)
        if now.database != expected or (wait and _is_log_lost(lock, now)):
            connection.close()
            return None
        lock.note(now)
        return _Opened(now, read_only=False, generation=generation), connection

    def _open_for_reading(self, generation: int) -> tuple[_Opened, sqlite3.Connection]:
        opened = _Opened(identity(self.path), read_only=True, generation=generation)
        with translate_errors():
            connection = connect(self.path, read_only=True, immutable=_is_frozen(self.path, opened))
            with _closed_on_error(connection):
                check_schema(connection, _version(self.path, connection))
        return opened, connection

    def _checked(self, expected: FileId | None, *, first_time: bool) -> sqlite3.Connection:
        """Open the `expected` file for writing, check its schema before anything else, and bring it up to date."""
        path = self.path
        if has_log(path):  # a foreign schema may be in the log, which a writing connection would merge when it closes
            with contextlib.closing(connect(path, read_only=True)) as reading:
                check_schema(reading, _version(path, reading))
        connection = connect(path)
        with _closed_on_error(connection):
            if _file_id(str(path)) != expected:
                raise StoreMovedError
            version = _version(path, connection)
            check_schema(connection, version)
            _make_private(path)
            configure(connection)
            _check_damage(connection, whole=first_time or path.stat().st_size <= _CHECKED_SIZE)
            _use_log(connection)
            if version < SCHEMA_VERSION:
                Backups(path).make_from(connection, BackupKind.BEFORE_UPDATE)
                migrate(connection)
            _check_write(connection)
        return connection

    def _set_aside_old_log(self, lock: LockedStore) -> FileId | None:
        """Take what belongs to a replaced file away from beside the new one, and return which that is.

        A process that still has it open goes on with it. SQLite in this process would take the index for unused and
        truncate it, under the hands of other connections.
        """
        now, used = identity(self.path), lock.used
        if used.database is None or now.database == used.database:
            return now.database
        if now.wal is None or now.wal == used.wal:
            aside = Backups(self.path).set_aside_log(self.path)
            if now.wal is not None:
                _log.warning("The log of a file that was replaced was set aside as %s", aside.name)
        else:
            self.path.with_name(f"{self.path.name}-shm").unlink(missing_ok=True)
        return now.database

    def _replace_after_lost_log(self, lock: LockedStore) -> None:
        """Put a copy in the place of a file whose log was deleted: a stopped process may still write to both."""
        now = identity(self.path)
        if _is_log_lost(lock, now) and now.wal is None:
            with replaced_file(self.path) as draft, contextlib.closing(connect(self.path, immutable=True)) as source:
                fill_copy(source, draft)

    def _note_closed(self) -> None:
        with locked(self.path) as lock:
            if lock.used == self._opened.identity and not os.path.lexists(_log_file(self.path)):
                lock.note(Identity(self._opened.identity.database))


# --- parts of an opening ---


def _create(path: Path, *, create: bool) -> None:
    if not path.parent.is_dir():
        message = f"The folder “{path.parent}” does not exist. Make it first, or choose another file."
        raise FolderMissingError(message)
    with locked(path), translate_errors():
        if not is_absent(path):
            return  # another process was quicker
        backups = Backups(path)
        if not create and (has_log(path) or backups.newest_first()):
            raise StoreGoneError(path.name, backups.folder.name)
        if any(os.path.lexists(path.with_name(path.name + ending)) for ending in SIDE_FILES):
            backups.set_aside_log(path)
        remove_old_drafts(path.parent, path.name)
        with new_file(path) as draft, contextlib.closing(configure(connect(draft))) as connection:
            migrate(connection)
            _use_log(connection)


def _check_own(path: Path) -> None:
    """Check a file that is to be opened as the store; one that has backups was a store, whatever it is now."""
    try:
        check_file(path)
    except UnsafeFileError:
        raise
    except ForeignFileError:
        if Backups(path).newest_first():
            raise StoreDamagedError from None
        raise


def _version(path: Path, connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    refuse_newer(path, version)
    return int(version)


def _check_damage(connection: sqlite3.Connection, *, whole: bool) -> None:
    """Raise StoreDamagedError when the file is malformed; read only its most used pages unless `whole`."""
    if whole:
        check_whole(connection)
    else:
        connection.execute("SELECT max(id), max(seq) FROM plant").fetchone()


def _use_log(connection: sqlite3.Connection) -> None:
    """Put the file into WAL mode, in which it stays. SQLite itself does not wait for another program's lock here."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_RETRY_DELAY)
        else:
            return


def _check_write(connection: sqlite3.Connection) -> None:
    """Take the write lock once, so that a file that cannot be written to is reported now, not at the first plant."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("ROLLBACK")


def _make_private(path: Path) -> None:
    """Take the rights of others from a file of ours; a copy or another program may have given them (POSIX)."""
    if sys.platform != "win32":
        status, folder = path.stat(), path.parent.stat()
        if status.st_uid == os.geteuid():
            for file in (path.with_name(path.name + ending) for ending in ("", *SIDE_FILES)):
                with contextlib.suppress(FileNotFoundError):
                    file.chmod(0o600)
        else:
            _log.warning("The file %s belongs to another user, who can read and change the plants.", path.name)
        if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
            _log.warning("Every user of this machine can replace %s: its folder is writable for all.", path.name)


# --- identities ---


def _is_log_lost(lock: LockedStore, now: Identity) -> bool:
    """Whether the log of the file was deleted, and not by the last process that closed it, which notes that."""
    return now.database == lock.used.database and lock.used.wal not in {None, now.wal}


def identity(path: Path) -> Identity:
    """Return which files are under the names of a store now."""
    return Identity(_file_id(str(path)), _file_id(_log_file(path)))


def _log_file(path: Path) -> str:
    return f"{path}-wal"


def _file_id(path: str) -> FileId | None:
    try:
        status = os.stat(path)  # noqa: PTH116  half the time of Path.stat, and four for each commit
    except OSError:
        return None
    return FileId(status.st_dev, status.st_ino)


def _is_frozen(path: Path, opened: _Opened) -> bool:
    """Whether SQLite could not make the files it needs to read a log, and there is none to read."""
    return opened.read_only and not has_log(path)


# --- errors ---


@contextlib.contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors name the file, and raise those of the system as StoreError."""
    try:
        yield
    except StoreDamagedError:
        raise StoreDamagedError(named(path)) from None
    except (PermissionError, StoreReadOnlyError) as error:
        raise StoreReadOnlyError(named(path)) from error
    except OSError as error:
        if error.errno in DISK_FULL:
            raise StoreFullError from error
        reason = error.strerror or type(error).__name__
        raise StoreUnreachableError(f"{named(path)} cannot be opened: {reason}. Choose another file.") from error
