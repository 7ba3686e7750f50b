"""Opening a file as a store: make a new one whole, refuse what is none, and leave a refused file untouched.

What a file is, is read from its header as if it could not change (`immutable`), since opening a foreign file plainly
can already alter it: a hot journal is rolled back. Nothing but SQLite ever opens the file: POSIX drops all locks of a
process on a file when it closes any descriptor of it (https://sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from typing import TYPE_CHECKING

from plantdesk.errors import (
    FolderMissingError,
    ForeignFileError,
    NewerStoreError,
    StoreDamagedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.store.backups import BackupKind, Backups
from plantdesk.store.engine import LOCK_SECONDS, check_whole, connect, told_plainly
from plantdesk.store.migrations import APPLICATION_ID, SCHEMA_VERSION, migrate
from plantdesk.store.placing import placed
from plantdesk.store.stray_log import set_stray_log_aside

if TYPE_CHECKING:
    from pathlib import Path

#: Files up to this size (bytes) are checked whole at every opening; a larger one would delay the start.
_CHECKED_SIZE = 16 * 1024 * 1024
_BETWEEN_TRIES = 0.02


def prepare(path: Path) -> None:
    """Make sure that `path` is a store of the present schema; make a new one when nothing is there.

    Raises StoreError, of the kinds that Store names.
    """
    try:
        _refuse_folder(path)
        if not path.exists() or path.stat().st_size == 0:
            set_stray_log_aside(path)
            _create(path)
        _identify_own(path)
        with told_plainly():
            _bring_up_to_date(path)
    except PermissionError as error:
        raise StoreReadOnlyError(_named(path)) from error
    except StoreDamagedError:
        raise StoreDamagedError(_named(path)) from None
    except StoreReadOnlyError:
        raise StoreReadOnlyError(_named(path)) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreUnreachableError(f"{_named(path)} cannot be opened: {reason}. Choose another file.") from error


def _named(path: Path) -> str:
    return f"The file “{path.name}”"


def _create(path: Path) -> None:
    if not path.parent.is_dir():
        message = f"The folder “{path.parent}” does not exist. Make it first, or choose another file."
        raise FolderMissingError(message)
    with told_plainly(), placed(path) as new, contextlib.closing(connect(new)) as connection:
        migrate(connection)
        _use_log(connection)


def identify(path: Path) -> None:
    """Make sure that `path` is a store of this or an older PlantDesk, without changing anything.

    Raises ForeignFileError, NewerStoreError, and what SQLite says of a file that cannot be read, as StoreError.
    """
    _refuse_folder(path)
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with told_plainly(), contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            application_id = version = 0
    if application_id != APPLICATION_ID:
        raise ForeignFileError(f"{_named(path)} is not a PlantDesk store. It was left as it is; choose another file.")
    _refuse_newer(path, version)


def _refuse_folder(path: Path) -> None:
    """First of all, for on Windows a folder has the size of an empty file."""
    if path.is_dir():
        raise ForeignFileError(f"“{path.name}” is a folder. Name a file in it instead.")


def _identify_own(path: Path) -> None:
    """Identify a file that is to be written to; one that has backups was a store, whatever it is now."""
    # Told before SQLite opens it for writing, which would leave a read-only log beside a read-only file.
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StoreReadOnlyError(_named(path))
    try:
        identify(path)
    except ForeignFileError:
        if path.is_file() and Backups(path).newest_first():
            raise StoreDamagedError from None
        raise


def _refuse_newer(path: Path, version: int) -> None:
    if version > SCHEMA_VERSION:
        message = f"{_named(path)} was written by a newer PlantDesk. It was left as it is; update PlantDesk to open it."
        raise NewerStoreError(message)


def _bring_up_to_date(path: Path) -> None:
    with contextlib.closing(connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        _refuse_newer(path, version)
        _check(connection, path.stat().st_size)
        _use_log(connection)
        if version < SCHEMA_VERSION:
            Backups(path).make_from(connection, BackupKind.BEFORE_UPDATE)
            migrate(connection)
        # Takes the write lock once, so that a read-only file or folder is told now and not at the first plant.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("ROLLBACK")


def _use_log(connection: sqlite3.Connection) -> None:
    """Put the file into WAL mode, in which it stays. SQLite itself does not wait here for who does the same."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_BETWEEN_TRIES)
        else:
            return


def _check(connection: sqlite3.Connection, size: int) -> None:
    """Raise StoreDamagedError when the file is malformed; a large one is only looked at in its most used places."""
    if size > _CHECKED_SIZE:
        connection.execute("SELECT max(id), max(seq) FROM plant").fetchone()
        return
    check_whole(connection)
