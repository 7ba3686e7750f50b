"""Checks a file before SQLite opens it as a store, and whether the log beside it is its own. Changes no store.

The header is read with `immutable`, because a plain opening can already alter a foreign file: a hot journal is rolled
back. Nothing but SQLite opens the database file: POSIX drops all locks of a process on a file when it closes any
descriptor of it (https://sqlite.org/howtocorrupt.html, section 2.2). A journal has no locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from plantdesk.domain.errors import (
    ForeignFileError,
    IsFolderError,
    StoreError,
    StoreTooNewError,
    StoreUnreachableError,
    UnsafeFileError,
)
from plantdesk.domain.texts import Text
from plantdesk.platform.paths import NotRegularError, open_regular
from plantdesk.store.sqlite.connections import connect, translate_errors
from plantdesk.store.sqlite.counters import FileState
from plantdesk.store.sqlite.files.file_lock import file_id, read_record
from plantdesk.store.sqlite.migrations import APPLICATION_ID, SCHEMA_VERSION, check_schema

#: The files that SQLite keeps beside a file in WAL mode: the log, and its index in shared memory.
SIDE_FILES = ("-wal", "-shm")
_JOURNAL = "-journal"
#: The last bytes of a rollback journal that names a super-journal (https://sqlite.org/fileformat2.html, section 3).
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
#: The most attempts to read the files while another process runs a checkpoint.
_MAX_READS = 20
#: The errors of a file that is incomplete without its log, or is not a store.
_UNREADABLE = (sqlite3.DatabaseError, StoreError, TypeError, UnicodeDecodeError)


def resolve_path(path: Path) -> Path:
    """Return the absolute path with its symlinks resolved: backups, lock and log belong beside the file itself.

    Raises StoreUnreachableError for a link that leads back to itself, for one that has taken the place of a store in
    use, and for a network drive of Windows.
    """
    real = Path(os.path.realpath(path))
    if path.is_symlink() and has_log(path):  # the file was moved: another log beside it would not know of this one
        message = Text(
            "Beside the link “{file}” is a log with plants that are not in the file yet. Close PlantDesk. If the log "
            "“{file}-wal” is still there, move it beside the file that the link leads to."
        )
        raise StoreUnreachableError(message, file=path.name)
    if real.is_symlink():
        raise StoreUnreachableError(
            Text("{what} is a link that leads to itself. Choose another file."), what=file_text(path)
        )
    if sys.platform == "win32" and real.drive.startswith("\\\\"):
        message = Text("{what} is on a network drive, where plants are not safe. Use a folder on this computer.")
        raise StoreUnreachableError(message, what=file_text(path))
    return real


def file_text(path: Path) -> Text:
    """Return the file as messages name it."""
    return Text("The file “{file}”", file=path.name)


def is_absent(path: Path) -> bool:
    """Return whether nothing, or an empty regular file, is at the resolved `path`.

    Raises UnsafeFileError for anything but a regular file with one name, and OSError.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(status.st_mode):
        raise IsFolderError(file=path.name)
    if not stat.S_ISREG(status.st_mode):
        message = Text("“{file}” is not a regular file. It was left as it is; choose another file.")
        raise UnsafeFileError(message, file=path.name)
    if status.st_nlink > 1:  # each name has a log of its own, and that of the other name is lost
        message = Text("{what} has a second name (a hard link): plants would get lost. Make a copy and open that.")
        raise UnsafeFileError(message, what=file_text(path))
    return status.st_size == 0


def check_file(path: Path) -> None:
    """Check that the file is a store of this or an older PlantDesk, and safe to open.

    Raises ForeignFileError, StoreTooNewError, UnsafeFileError, and StoreError for what cannot be read.
    """
    _check_side_files(path)
    with translate_errors(), contextlib.closing(connect(path, immutable=True)) as connection:
        application_id, version = _read_header(connection)
        if application_id == APPLICATION_ID and version <= SCHEMA_VERSION and not has_log(path):
            _check_schema(connection, version)
    if application_id != APPLICATION_ID:
        message = Text("{what} is not a PlantDesk store. It was left as it is; choose another file.")
        raise ForeignFileError(message, what=file_text(path))
    refuse_newer(path, version)
    _check_journal(path)


def has_store_header(path: Path) -> bool:
    """Return whether the file begins as a store of any version. Raises sqlite3.Error for what cannot be read."""
    with contextlib.closing(connect(path, immutable=True)) as connection:
        return _read_header(connection)[0] == APPLICATION_ID


def _read_header(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application ID and the schema version; zeros for a file that is no database."""
    # A checkpoint writes the header before the file has all its pages: a kill in between leaves a whole store, as the
    # log has them. SQLite takes no offence at the page count while the schema is writable.
    connection.execute("PRAGMA writable_schema = ON")
    try:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
            raise
        return 0, 0
    connection.execute("PRAGMA writable_schema = OFF")
    return application_id, version


def _check_schema(connection: sqlite3.Connection, version: int) -> None:
    """Refuse a foreign schema before a lock file is made; a schema that cannot be read now is checked when opened."""
    with contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError):
        check_schema(connection, version)


def refuse_newer(path: Path, version: int) -> None:
    """Raise StoreTooNewError for a schema version that this PlantDesk does not know."""
    if version > SCHEMA_VERSION:
        message = Text("{what} was written by a newer PlantDesk. It was left as it is; update PlantDesk to open it.")
        raise StoreTooNewError(message, what=file_text(path))


def is_database(path: Path) -> bool:
    """Return whether a regular file, or the target of a link, is a database of SQLite, perhaps damaged.

    SQLite opens it: another descriptor would release the locks of this process on an open store. Raises OSError.
    """
    if not path.is_file() or path.stat().st_size <= 1:  # SQLite takes one byte for an empty database
        return False
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        with contextlib.closing(connect(path, immutable=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return True


def log_size(path: Path) -> int:
    """Return the size in bytes of the write-ahead log beside the file, parts already copied included; 0 without one."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size
    except OSError:
        return 0


def has_log(path: Path) -> bool:
    """Return whether a write-ahead log with content is beside the file."""
    return log_size(path) > 0


def _check_side_files(path: Path) -> None:
    """Raise UnsafeFileError if a file that SQLite writes to beside the database is a link.

    Somebody else may have put it there: each must be a regular file with one name, of this user or the database's.
    """
    owners = {path.lstat().st_uid, getattr(os, "geteuid", int)()}
    for ending in (*SIDE_FILES, _JOURNAL):
        side_file = path.with_name(path.name + ending)
        with contextlib.suppress(FileNotFoundError):
            status = side_file.lstat()
            # 0 names: Windows did not open the file, and its folder has no count.
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or status.st_uid not in owners:
                message = Text("“{file}” was not made by PlantDesk and could change other files. Move it away.")
                raise UnsafeFileError(message, file=side_file.name)


def _check_journal(path: Path) -> None:
    """Raise UnsafeFileError for a rollback journal that names a super-journal: SQLite would delete the named file.

    PlantDesk never commits to two files at once, so no journal of its own has one.
    """
    try:
        handle = open_regular(path.with_name(path.name + _JOURNAL), os.O_RDONLY)
    except FileNotFoundError:
        return
    except NotRegularError as error:
        raise _unsafe_journal_error(path) from error
    with os.fdopen(handle, "rb") as journal:
        journal.seek(max(0, os.fstat(handle).st_size - len(_SUPER_JOURNAL)))
        if journal.read() == _SUPER_JOURNAL:
            raise _unsafe_journal_error(path)


def _unsafe_journal_error(path: Path) -> UnsafeFileError:
    message = Text("The journal beside “{file}” was not made by PlantDesk and could delete other files. Move it away.")
    return UnsafeFileError(message, file=path.name)


# --- whether the write-ahead log continues the file: SQLite applies any log to any file beside it ---
#
# Inode numbers do not show it: file systems reuse that of a removed file for the next one, programs overwrite a file,
# and backup programs restore some files of a folder (https://sqlite.org/howtocorrupt.html, section 1.4). The content
# does: the first commit of each log gives the store a number with a digest of the file's state without the log
# (`counters.begin_log`), and later commits count it up. So the file with its log shows whether the log was begun for
# the file without it. What sqlite3 writes has no number of its own.


def state_without_log(path: Path) -> FileState | None:
    """Return the state of the file without its log; None if the file is incomplete without it."""
    with contextlib.suppress(*_UNREADABLE):
        return _read_state(path, immutable=True)
    return None


def has_own_log(path: Path) -> bool:
    """Return whether a log with content is beside the file; not if it is known to be the log of another file."""
    record = read_record(path)
    was_replaced = record.files.database not in {None, file_id(path)} and record.files.wal == file_id(f"{path}-wal")
    return has_log(path) and not was_replaced and is_own_log(path, record.store) is not False


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open a file for reading, with its own log; if it has none, SQLite creates no file beside it."""
    return connect(path, read_only=True, immutable=not has_own_log(path))


@contextlib.contextmanager
def attach_for_reading(connection: sqlite3.Connection, file: Path) -> Iterator[None]:
    """Attach a file with a checked schema as `other`, for reading. Raises sqlite3.Error."""
    mode = "mode=ro" if has_own_log(file) else "mode=ro&immutable=1"
    connection.execute("ATTACH ? AS other", (f"{file.absolute().as_uri()}?{mode}",))
    try:
        yield
    finally:
        connection.execute("DETACH other")


def is_own_log(path: Path, identity: str) -> bool | None:
    """Return whether the log beside the file at `path` was begun for it; None if that is unknown.

    `identity` is that of the store that was opened last. Other processes may write meanwhile, but this one must have no
    file open that had the name before: SQLite would truncate the index of its log. Creates that index if it is missing,
    and changes nothing else.
    """
    for _ in range(_MAX_READS):
        base = state_without_log(path)
        is_own = _log_continues(path, base, identity)
        if state_without_log(path) == base:
            return is_own
    return None


def _log_continues(path: Path, base: FileState | None, identity: str) -> bool | None:
    """Return whether the log beside the file was begun for its state `base`; None if that is unknown."""
    if base is None:
        return None
    try:
        state = _read_state(path)
    except (sqlite3.OperationalError, StoreError):
        return None  # a foreign schema is refused when the file is opened
    except _UNREADABLE:
        return False
    if base.store not in {"", state.store}:  # the update of a file of 0.1.0, which has none, may be in the log
        return False
    continues = state.continues(base)
    return False if continues is None and identity not in {"", base.store, state.store} else continues


def _read_state(path: Path, *, immutable: bool = False) -> FileState:
    """Return the state of a file, with its log unless `immutable`. Raises one of `_UNREADABLE`."""
    with contextlib.closing(connect(path, read_only=True, immutable=immutable)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # the page count may be that of an unfinished checkpoint
        check_schema(connection, *connection.execute("PRAGMA user_version").fetchone())
        (schema,) = connection.execute("PRAGMA schema_version").fetchone()
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'store'").fetchone() is None:
            return FileState(schema=schema)
        identity, number = connection.execute("SELECT identity, other_commits FROM store").fetchone()
        return FileState(str(identity), int(number), int(schema))
