"""Copies all rows of a store in a file to or from any kind of store; makes and restores backups.

A restore of a store that can be read keeps its file, its tokens and its sources: one transaction replaces the plants,
so that every open PlantDesk sees all of the restore or nothing. A damaged or missing store is replaced by a new file
with the backup's rows; the damaged file is quarantined, never deleted.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from typing_extensions import override

from plantdesk.domain.backups import MAX_AUTOMATIC, Backup, BackupKind, Restored, RestorePreview
from plantdesk.domain.copying import Copied, CopyRefusedError, ReportFraction, StoreRows, TableRow, TargetNotEmptyError
from plantdesk.domain.errors import (
    DiskReserveError,
    NoStoreError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreGoneError,
    StoreUnreachableError,
)
from plantdesk.domain.records import COMMAND, Source, SourceKind, now_ms
from plantdesk.domain.texts import Text
from plantdesk.platform.atomic_files import fsync_file, new_file, remove_abandoned, rename_to_free_name, temporary_file
from plantdesk.platform.settings import BACKUP_INTERVALS, read_saved
from plantdesk.store.copies import TABLES, copy_rows, rows_sql
from plantdesk.store.database import StoreState
from plantdesk.store.models import BEFORE_IMAGE, PLANT
from plantdesk.store.restoring import add_to_new_store, compare_plants, replace_plants
from plantdesk.store.rows import ensure_source, find_first_new_id
from plantdesk.store.sqlite.changes import SqliteChangeWriter
from plantdesk.store.sqlite.connections import configure, connect, snapshot, transaction, translate_errors
from plantdesk.store.sqlite.counters import count_commit, read_counters
from plantdesk.store.sqlite.database import DATABASE, runner_of
from plantdesk.store.sqlite.files.backup_folder import BackupFolder, backup_error, copy_database
from plantdesk.store.sqlite.files.disk import is_disk_low
from plantdesk.store.sqlite.files.file_lock import files_at, locked
from plantdesk.store.sqlite.files.open_checks import is_absent, resolve_path
from plantdesk.store.sqlite.files.store_file import StoreFile, translate_file_errors
from plantdesk.store.sqlite.migrations import migrate
from plantdesk.store.sqlite.restore_source import load_backup, open_checked

_log = logging.getLogger(__name__)
_VALID_TOKENS = """SELECT name, digest, CAST(created_at AS INTEGER), CAST(expires_at AS INTEGER),
                          CAST(last_used_at AS INTEGER), CAST(plants_added AS INTEGER), {max_plants} FROM token
                   WHERE revoked_at IS NULL AND typeof(digest) = 'blob' AND length(digest) = 32"""
_HAS_NUL = " OR ".join(f"instr(CAST({column} AS BLOB), x'00')" for column in ("name", "tag", "note"))
_IS_USED = "SELECT EXISTS (SELECT 1 FROM plant) OR EXISTS (SELECT 1 FROM change) OR EXISTS (SELECT 1 FROM token)"


@contextmanager
def open_all_rows(path: Path) -> Iterator[StoreRows]:
    """Open the store at `path`; in the block, all rows are read in one snapshot. Raises NoStoreError and StoreError."""
    with translate_file_errors(path):
        if is_absent(resolve_path(path)):
            raise NoStoreError(file=path.name)
    with closing(StoreFile(path)) as file, translate_errors(), closing(file.connect()) as connection:
        file.refuse_outdated()
        with snapshot(connection):
            identity, last_id = connection.execute("SELECT identity, last_id FROM store").fetchone()
            counters = read_counters(connection)
            state = identity, counters.seq, counters.change, last_id
            reads = partial(_count_rows, connection), partial(_read_rows, connection), partial(_find_nul, connection)
            yield StoreRows(*state, *reads)


def fill_file(path: Path, source: StoreRows, progress: ReportFraction | None = None) -> Copied:
    """Copy all rows to a new file, or to the empty store at `path`. Raises StoreError; then nothing has changed."""
    with translate_file_errors(path):
        target = resolve_path(path)
        is_new = is_absent(target) and not os.path.lexists(f"{target}-wal")
    if is_new:
        return new_copy(target, source, progress)
    with (
        closing(StoreFile(path)) as file,
        translate_errors(),
        closing(file.connect()) as connection,
        transaction(connection),
    ):
        if connection.execute(_IS_USED).fetchone() != (0,):
            raise TargetNotEmptyError(target=path.name)
        return _fill_rows(connection, source, progress)


def new_copy(path: Path, rows: StoreRows, progress: ReportFraction | None = None, *, is_backup: bool = False) -> Copied:
    """Copy all rows to a new file, which is there only when it is complete and durable. Raises StoreError.

    `is_backup`: it keeps the identity of the store, and no token is valid in it.
    """
    remove_abandoned(path.parent)
    with translate_file_errors(path), new_file(path) as file, translate_errors(), closing(connect(file)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # the finished file is flushed
        connection.execute("PRAGMA journal_mode = MEMORY")  # a file of it would be left by a kill
        migrate(connection)
        with transaction(connection):
            copied = _fill_rows(connection, rows, progress)
            if is_backup:
                connection.execute("UPDATE store SET identity = ?", (rows.identity,))
                connection.execute("UPDATE token SET revoked_at = ? WHERE revoked_at IS NULL", (now_ms(),))
        return copied


def _fill_rows(connection: sqlite3.Connection, source: StoreRows, progress: ReportFraction | None) -> Copied:
    """Fill empty tables within the caller's transaction. Raises StoreError and sqlite3.Error."""
    connection.execute("DELETE FROM source")
    try:
        insert_rows = partial(DATABASE.insert_rows, runner_of(connection))
        copied = copy_rows(source, insert_rows, partial(_read_rows, connection), progress)
    except sqlite3.IntegrityError as error:
        raise CopyRefusedError from error
    connection.execute("UPDATE store SET last_seq = ?, last_id = ?", (source.last_seq, source.last_id))
    count_commit(connection)
    return copied


def _count_rows(connection: sqlite3.Connection) -> int:
    counts = (connection.execute(f"SELECT count(*) FROM {table.name}").fetchone() for table in TABLES)
    return sum(count for (count,) in counts)


def _find_nul(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
    plants = connection.execute(f"SELECT id FROM {PLANT.name} WHERE {_HAS_NUL}")
    changes = connection.execute(f"SELECT DISTINCT change FROM {BEFORE_IMAGE.name} WHERE {_HAS_NUL}")
    return [number for (number,) in plants], [number for (number,) in changes]


def _read_rows(connection: sqlite3.Connection, table: sa.Table) -> Iterator[TableRow]:
    return connection.execute(rows_sql(table))


# --- backups ---


#: Copies a store to a new file.
WriteCopy = Callable[[Path], object]


class BackupMaker(BackupFolder, ABC):
    """Makes the backups of a store; with `preview` and `restore` of a subclass it is a `StoreBackups`."""

    suffix = ".db"
    #: The fewest seconds between two automatic backups.
    min_interval = 0.0

    @abstractmethod
    def _open_source(self) -> AbstractContextManager[tuple[StoreState, WriteCopy]]:
        """Open the store; yield its state, and a function that copies that state or a later one. Raises StoreError."""

    def make(self, kind: BackupKind = BackupKind.BY_HAND) -> Backup:
        """Back up the committed content; the backup is durable when this returns. Raises StoreError."""
        with self._open_source() as (_, write):
            return self.make_by(write, kind)

    def copy_to(self, file: Path) -> None:
        """Copy the store to a new file; no token is valid in it. Raises StoreError."""
        try:
            if os.path.lexists(file):
                raise StoreUnreachableError(Text("“{file}” is there already. Name a new file."), file=file.name)
            with self._open_source() as (_, write):
                write(file)
        except OSError as error:
            raise backup_error(file, error) from error

    def make_if_due(self) -> bool:
        """Make an automatic backup if the settings require one now; return whether one was made. Raises StoreError."""
        settings = read_saved()
        interval = BACKUP_INTERVALS[settings.backup_every]
        return bool(interval) and self.make_after(max(interval, self.min_interval), settings.backup_count)

    def make_after(self, interval: float, count: int = MAX_AUTOMATIC) -> bool:
        """Make an automatic backup unless one was made within `interval` seconds, or the last one is up to date.

        At most `count` automatic backups stay. A backup with a time in the future, from a clock that was wrong, does
        not count as one. Returns whether a backup was made. Raises StoreError.
        """
        with self._open_source() as (state, write):
            backups = [backup for backup in self.of_store(state.identity) if backup.kind is not BackupKind.DAMAGED]
            now = now_ms()
            if any(now - interval * 1000 < backup.made_at <= now for backup in backups):
                return False
            if backups and _read_position(backups[0].path) == (state.seq, state.change):
                return False
            if is_disk_low(self._path.parent):
                raise DiskReserveError
            backup = self.make_by(write, BackupKind.AUTOMATIC)
        _log.info("Backed up to %s (%d bytes)", backup.path.name, backup.size)
        self.prune(state.identity, count)
        return True


def _read_position(backup: Path) -> tuple[int, int] | None:
    """Return the last sequence number and change of a backup; None for one that cannot be read."""
    try:
        with closing(connect(backup, immutable=True)) as connection:
            return read_counters(connection)[:2]
    except (sqlite3.Error, StoreError, TypeError):
        return None


class FileBackups(BackupMaker):
    """The backups of the store in a file."""

    is_shared = False

    def __init__(self, path: Path, file: StoreFile | None = None) -> None:
        """`file` is the store that this process has open; without it, each backup opens the file."""
        super().__init__(Path(os.path.realpath(path)))
        self._file = file

    @override
    @contextmanager
    def _open_source(self) -> Iterator[tuple[StoreState, WriteCopy]]:
        if self._file is None and is_absent(self._path):
            raise StoreUnreachableError(Text("There is no database “{file}” to back up."), file=self._path.name)
        with ExitStack() as stack:
            file = self._file or stack.enter_context(closing(StoreFile(self._path)))
            stack.enter_context(translate_errors())
            connection = stack.enter_context(closing(file.connect()))
            yield DATABASE.read_state(runner_of(connection)), partial(copy_database, connection)

    def preview(self, backup: Path) -> RestorePreview:
        """Return the effect of restoring a backup, and change nothing.

        Raises BackupUnusableError; StoreError if the store cannot be opened, unless it is missing or damaged.
        """
        with (
            suppress(StoreDamagedError, StoreGoneError),
            _open_present(self._path) as file,
            translate_errors(),
            closing(file.connect()) as connection,
        ):
            return load_backup(connection, backup)._replace(difference=compare_plants(runner_of(connection)))
        with closing(sqlite3.connect("file::memory:", uri=True, isolation_level=None)) as connection:
            return load_backup(connection, backup)

    def restore(self, backup: Path, source: Source = COMMAND) -> Restored:
        """Back up the store, and replace its plants with those of a backup."""
        with suppress(StoreDamagedError, StoreGoneError), _open_present(self._path) as file:
            return _restore_in_place(file, backup, source)
        return _replace_by_backup(resolve_path(self._path), backup)


@contextmanager
def _open_present(path: Path) -> Iterator[StoreFile]:
    """Open the store if there is one; create nothing. Raises StoreGoneError if there is none."""
    if is_absent(resolve_path(path)):
        raise StoreGoneError(path.name, BackupFolder(path).folder.name)
    with closing(StoreFile(path)) as file:
        yield file


# --- a store that can be read ---


def _restore_in_place(file: StoreFile, backup: Path, source: Source) -> Restored:
    """Back up a store that can be read, and replace its plants in the same transaction."""
    with translate_errors(), closing(file.connect()) as connection:
        loaded = load_backup(connection, backup)
        with transaction(connection):  # nobody can add a plant between the backup and the end
            preview = loaded._replace(difference=compare_plants(runner_of(connection)))
            if preview.changes_nothing:
                return Restored(preview, None, tokens_retained=True)
            with closing(file.connect()) as reading:
                saved = BackupFolder(file.path).make_from(reading, BackupKind.BEFORE_RESTORE)
            change = replace_plants(SqliteChangeWriter(connection), source, backup.name)
            count_commit(connection)
            file.raise_if_moved()
    return Restored(preview, saved.path, tokens_retained=True, change=change)


# --- a store that is damaged or missing ---


def _replace_by_backup(path: Path, backup: Path) -> Restored:
    """Make a new file with the backup's rows, quarantine the damaged one, and give its name to the new one."""
    before = files_at(path).database
    try:
        with temporary_file(path) as temporary:
            preview, has_retained_tokens = _fill(temporary, path, backup)
            fsync_file(temporary)
            with locked(path):
                if files_at(path).database != before:
                    raise StoreBusyError
                saved = _quarantine(path)
                rename_to_free_name(temporary, path)
    except PermissionError as error:
        message = Text(
            "The damaged file cannot be replaced while it is open. Close PlantDesk, then type: plantdesk restore FILE"
        )
        raise StoreUnreachableError(message) from error
    except OSError as error:
        message = Text("The backup cannot be put in place: {reason}.", reason=str(error.strerror))
        raise StoreUnreachableError(message) from error
    return Restored(preview, saved, tokens_retained=has_retained_tokens)


def _fill(temporary: Path, path: Path, backup: Path) -> tuple[RestorePreview, bool]:
    """Make a store with the backup's plants in `temporary`; return whether the tokens of that at `path` were kept."""
    with translate_errors(), closing(configure(connect(temporary))) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # the finished file is flushed
        migrate(connection)
        preview = load_backup(connection, backup)
        with transaction(connection):
            add_to_new_store(runner_of(connection))
            has_retained_tokens = _carry_over_tokens(connection, path)
            connection.execute("UPDATE store SET last_id = ?", (max(_read_last_id(path), _read_last_id(backup)),))
            count_commit(connection)
    return preview, has_retained_tokens


def _read_last_id(file: Path) -> int:
    """Return the largest id that a plant of a store has or had, as far as the file can be read."""
    with suppress(sqlite3.Error, StoreError), open_checked(file) as connection:
        return find_first_new_id(runner_of(connection)) - 1
    return 0


def _quarantine(path: Path) -> Path | None:
    backups = BackupFolder(path)
    if is_absent(path):
        backups.quarantine_log(path)
        return None
    return backups.quarantine(path)


def _carry_over_tokens(connection: sqlite3.Connection, path: Path) -> bool:
    """Copy the valid tokens of the damaged store at `path`; return whether they could be read."""
    try:
        with open_checked(path) as damaged:
            has_limits = any(row[1] == "max_plants" for row in damaged.execute("PRAGMA table_info(token)"))
            limit = "CAST(max_plants AS INTEGER)" if has_limits else "NULL"  # none in a file of PlantDesk 0.1.0
            tokens = damaged.execute(_VALID_TOKENS.format(max_plants=limit)).fetchall()
    except (sqlite3.Error, StoreError):
        return False
    for name, *values in tokens:
        source = ensure_source(runner_of(connection), Source(0, SourceKind.TOKEN, str(name))).id
        connection.execute(
            """INSERT OR IGNORE INTO token
               (name, source_id, digest, created_at, expires_at, last_used_at, plants_added, max_plants)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (str(name), source, *values),
        )
    return True
