"""Restoring the plants of a backup, with a preview of what that would change.

A store that can be read keeps its file, its tokens and its origins: in one transaction its plants become those of the
backup, so that every open PlantDesk sees all of it or nothing. A damaged or missing store is replaced by a new one with
the backup's rows; the damaged file is quarantined, never deleted.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from typing_extensions import override

from plantdesk.domain.backups import Backup, BackupKind, Restored, RestorePreview
from plantdesk.domain.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreGoneError,
    StoreUnreachableError,
    Text,
)
from plantdesk.domain.history import Change, ChangeKind, parameter
from plantdesk.domain.records import COMMAND, Source, SourceKind
from plantdesk.store.change_writer import ChangeEntry
from plantdesk.store.ids import id_before_new
from plantdesk.store.restoring import difference, exchange
from plantdesk.store.rows import add_source
from plantdesk.store.sqlite.backups.jobs import STATE, MadeBackups, State
from plantdesk.store.sqlite.backups.restore_source import load, opened
from plantdesk.store.sqlite.changes import SqliteChange
from plantdesk.store.sqlite.connections import configure, connect, transaction, translate_errors
from plantdesk.store.sqlite.database import runner
from plantdesk.store.sqlite.files.atomic_file import flush, put, temporary_file
from plantdesk.store.sqlite.files.backup_folder import Backups, copy_database
from plantdesk.store.sqlite.files.file_lock import identity, locked
from plantdesk.store.sqlite.files.open_checks import is_absent, resolved
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.migrations import migrate
from plantdesk.store.sqlite.numbers import count_commit, count_plants, skip_plants

_VALID_TOKENS = """SELECT name, digest, CAST(created_at AS INTEGER), CAST(expires_at AS INTEGER),
                          CAST(last_used_at AS INTEGER), CAST(plants_added AS INTEGER) FROM token
                   WHERE revoked_at IS NULL AND typeof(digest) = 'blob' AND length(digest) = 32"""


class FileBackups(MadeBackups):
    """The backups of the store in a file."""

    is_shared = False

    def __init__(self, path: Path, file: StoreFile | None = None) -> None:
        """`file`: the store as this process has it open."""
        super().__init__(Path(os.path.realpath(path)))
        self._file = file

    @override
    @contextlib.contextmanager
    def _state(self) -> Iterator[State]:
        if self._file is None and is_absent(self._path):
            raise StoreUnreachableError(Text("There is no database “{file}” to back up."), file=self._path.name)
        with contextlib.ExitStack() as stack:
            file = self._file or stack.enter_context(contextlib.closing(StoreFile(self._path)))
            stack.enter_context(translate_errors())
            connection = stack.enter_context(contextlib.closing(file.connect()))
            seq, change, identity = connection.execute(STATE).fetchone()
            yield State(seq, change, identity, partial(copy_database, connection, revoke_tokens=True))

    def preview(self, backup: Path) -> RestorePreview:
        """Return what restoring a backup would do, and change nothing.

        Raises BackupUnusableError, and StoreError for a present store that is neither missing nor damaged.
        """
        with (
            contextlib.suppress(StoreDamagedError, StoreGoneError),
            _present(self._path) as file,
            translate_errors(),
            contextlib.closing(file.connect()) as connection,
        ):
            return load(connection, backup)._replace(difference=difference(runner(connection)))
        with contextlib.closing(sqlite3.connect("file::memory:", uri=True, isolation_level=None)) as connection:
            return load(connection, backup)

    def restore(self, backup: Path, source: Source = COMMAND) -> Restored:
        """Make the plants of a backup those of the store, after a backup of the present state."""
        with contextlib.suppress(StoreDamagedError, StoreGoneError), _present(self._path) as file:
            return _take_over(file, backup, source)
        return _put_in_place(resolved(self._path), backup)


@contextlib.contextmanager
def _present(path: Path) -> Iterator[StoreFile]:
    """Open the present store. Raises StoreGoneError if there is none: nothing is created."""
    if is_absent(resolved(path)):
        raise StoreGoneError(path.name, Backups(path).folder.name)
    with contextlib.closing(StoreFile(path)) as file:
        yield file


# --- a store that can be read ---


def _take_over(file: StoreFile, backup: Path, source: Source) -> Restored:
    with translate_errors(), contextlib.closing(file.connect()) as connection:
        loaded = load(connection, backup)
        with transaction(connection):  # nobody can add a plant between the backup and the end
            preview = loaded._replace(difference=difference(runner(connection)))
            if preview.changes_nothing:
                return Restored(preview, None, tokens_retained=True)
            saved = _back_up(file)
            change = _take_plants(connection, source, {"backup": parameter(backup.name)})
            file.check()
    return Restored(preview, saved.path, tokens_retained=True, change=change)


def _back_up(file: StoreFile) -> Backup:
    with contextlib.closing(file.connect()) as connection:
        return Backups(file.path).make_from(connection, BackupKind.BEFORE_RESTORE)


def _take_plants(connection: sqlite3.Connection, source: Source, parameters: dict[str, Any]) -> Change:
    """Make the plants of `temp.restored` those of the store, as a change of the history."""
    count_plants(connection)
    writer = SqliteChange(connection)
    exchange(writer.runner, writer.number)
    skip_plants(connection)
    count_commit(connection)
    return writer.record(ChangeEntry(source, ChangeKind.RESTORE, parameters))


# --- a store that is damaged or missing ---


def _put_in_place(path: Path, backup: Path) -> Restored:
    """Make a new store of the backup's rows, quarantine the damaged file, and give its name to the new one."""
    before = identity(path).database
    try:
        with temporary_file(path) as temporary:
            preview, retained = _fill(temporary, path, backup)
            flush(temporary)
            with locked(path):
                if identity(path).database != before:
                    raise StoreBusyError
                saved = _quarantine(path)
                put(temporary, path)
    except PermissionError as error:
        message = Text(
            "The damaged file cannot be replaced while it is open. Close PlantDesk, then type: plantdesk restore FILE"
        )
        raise StoreUnreachableError(message) from error
    except OSError as error:
        message = Text("The backup cannot be put in place: {reason}.", reason=str(error.strerror))
        raise StoreUnreachableError(message) from error
    return Restored(preview, saved, tokens_retained=retained)


def _fill(temporary: Path, path: Path, backup: Path) -> tuple[RestorePreview, bool]:
    """Fill the empty file `temporary` with a new store of the backup's plants; return whether tokens were retained."""
    with translate_errors(), contextlib.closing(configure(connect(temporary))) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # the finished file is flushed
        migrate(connection)
        preview = load(connection, backup)
        with transaction(connection):
            exchange(runner(connection), 0, with_history=False)
            retained = _carry_over_tokens(connection, path)
            connection.execute("UPDATE store SET last_id = ?", (max(_last_id(path), _last_id(backup)),))
            skip_plants(connection)
    return preview, retained


def _last_id(file: Path) -> int:
    """Return the largest id that a plant of a store has or had, as far as the file can be read."""
    with contextlib.suppress(sqlite3.Error, StoreError), opened(file) as connection:
        return id_before_new(runner(connection))
    return 0


def _quarantine(path: Path) -> Path | None:
    backups = Backups(path)
    if is_absent(path):
        backups.quarantine_log(path)
        return None
    return backups.quarantine(path)


def _carry_over_tokens(connection: sqlite3.Connection, path: Path) -> bool:
    """Copy the valid tokens of the damaged store at `path`; those of a backup are never valid.

    Returns whether they could be read.
    """
    try:
        with opened(path) as damaged:
            tokens = damaged.execute(_VALID_TOKENS).fetchall()
    except (sqlite3.Error, StoreError):
        return False
    for name, *values in tokens:
        source = _token_source(connection, str(name))
        connection.execute(
            """INSERT OR IGNORE INTO token (name, source_id, digest, created_at, expires_at, last_used_at, plants_added)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (str(name), source, *values),
        )
    return True


def _token_source(connection: sqlite3.Connection, name: str) -> int:
    sql = "SELECT min(id) FROM source WHERE kind = ? AND label = ?"
    (source,) = connection.execute(sql, (SourceKind.TOKEN, name)).fetchone()
    if source is None:
        return add_source(runner(connection), SourceKind.TOKEN, name).id
    return int(source)
