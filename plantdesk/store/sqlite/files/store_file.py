"""A store's file: how it is opened under its lock, and how a process has it open.

The steps of an opening, in this order: links are resolved and the files beside it checked; the header is read without
changing anything; the lock is taken; a log of another file is quarantined; SQLite opens the file, whose identity is
compared before anything is read; the schema must be that of its version; damage check, backup, migration, record.
The README of the store has the reasons.

Afterwards connections are opened by `StoreFile` alone. It compares the identity of the files: when another file has
taken the name, or the log is gone, no connection is opened and no commit is acknowledged, until the writer has saved
the content of the old file and calls `reopen`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.errors import (
    FolderMissingError,
    ForeignFileError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreGoneError,
    StoreInUseError,
    StoreMovedError,
    StoreReadOnlyError,
    StoreUnreachableError,
    UnsafeFileError,
)
from plantdesk.domain.records import COMMAND, FORM
from plantdesk.domain.texts import Text
from plantdesk.platform.atomic_files import atomic_replacement, fsync_folder, new_file, remove_abandoned
from plantdesk.platform.paths import is_writable, make_private
from plantdesk.store.sqlite.connections import (
    DISK_FULL,
    LOCK_SECONDS,
    check_whole,
    configure,
    connect,
    transaction,
    translate_errors,
)
from plantdesk.store.sqlite.counters import count_commit, read_counters
from plantdesk.store.sqlite.files.backup_folder import BackupFolder, fill_copy
from plantdesk.store.sqlite.files.file_lock import FileId, LockedStore, StoreFiles, UseRecord, file_id, files_at, locked
from plantdesk.store.sqlite.files.open_checks import (
    SIDE_FILES,
    check_file,
    connect_for_reading,
    file_text,
    has_log,
    is_absent,
    is_own_log,
    refuse_newer,
    resolve_path,
    state_without_log,
)
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, check_schema, migrate

_log = logging.getLogger(__name__)
#: Files up to this size are checked whole at each opening, larger ones only at the first.
_MAX_CHECKED_BYTES = 16 * 1024 * 1024
_RETRY_DELAY = 0.02
#: Seconds for which a process that has a file with a deleted log open may take to save it.
_HOLDER_TIMEOUT = 1.0
#: Seconds without a write after which another program counts as finished, and the most waits for them.
_QUIET_SECONDS = 0.5
_MAX_QUIET_CHECKS = 60


class StoreFile:
    """The open file of a store. May be used by any thread; only the writer thread may call `reopen`."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the store at `path` as `SqliteStore` does, and raise the same errors."""
        with translate_file_errors(path):
            self.path = resolve_path(path)
            self._opened = _open_file(self.path, create=create)
            self.generation = 0

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read."""
        return self._opened.read_only

    @property
    def may_be_writable(self) -> bool:
        """Whether a store that was opened for reading should be opened again, as it may be written to now."""
        opened = self._opened
        return opened.read_only and (is_writable(self.path) or files_at(self.path) != opened.identity)

    @property
    def is_current(self) -> bool:
        """Whether the opened files are still there under their names. Takes a few µs."""
        return self._opened.read_only or files_at(self.path) == self._opened.identity

    @property
    def has_index(self) -> bool:
        """Whether the index of the log is still there; if not, other processes may begin another one."""
        return self._opened.read_only or file_id(f"{self.path}-shm") == self._opened.log_index

    def refuse_outdated(self) -> None:
        """Raise StoreReadOnlyError for a store of an older PlantDesk that cannot be updated: no query fits it."""
        if self.read_only:
            with translate_errors(), contextlib.closing(self.connect()) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version < SCHEMA_VERSION:
                raise StoreReadOnlyError(what=file_text(self.path))

    def raise_if_moved(self) -> None:
        """Raise StoreMovedError unless `is_current`."""
        if not self.is_current:
            raise StoreMovedError

    def connect(self) -> sqlite3.Connection:
        """Open a connection to the file that was checked, for any one thread at a time; the caller closes it.

        Waits up to a second for the writer to `reopen` a file that was replaced. Raises StoreMovedError and
        sqlite3.Error.
        """
        deadline = time.monotonic() + _HOLDER_TIMEOUT
        while not self.is_current and time.monotonic() < deadline:
            time.sleep(_RETRY_DELAY)
        self.raise_if_moved()
        opened = self._opened
        connection = connect_for_reading(self.path) if opened.read_only else connect(self.path)
        if file_id(self.path) != opened.identity.database:  # nothing was read yet: no log was touched
            connection.close()
            raise StoreMovedError
        configure(connection)
        if not self.is_current:  # SQLite may have begun a new log instead of one that was deleted
            connection.close()
            raise StoreMovedError
        return connection

    def checkpoint(self) -> bool:
        """Copy what readers allow from the log into the file; return whether that was all.

        Called on the writer thread. Raises sqlite3.Error.
        """
        if not self.is_current:  # the log of a replaced file is nobody's to copy
            return False
        is_busy, pages, copied = self._opened.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return not is_busy and pages == copied

    @property
    def write_stamp(self) -> tuple[int, int]:
        """Time (ns) and size of the file without its log, which checkpoints change; zeros if it is gone."""
        with contextlib.suppress(OSError):
            status = self.path.stat()
            return status.st_mtime_ns, status.st_size
        return 0, 0

    @property
    def is_at_its_path(self) -> bool:
        """Whether the opened database is still under its name, whatever its content is."""
        return file_id(self.path) == self._opened.identity.database

    def reopen(self) -> None:
        """Open the file that has the name now, after it was replaced or has become writable. Raises StoreError.

        The content of the old files must be saved: a log of theirs that is in the way is quarantined.
        """
        with translate_file_errors(self.path):
            if not os.path.lexists(self.path):
                raise StoreMovedError
            old = self._opened
            if not (old.read_only or is_writable(self.path)):
                # Connections for reading would keep the log's index of the file before, also for later writes.
                raise StoreReadOnlyError
            try:
                self._opened = _open_file(self.path)
            except (ForeignFileError, StoreDamagedError):
                self._quarantine_left_log(old.identity)
                raise
            self.generation += 1
        old.connection.close()

    def _quarantine_left_log(self, last: StoreFiles) -> None:
        """Quarantine the log of the `last` files if it is beside another file now: SQLite would apply it to that."""
        with locked(self.path):
            if not self.is_at_its_path and file_id(f"{self.path}-wal") == last.wal:
                BackupFolder(self.path).quarantine_log(self.path)

    def replace_overwritten(self) -> None:
        """Replace a file that another program has overwritten by a copy, once nobody writes to it; quarantine the log.

        SQLite does not checkpoint into a file that is no longer under its name. Raises StoreError.
        """
        for _ in range(_MAX_QUIET_CHECKS):
            stamp = self.write_stamp
            time.sleep(_QUIET_SECONDS)
            if stamp == self.write_stamp:
                break
        with translate_file_errors(self.path), locked(self.path), atomic_replacement(self.path) as temporary:
            shutil.copyfile(self.path, temporary)
            BackupFolder(self.path).quarantine_log(self.path)

    def rebuild(self, connection: sqlite3.Connection) -> None:
        """Replace the file, after its log or index was deleted while in use, by a copy of what `connection` sees.

        Another log for the same file would not know of this one, and SQLite keeps the index while any connection of
        this process is open. Does nothing if the file was replaced. Raises OSError and StoreError.
        """
        with locked(self.path) as lock:
            files = files_at(self.path)
            opened = self._opened.identity
            is_ours = lock.last_record.files in {opened, StoreFiles()} and files.database == opened.database
            if is_ours and not (files.wal == opened.wal and self.has_index):
                # Commits by the same index wait, and are refused if the file is replaced.
                with (
                    translate_errors(),
                    transaction(self._opened.connection),
                    atomic_replacement(self.path) as temporary,
                ):
                    fill_copy(connection, temporary)
                    BackupFolder(self.path).quarantine_log(self.path)

    def close(self) -> None:
        """Close the connection that keeps the log. May be called again."""
        with contextlib.suppress(OSError, StoreError):
            if not self._opened.read_only:
                self._close_and_record()
        self._opened.connection.close()

    def _close_and_record(self) -> None:
        """Close; record the last commit, and whether SQLite has deleted the log, which would otherwise seem lost."""
        opened = self._opened
        commits = None
        with locked(self.path) as lock:
            record = lock.last_record
            is_whole = lock.last_record.files == opened.identity == files_at(self.path)
            with contextlib.suppress(StoreError, sqlite3.Error):
                commits = read_counters(opened.connection).commits if is_whole else None
            opened.connection.close()
            if is_whole:
                is_kept = os.path.lexists(f"{self.path}-wal")
                files = opened.identity if is_kept else StoreFiles(opened.identity.database)
                lock.write_record(files, record.store, record.users - 1, commits)


# --- opening ---


class OpenedFile(NamedTuple):
    """A file that was opened. As long as `connection` is open, SQLite keeps the log."""

    identity: StoreFiles
    #: The index of the log. Processes with different ones would overwrite each other's commits.
    log_index: FileId | None
    read_only: bool
    connection: sqlite3.Connection


def _open_file(path: Path, *, create: bool = False) -> OpenedFile:
    """Open the store at the resolved `path` as `SqliteStore` does. Raises StoreError and OSError."""
    if is_absent(path):
        _create_if_absent(path, create=create)
    _check_is_store(path)
    if not is_writable(path):
        return _open_for_reading(path)
    deadline = time.monotonic() + _HOLDER_TIMEOUT
    while True:
        with contextlib.suppress(StoreMovedError), locked(path) as lock, translate_errors():
            return _open_locked(path, lock, can_wait=time.monotonic() < deadline)
        time.sleep(_RETRY_DELAY)


def _open_locked(path: Path, lock: LockedStore, *, can_wait: bool) -> OpenedFile:
    """Open the file under the lock. Raises StoreMovedError if the caller must try again.

    It must if the file or its log was just replaced, or if `_ensure_own_log` has to wait and `can_wait` allows it.
    """
    present = _ensure_own_log(path, lock.last_record, can_wait=can_wait)
    connection = _open_checked(path, present.database, is_first_time=lock.last_record.files == StoreFiles())
    with _close_on_error(connection):
        opened = files_at(path)
        if opened.database != present.database or present.wal not in {None, opened.wal}:
            raise StoreMovedError
        (store,) = connection.execute("SELECT identity FROM store").fetchone() or ("",)
        lock.write_record(opened, str(store), 1 if lock.last_record.files.wal is None else lock.last_record.users + 1)
        return OpenedFile(opened, file_id(f"{path}-shm"), read_only=False, connection=connection)


def _ensure_own_log(path: Path, record: UseRecord, *, can_wait: bool) -> StoreFiles:
    """Quarantine a log that belongs to another file, and return which files are there now.

    If the log or its index was deleted, a process that still has it open gets time to `rebuild` the file: commits by
    another index would be lost. If the caller `can_wait`, StoreMovedError is raised until that is done.
    """
    present = files_at(path)
    last = record.files
    is_index_missing = present == last and present.wal is not None and file_id(f"{path}-shm") is None
    if can_wait and is_index_missing:
        raise StoreMovedError
    was_replaced = last.database not in {None, present.database}
    if was_replaced:
        _quarantine_old_log(path, present, last)
        present = StoreFiles(present.database, file_id(f"{path}-wal"))
    is_own = is_own_log(path, record.store) if has_log(path) else None
    # SQLite deletes the log when the last process closes the file, which then records that there is none.
    is_log_missing = present.database == last.database and last.wal not in {None, present.wal}
    if is_log_missing and not is_own:
        if not _has_last_commit(path, record):
            if can_wait:
                raise StoreMovedError
            _log.warning(
                "The log of %s is gone: what was added last may be missing, compare with: plantdesk restore", path.name
            )
        return _replace_by_copy(path)
    if is_own is False:
        return _remove_foreign_log(path, present, last)
    if was_replaced and present.wal is not None:
        return _merge_moved_log(path, present)
    return present


def _merge_moved_log(path: Path, present: StoreFiles) -> StoreFiles:
    """Copy the log into the file; if somebody else has both open, with another index of the log, replace the file.

    By another index, that process does not see what this one adds, and deletes the log if it closes the file last.
    """
    with contextlib.closing(_open_checked(path, present.database, is_first_time=True)) as connection:
        is_busy, pages, copied = connection.execute("PRAGMA wal_checkpoint").fetchone()
    if not os.path.lexists(f"{path}-wal"):
        return files_at(path)
    if is_busy or pages != copied:
        raise StoreBusyError
    return _replace_by_copy(path, BackupFolder(path).quarantine_log)


def _has_last_commit(path: Path, record: UseRecord) -> bool:
    """Return whether nobody has the file open, and it has the last commit: then another program has moved the log."""
    base = state_without_log(path)
    return record.users == 0 and base is not None and base.number == record.commits


def _open_for_reading(path: Path) -> OpenedFile:
    """Open a file that cannot be written to; write and create nothing beside it."""
    present = files_at(path)
    with translate_errors():
        connection = connect_for_reading(path)
        with _close_on_error(connection):
            check_schema(connection, _read_version(path, connection))
    return OpenedFile(present, None, read_only=True, connection=connection)


def _open_checked(path: Path, expected: FileId | None, *, is_first_time: bool) -> sqlite3.Connection:
    """Open the `expected` file for writing, check its schema before anything else, and bring it up to date."""
    if has_log(path):  # a foreign schema may be in the log, which a writing connection would merge when it closes
        with contextlib.closing(connect(path, read_only=True)) as reading:
            check_schema(reading, _read_version(path, reading))
    connection = connect(path)
    with _close_on_error(connection):
        if file_id(path) != expected:
            raise StoreMovedError
        version = _read_version(path, connection)
        check_schema(connection, version)
        _make_private(path)
        configure(connection)
        _check_damage(connection, whole=is_first_time or path.stat().st_size <= _MAX_CHECKED_BYTES)
        _enable_wal(connection)
        if version < SCHEMA_VERSION:
            _check_not_in_use(path, connection)
            BackupFolder(path).make_from(connection, BackupKind.BEFORE_UPDATE)
            migrate(connection)
        _check_write(connection)
        _complete_sources(connection)
    return connection


def _quarantine_old_log(path: Path, present: StoreFiles, last: StoreFiles) -> None:
    """Quarantine the log, or remove the index, that a replaced file has left beside the new one.

    A process that has it open continues to use it. SQLite in this process would take the index for unused
    and truncate it while other connections use it.
    """
    if present.wal is None or present.wal == last.wal:
        _quarantine_log_with_hint(path)
    else:
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)


def _quarantine_log_with_hint(path: Path) -> None:
    """Quarantine the log, and log how its plants are restored."""
    has_content = has_log(path)
    quarantined = BackupFolder(path).quarantine_log(path)
    if has_content:
        hint = (
            "To restore its plants, copy the file that it belongs to beside it as %s, and use: plantdesk restore FILE"
        )
        _log.warning("The log of another file was quarantined as %s-wal in %s", quarantined.name, quarantined.parent)
        _log.warning(hint, quarantined.name)


def _remove_foreign_log(path: Path, present: StoreFiles, last: StoreFiles) -> StoreFiles:
    """Quarantine a foreign log, and return which files are there now.

    The file may be the one that was opened last, if it was overwritten; a process may have it open.
    """
    if present.database == last.database:
        return _replace_by_copy(path)
    _quarantine_log_with_hint(path)
    return files_at(path)


def _replace_by_copy(path: Path, remove_log: Callable[[Path], object] = _quarantine_log_with_hint) -> StoreFiles:
    """Replace a file by a copy of it without any log beside it, and return which files are there now.

    If its log was deleted, a suspended process may still write to the old file and the old log. A process that has
    started a new log meanwhile has acknowledged nothing in it, so that log may go.
    """
    with atomic_replacement(path) as temporary, contextlib.closing(connect(path, immutable=True)) as source:
        fill_copy(source, temporary)
        remove_log(path)
    return files_at(path)


def _create_if_absent(path: Path, *, create: bool) -> None:
    """Create an empty store unless another process was quicker. Raises FolderMissingError and StoreGoneError."""
    if not path.parent.is_dir():
        message = Text("The folder “{folder}” does not exist. Make it first, or choose another file.")
        raise FolderMissingError(message, folder=str(path.parent))
    with locked(path), translate_errors():
        if not is_absent(path):
            return  # another process was quicker
        backups = BackupFolder(path)
        if not create and (has_log(path) or backups.newest_first()):
            raise StoreGoneError(path.name, backups.folder.name)
        if any(os.path.lexists(path.with_name(path.name + ending)) for ending in SIDE_FILES):
            backups.quarantine_log(path)
        remove_abandoned(path.parent)
        with new_file(path) as temporary, contextlib.closing(configure(connect(temporary))) as connection:
            migrate(connection)
            _enable_wal(connection)
        fsync_folder(path.parent.parent)  # the folder may be new as well


def _check_is_store(path: Path) -> None:
    """Check a file before it is opened as the store. A foreign file that has backups counts as a damaged store."""
    try:
        check_file(path)
    except UnsafeFileError:
        raise
    except ForeignFileError:
        if BackupFolder(path).newest_first():
            raise StoreDamagedError from None
        raise


def _read_version(path: Path, connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    refuse_newer(path, version)
    return int(version)


def _check_damage(connection: sqlite3.Connection, *, whole: bool) -> None:
    """Raise StoreDamagedError when the file is malformed; read only its most used pages unless `whole`."""
    if whole:
        check_whole(connection)
    else:
        # Each by itself: two in one SELECT would read all plants.
        connection.execute("SELECT (SELECT max(id) FROM plant), (SELECT max(seq) FROM plant)").fetchone()


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Set the WAL mode, which the file keeps. SQLite itself does not wait for another program's lock here."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_DELAY)
        else:
            return


def _check_not_in_use(path: Path, connection: sqlite3.Connection) -> None:
    """Raise StoreInUseError if another program has the file open, even if it is idle."""
    connection.execute("PRAGMA user_version").fetchone()  # opens the log; else the mode would stay
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise StoreInUseError(path.name) from error
        raise
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("PRAGMA user_version").fetchone()  # gives the lock back


def _check_write(connection: sqlite3.Connection) -> None:
    """Take the write lock once, so that a file that cannot be written to is reported now, not at the first plant."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("ROLLBACK")


def _complete_sources(connection: sqlite3.Connection) -> None:
    """Add the sources that each store must have, if another program has removed them: plants refer to them."""
    (count,) = connection.execute("SELECT count(*) FROM source WHERE id IN (?, ?)", (FORM.id, COMMAND.id)).fetchone()
    if count < len((FORM, COMMAND)):
        with transaction(connection):
            count_commit(connection)
            rows = [(source.id, source.kind, source.label) for source in (FORM, COMMAND)]
            connection.executemany("INSERT OR IGNORE INTO source (id, kind, label) VALUES (?, ?, ?)", rows)


def _make_private(path: Path) -> None:
    """Remove the rights of others on a file of this user; a copy or another program may have given them (POSIX)."""
    if sys.platform != "win32":
        status = path.stat()
        folder = path.parent.stat()
        if status.st_uid == os.geteuid():
            for ending in ("", *SIDE_FILES):
                with contextlib.suppress(FileNotFoundError):
                    make_private(path.with_name(path.name + ending))
        else:
            _log.warning("The file %s belongs to another user, who can read and change the plants.", path.name)
        if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
            _log.warning("Every user of this machine can replace %s: its folder is writable for all.", path.name)


@contextlib.contextmanager
def _close_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextlib.contextmanager
def translate_file_errors(path: Path) -> Iterator[None]:
    """Raise errors of the system as StoreError, and let the messages name the file."""
    try:
        yield
    except StoreDamagedError:
        raise StoreDamagedError(what=file_text(path)) from None
    except (PermissionError, StoreReadOnlyError) as error:
        raise StoreReadOnlyError(what=file_text(path)) from error
    except InterruptedError:
        raise
    except OSError as error:
        if error.errno in DISK_FULL:
            raise StoreFullError from error
        reason = error.strerror or type(error).__name__
        message = Text("{what} cannot be opened: {reason}. Choose another file.", what=file_text(path), reason=reason)
        raise StoreUnreachableError(message) from error
