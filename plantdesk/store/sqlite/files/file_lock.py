"""The lock under which a store file is opened, created and replaced; the record of the files that are in use.

The lock file `.NAME.lock` stays beside the store. It is locked only for the milliseconds of an opening; afterwards each
commit checks the identity of the files (`StoreFile.raise_if_moved`), which keeps acknowledged plants safe. The record
in the lock file names the files that were opened last, and so shows that the store was replaced or its log deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from plantdesk.domain.errors import StoreBusyError, StoreUnreachableError
from plantdesk.domain.texts import Text
from plantdesk.platform.file_locks import lock
from plantdesk.platform.paths import NotRegularError, open_regular

#: Seconds for which an opening waits for that of another process; a migration of a million plants takes some.
LOCK_TIMEOUT = 30.0
#: Bytes of the record. Its length never changes, so that it can be written on a full disk.
_RECORD_SIZE = 256
#: The most characters of a store's identity; a file may come from anywhere.
_MAX_IDENTITY_LENGTH = 32
#: Device and inode: what identifies a file while it exists, whatever its name.
FileId = tuple[int, int]


class StoreFiles(NamedTuple):
    """The files of a store: the database, and its write-ahead log, if there is one."""

    database: FileId | None = None
    wal: FileId | None = None


class UseRecord(NamedTuple):
    """The files that were last opened under the name of a store, and the store's identity; empty if unknown.

    `users` counts the openings that were not closed, also those of killed processes. `commits` is the number of the
    last commit when the file was closed last.
    """

    files: StoreFiles = StoreFiles()
    store: str = ""
    users: int = 0
    commits: int | None = None


def files_at(path: Path) -> StoreFiles:
    """Return the identities of the files that a store at `path` has now."""
    return StoreFiles(file_id(path), file_id(f"{path}-wal"))


def file_id(path: str | Path) -> FileId | None:
    """Return the identity of the file at `path`; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  half the time of Path.stat, and two for each commit
    except OSError:
        return None
    return status.st_dev, status.st_ino


class LockedStore:
    """The lock of a store file while it is held, with `last_record`: the files last opened under the store's name."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.last_record = _read_record(handle)

    def write_record(self, files: StoreFiles, store: str, users: int, commits: int | None = None) -> None:
        """Write which files are in use from now on. On a full disk the first record of a store may be lost."""
        identity = store if len(store) <= _MAX_IDENTITY_LENGTH and store.isalnum() else ""
        fields = {"database": files.database, "wal": files.wal, "store": identity, "users": users, "commits": commits}
        os.lseek(self._handle, 0, os.SEEK_SET)
        with contextlib.suppress(OSError):
            os.write(self._handle, json.dumps(fields).encode().ljust(_RECORD_SIZE))
        self.last_record = UseRecord(files, identity, users, commits)


def lock_file(path: Path) -> Path:
    """Return the lock file of the store at `path`."""
    return path.with_name(f".{path.name}.lock")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[LockedStore]:
    """Hold the lock of the store at `path` for a block; not reentrant, and threads exclude each other as well.

    Raises StoreBusyError after `LOCK_TIMEOUT` seconds, and PermissionError or OSError if no lock file can be made.
    """
    handle = _open_lock_file(lock_file(path), os.O_RDWR | os.O_CREAT)
    try:
        _acquire(handle)
        yield LockedStore(handle)
    finally:
        os.close(handle)  # which releases the lock


def _open_lock_file(file: Path, flags: int) -> int:
    """Open the lock file. Raises StoreUnreachableError for anything else that somebody has put there."""
    try:
        handle = open_regular(file, flags)
    except (NotRegularError, PermissionError) as error:
        if isinstance(error, PermissionError) and not os.path.lexists(file):  # the folder is read-only
            raise
        raise _not_ours_error(file) from error
    status = os.fstat(handle)
    if status.st_nlink != 1 or status.st_size > _RECORD_SIZE:  # less: a full disk
        os.close(handle)
        raise _not_ours_error(file)
    if sys.platform != "win32" and status.st_uid == os.geteuid():
        os.fchmod(handle, 0o600)  # whoever can read it, can hold the lock
    return handle


def _not_ours_error(file: Path) -> StoreUnreachableError:
    text = Text("“{file}” beside the plants is not PlantDesk's lock file. Move it away.")
    return StoreUnreachableError(text, file=file.name)


def _acquire(handle: int) -> None:
    try:
        is_locked = lock(handle, LOCK_TIMEOUT)
    except OSError as error:
        text = Text("The plant store is on a drive that cannot lock files. Use a folder on this computer's disk.")
        raise StoreUnreachableError(text) from error
    if not is_locked:
        raise StoreBusyError


def read_record(path: Path) -> UseRecord:
    """Return the record of the store at `path`, without taking its lock; an empty one if there is none."""
    with contextlib.suppress(OSError, StoreUnreachableError):
        handle = _open_lock_file(lock_file(path), os.O_RDONLY)
        try:
            return _read_record(handle)
        finally:
            os.close(handle)
    return UseRecord()


def _read_record(handle: int) -> UseRecord:
    """Return the record in an open lock file; an empty one if it is missing or malformed."""
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        record = json.loads(os.read(handle, _RECORD_SIZE))
        files = StoreFiles(_parse_file_id(record["database"]), _parse_file_id(record["wal"]))
        return UseRecord(files, str(record.get("store") or ""), int(record.get("users", 0)), record.get("commits"))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return UseRecord()


def _parse_file_id(value: list[int] | None) -> FileId | None:
    if value is None:
        return None
    device, inode = map(int, value)
    return device, inode
