"""The folders of indexes: of each build a new one, in the cache folder of its store, or else a temporary one.

The folder that the note of the store names (`index_note`) is kept for the next start; any other is removed at the end,
or, after a kill, by the next build. Whoever uses a folder has its file `lock` locked. All of it can be made again:
nothing is flushed, and what is read has a checksum.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from plantdesk.platform import paths
from plantdesk.platform.file_locks import try_lock

_PREFIX = "plantdesk-index-"
_IS_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}\Z")
#: A file that is locked while the folder is in use.
_LOCK = "lock"
#: Seconds, in both directions as clocks jump: a new folder's file may not be locked yet.
_MIN_AGE = 60.0
#: Bytes of JSON with a checksum, of which the counts of tags are most.
_MAX_SEALED = 16_000_000
_PART = 1_048_576


@contextmanager
def index_folder(parent: Path | None = None, is_kept: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield a new folder (mode 0700) in `parent`, or a temporary one; it is removed at the end unless it `is_kept`.

    Raises OSError.
    """
    where = None if parent is None else _made(parent)
    _remove_unused(where or Path(tempfile.gettempdir()), is_kept)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
    try:
        with locked_folder(folder):
            yield folder
    finally:
        if not is_kept(folder):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from removing a folder. Raises OSError."""
    if os.path.lexists(folder / _LOCK):
        _check_regular(folder / _LOCK)
    with (folder / _LOCK).open("ab") as lock:
        with suppress(OSError):  # a drive without locks: no other program can lock it either
            try_lock(lock.fileno())  # another window may have it already
        yield


def remove_folder(folder: Path) -> None:
    """Remove a folder of indexes that no process uses."""
    with suppress(OSError):  # of another user, or removed by another program just now
        if _is_own(folder) and _is_unused(folder / _LOCK):
            shutil.rmtree(folder)


def remove_all(parent: Path) -> None:
    """Remove the folder of a store that is gone, with its indexes."""
    if _is_own(parent):
        shutil.rmtree(parent, ignore_errors=True)


def is_index_name(name: object) -> bool:
    """Whether this is the name of a folder of indexes."""
    return isinstance(name, str) and _IS_NAME.match(name) is not None


def write_sealed(path: Path, content: object) -> None:
    """Write JSON with a checksum, over what is there: a reader meanwhile gets None. Raises OSError."""
    text = json.dumps(content)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe is an error
    handle = os.open(path, flags, 0o600)
    try:
        os.write(handle, f"{zlib.crc32(text.encode()):08x}{text}".encode())
    finally:
        os.close(handle)


def read_sealed(path: Path) -> Any:  # noqa: ANN401
    """Return what `write_sealed` has written; None where there is nothing or it is damaged."""
    with suppress(OSError, ValueError, RecursionError):
        _check_regular(path)
        with path.open("rb") as file:
            content = file.read(_MAX_SEALED)
        if int(content[:8], 16) == zlib.crc32(content[8:]):
            return json.loads(content[8:])
    return None


def checksum(path: Path) -> int:
    """Return the checksum of a file, for which other threads need not wait. Raises OSError."""
    found = 0
    _check_regular(path)
    with path.open("rb", buffering=0) as file:  # an index that no process writes to: there are no locks to lose
        while part := file.read(_PART):
            found = zlib.crc32(part, found)
    return found


def _check_regular(path: Path) -> None:
    """Raise OSError unless it is a file: opening a pipe would wait for ever."""
    if not stat.S_ISREG(path.lstat().st_mode):
        message = f"{path.name} is no file"
        raise OSError(message)


def _made(folder: Path) -> Path | None:
    try:
        paths.create_folder(folder)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _remove_unused(parent: Path, is_kept: Callable[[Path], bool]) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if not is_kept(folder) and _is_old(folder / _LOCK):
                remove_folder(folder)


def _is_unused(lock_file: Path) -> bool:
    _check_regular(lock_file)
    with lock_file.open("rb+") as lock:
        return try_lock(lock.fileno())


def _is_own(folder: Path) -> bool:
    """Whether `folder` is a folder of this user; others may write to the same temporary folder."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and (sys.platform == "win32" or status.st_uid == os.geteuid())


def _is_old(file: Path) -> bool:
    return abs(time.time() - file.stat().st_mtime) > _MIN_AGE
