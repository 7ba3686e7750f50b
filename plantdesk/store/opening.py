"""Opening a file as a store: make a new one whole, refuse what is none, and leave a refused file untouched.

What a file is, is read from its header as if it could not change (`immutable`), since opening a foreign file plainly
can already alter it: a hot journal is rolled back. Nothing but SQLite ever opens the file: POSIX drops all locks of a
process on a file when it closes any descriptor of it (https://sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from pathlib import Path

from plantdesk.errors import (
    FolderMissingError,
    ForeignFileError,
    NewerStoreError,
    StoreDamagedError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.store.engine import connect, told_plainly
from plantdesk.store.migrations import APPLICATION_ID, SCHEMA_VERSION, migrate

#: Files up to this size (bytes) are checked whole at every opening; a larger one would delay the start.
_CHECKED_SIZE = 16 * 1024 * 1024


def prepare(path: Path) -> None:
    """Make sure that `path` is a store of the present schema; make a new one when nothing is there.

    Raises StoreError, of the kinds that Store names.
    """
    try:
        _refuse_folder(path)
        if not path.exists() or path.stat().st_size == 0:
            _create(path)
        _refuse_foreign(path)
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
    """Build a new store beside `path` and put it there whole, so that a kill leaves no half-made one."""
    if not path.parent.is_dir():
        message = f"The folder “{path.parent}” does not exist. Make it first, or choose another file."
        raise FolderMissingError(message)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)  # mode 0600
    os.close(handle)
    new = Path(name)
    try:
        with told_plainly(), contextlib.closing(connect(new)) as connection:
            migrate(connection)
        _place(new, path)
    finally:
        new.unlink(missing_ok=True)


def _place(new: Path, path: Path) -> None:
    """Give the finished file its name, unless another process was quicker; an empty file there is replaced."""
    if path.exists() and path.stat().st_size == 0:
        new.replace(path)
    else:
        try:
            os.link(new, path)
        except FileExistsError:
            return
        except OSError:  # a file system without hard links (FAT)
            new.rename(path)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make a new name in `folder` last through a power cut. Windows has no such call and needs none."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refuse_folder(path: Path) -> None:
    """First of all, for on Windows a folder has the size of an empty file."""
    if path.is_dir():
        raise ForeignFileError(f"“{path.name}” is a folder. Name a file in it instead.")


def _refuse_foreign(path: Path) -> None:
    # Told before SQLite opens it for writing, which would leave a read-only log beside a read-only file.
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StoreReadOnlyError(_named(path))
    uri = f"{path.as_uri()}?mode=ro&immutable=1"
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


def _refuse_newer(path: Path, version: int) -> None:
    if version > SCHEMA_VERSION:
        message = f"{_named(path)} was written by a newer PlantDesk. It was left as it is; update PlantDesk to open it."
        raise NewerStoreError(message)


def _bring_up_to_date(path: Path) -> None:
    with contextlib.closing(connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        _refuse_newer(path, version)
        _check(connection, path.stat().st_size)
        connection.execute("PRAGMA journal_mode = WAL")
        if version < SCHEMA_VERSION:
            migrate(connection)
        # Takes the write lock once, so that a read-only file or folder is told now and not at the first plant.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("ROLLBACK")


def _check(connection: sqlite3.Connection, size: int) -> None:
    """Raise StoreDamagedError when the file is malformed; a large one is only looked at in its most used places."""
    if size > _CHECKED_SIZE:
        connection.execute("SELECT max(id), max(seq) FROM plant").fetchone()
        return
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError
