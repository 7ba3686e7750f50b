"""Connections to a file, with the pragmas on which durability depends; SQLite's errors as StoreError.

WAL with synchronous=FULL: a commit is on the disk when it returns, and readers never hold up the writer. TRUNCATE with
EXTRA, the other mode that survives a power cut, made an eighth to a sixth as many commits a second. The page cache has
SQLite's default of 2 MB, which fits into the processor's: with 32 MiB the sort of a million ids took twice as long.

SQLite before 3.51.3 may damage the file when a checkpoint meets a write of another connection
(https://sqlite.org/wal.html#walresetbug), so no connection runs one by itself; `transactions.WriteConnection`
does, under the write lock.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from plantdesk.domain import folding
from plantdesk.domain.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from plantdesk.domain.texts import Text

#: Error numbers of the system for a disk, or a user's share of it, that is full.
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
#: Seconds for which a statement waits for another program's lock.
LOCK_SECONDS = 5.0

_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS: fsync alone leaves data in the drive's cache
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA foreign_keys = ON",
    "PRAGMA threads = 1",  # sorts
    # A file may come from anywhere (https://sqlite.org/security.html).
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
)
#: Virtual machine instructions of SQLite between two calls of the progress handler, a few milliseconds.
_PROGRESS_STEPS = 1_000_000
#: One text that is not UTF-8 must not make a whole page of plants unreadable.
_decode = partial(str, encoding="utf-8", errors="replace")

_ERRORS_BY_CODE: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusyError,
    sqlite3.SQLITE_LOCKED: StoreBusyError,
    sqlite3.SQLITE_PROTOCOL: StoreBusyError,  # others have begun so many logs meanwhile that no snapshot was read
    sqlite3.SQLITE_FULL: StoreFullError,
    sqlite3.SQLITE_IOERR_SHMSIZE: StoreFullError,  # the index of the log finds no space
    sqlite3.SQLITE_READONLY: StoreReadOnlyError,
    sqlite3.SQLITE_CORRUPT: StoreDamagedError,
    sqlite3.SQLITE_NOTADB: StoreDamagedError,
}
#: Printable ASCII alone, as most texts are: SQLite checks that much faster than Python.
IS_ASCII = "({0} NOT GLOB '*[^ -~]*' AND length({0}) = length(CAST({0} AS BLOB)))"


def connect(path: Path, *, read_only: bool = False, immutable: bool = False) -> sqlite3.Connection:
    """Open the file, which must exist, for any one thread at a time, in autocommit mode.

    Reads nothing yet, so that the caller can check first which file was opened. `immutable` ignores locks and the
    write-ahead log. For the store's own file use `StoreFile.connect`. Raises sqlite3.Error.
    """
    mode = "mode=ro" if read_only or immutable else "mode=rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}{'&immutable=1' if immutable else ''}",
        uri=True,
        timeout=LOCK_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    connection.text_factory = _decode
    # Python's signal handlers run in it, so that Ctrl+C ends a query of any length; not in a function in C.
    connection.set_progress_handler(_continue_query, _PROGRESS_STEPS)
    return connection


def configure(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Set the pragmas of a connection that `connect` opened, and return it. Closes it when that fails."""
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let a block read one snapshot of the database. Raises sqlite3.Error."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # some errors have rolled it back already
            connection.execute("ROLLBACK")


@contextmanager
def transaction(connection: sqlite3.Connection, *, mode: str = "IMMEDIATE") -> Iterator[None]:
    """Commit what a block writes, or roll it back; take the write lock first, unless deferred. Raises sqlite3.Error."""
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors, such as a full disk, have rolled it back already
            connection.execute("ROLLBACK")
        raise


def check_whole(connection: sqlite3.Connection) -> None:
    """Read all of the file, which takes seconds for a million plants. Raises StoreDamagedError and sqlite3.Error."""
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError


def store_error(error: sqlite3.Error) -> StoreError:
    """Return the StoreError for an error of SQLite, by its result code."""
    code = getattr(error, "sqlite_errorcode", None)
    cause = _ERRORS_BY_CODE.get(code) or _ERRORS_BY_CODE.get(code & 0xFF) if code is not None else None
    if cause is None:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return StoreUnreachableError(
            Text("The plant store cannot be reached ({name}). Check its disk and folder."), name=name
        )
    return cause()


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise SQLite's operational errors as StoreError; an interrupted query as InterruptedError.

    Anything else that SQLite raises (a constraint, a misuse) is a defect and goes through as it is.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # of a message that names something in a malformed schema
        raise StoreDamagedError from error
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            raise InterruptedError from error
        raise store_error(error) from error


def _continue_query() -> int:
    return 0


# --- the Python functions that SQL of a file calls ---


def add_functions(connection: sqlite3.Connection) -> None:
    """Add the SQL functions `alike_key` and, for a text CAST as BLOB, `searched` and `is_unicode` to a connection."""
    connection.create_function("searched", 1, _fold_blob, deterministic=True)
    connection.create_function("alike_key", 3, folding.alike_key, deterministic=True)
    connection.create_function("is_unicode", 1, _is_unicode_blob, deterministic=True)


def _fold_blob(text: bytes | None) -> str | None:
    """Return a text folded, also one of another program that is not UTF-8."""
    return None if text is None else folding.fold(text.decode(errors="replace"))


def _is_unicode_blob(text: bytes | None) -> bool:
    """Return whether `text` is valid UTF-8. It may be NULL: SQLite evaluates both sides of an OR in a result column."""
    return text is None or text.decode(errors="replace").encode() == text


def placeholders(count: int) -> str:
    """Return `count` placeholders for values that are bound by position."""
    return ", ".join("?" * count)
