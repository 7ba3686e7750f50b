"""Checks that the write-ahead log beside a file continues that file: SQLite applies any log to any file beside it.

Inode numbers do not show it: file systems reuse that of a removed file for the next one, programs overwrite a file,
and backup programs restore some files of a folder (https://sqlite.org/howtocorrupt.html, section 1.4). The content
does: the first commit of each log gives the store a number with a digest of the file's state without the log
(`numbers.begin_log`), and later commits count it up. So the file with its log shows whether the log was begun for the
file without it. What sqlite3 writes has no number of its own.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from plantdesk.domain.errors import StoreError
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.file_lock import file_id, noted
from plantdesk.store.sqlite.files.open_checks import has_log
from plantdesk.store.sqlite.migrations import check_schema
from plantdesk.store.sqlite.numbers import FileState

#: The most attempts to read the files while another process runs a checkpoint.
_TRIES = 20
#: The errors of a file that is incomplete without its log, or is not a store.
_UNREADABLE = (sqlite3.DatabaseError, StoreError, TypeError, UnicodeDecodeError)


def state_without_log(path: Path) -> FileState | None:
    """Return the state of the file without its log; None if the file is incomplete without it."""
    with contextlib.suppress(*_UNREADABLE):
        return _state(path, immutable=True)
    return None


def has_own_log(path: Path) -> bool:
    """Return whether a log with content is beside the file at `path`, unless it is known to be that of another file."""
    note = noted(path)
    was_replaced = note.used.database not in {None, file_id(path)} and note.used.wal == file_id(f"{path}-wal")
    return has_log(path) and not was_replaced and is_own_log(path, note.store) is not False


def is_log_copied(path: Path) -> bool:
    """Return whether the file has all commits of PlantDesk that are in its log."""
    base = state_without_log(path)
    with contextlib.suppress(*_UNREADABLE):
        return base is not None and base == _state(path)
    return False


@contextlib.contextmanager
def attached(connection: sqlite3.Connection, other: Path) -> Iterator[None]:
    """Attach, as `other`, a file with a checked schema; it is only read. Raises sqlite3.Error."""
    mode = "mode=ro" if has_own_log(other) else "mode=ro&immutable=1"
    connection.execute("ATTACH ? AS other", (f"{other.absolute().as_uri()}?{mode}",))
    try:
        yield
    finally:
        connection.execute("DETACH other")


def is_own_log(path: Path, known: str) -> bool | None:
    """Return whether the log beside the file at `path` was begun for it; None if that is unknown.

    `known` is the identity of the store that was opened last. Others may write meanwhile, but this process must not
    have another file open that had the name before: SQLite would truncate the index of its log. Makes that index if it
    is missing, and changes nothing else.
    """
    for _ in range(_TRIES):
        base = state_without_log(path)
        found = _continues(path, base, known)
        if state_without_log(path) == base:
            return found
    return None


def _continues(path: Path, base: FileState | None, known: str) -> bool | None:
    """Return whether the log continues the file in the state `base`."""
    if base is None:
        return None
    try:
        now = _state(path)
    except (sqlite3.OperationalError, StoreError):
        return None  # a foreign schema is refused when the file is opened
    except _UNREADABLE:
        return False
    if base.store not in {"", now.store}:  # the update of a file of 0.1.0, which has none, may be in the log
        return False
    found = now.continues(base)
    return False if found is None and known not in {"", base.store, now.store} else found


def _state(path: Path, *, immutable: bool = False) -> FileState:
    """Raises one of `_UNREADABLE`."""
    with contextlib.closing(connect(path, read_only=True, immutable=immutable)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # the page count may be that of an unfinished checkpoint
        check_schema(connection, *connection.execute("PRAGMA user_version").fetchone())
        (schema,) = connection.execute("PRAGMA schema_version").fetchone()
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'store'").fetchone() is None:
            return FileState(schema=schema)
        identity, number = connection.execute("SELECT identity, other_commits FROM store").fetchone()
        return FileState(str(identity), int(number), int(schema))
