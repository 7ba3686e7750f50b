"""Whether the write-ahead log beside a file continues that very file: SQLite applies any log to any file beside it.

Inode numbers do not tell: file systems give that of a removed file to the next one, programs copy over a file in place,
and backup programs restore some files of a folder (https://sqlite.org/howtocorrupt.html, section 1.4). The content
does: the first commit of each log gives the store a new number, which later ones count up (`numbers.begin_log`). The
note in the lock file says which number the file had without its log at the last opening or checkpoint. Where another
program has run a checkpoint since, the file has a number of the log itself.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreError
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.file_lock import FileState, file_id, noted
from plantdesk.store.sqlite.files.open_checks import has_log
from plantdesk.store.sqlite.migrations import check_schema
from plantdesk.store.sqlite.numbers import is_same_log

if TYPE_CHECKING:
    from pathlib import Path

#: Of a file that is not whole without its log, or not a store.
_UNREADABLE = (sqlite3.DatabaseError, StoreError, TypeError, UnicodeDecodeError)


def state_without_log(path: Path) -> FileState | None:
    """Return what the file says without its log; None where it is not whole then."""
    with contextlib.suppress(*_UNREADABLE):
        return _state(path, immutable=True)
    return None


def has_own_log(path: Path) -> bool:
    """Whether a log with content is beside the file at `path`, and nothing says that it is another's."""
    note = noted(path)
    was_replaced = note.used.database not in {None, file_id(path)} and note.used.wal == file_id(f"{path}-wal")
    return has_log(path) and not was_replaced and is_own_log(path, note.state) is not False


def is_own_log(path: Path, known: FileState) -> bool | None:
    """Whether the log beside the file at `path` was begun for it; None where nothing says so.

    `known` is what the file said when it was noted. Others may write meanwhile, but this process must not have another
    file open that was under the name before: SQLite would truncate the index of its log. Makes that index where it is
    missing, and changes nothing else.
    """
    base = state_without_log(path)  # first: a checkpoint only goes on
    if base is None:
        return None
    try:
        return _continues(base, _state(path), known)
    except (sqlite3.OperationalError, StoreError):
        return None  # a foreign schema is refused when the file is opened
    except _UNREADABLE:
        return False


def _continues(base: FileState, now: FileState, known: FileState) -> bool | None:
    """Whether a log that leads from `base` to `now` was begun for the file."""
    if base.store != now.store:
        return None if base.store == known.store == "" else False  # an update of 0.1.0 may be in the log
    if known.store not in {"", base.store}:
        return base.number != now.number  # another store, in whose place its own log was put as well
    if known.number == 0:
        return None
    is_reached = base.number == known.number or (is_same_log(base.number, now.number) and base.number <= now.number)
    is_older = is_same_log(base.number, known.number) and base.number < known.number
    # VACUUM, and each way to copy a database by its rows, change SQLite's schema version and the places of the pages.
    return is_reached and not is_older and base.schema in {known.schema, now.schema}


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
