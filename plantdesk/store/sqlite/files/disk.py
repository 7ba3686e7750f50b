"""Writing to the disk: files under their final name only when they are complete; and whether there is room.

A kill or a power cut leaves the file whole or absent; at worst a temporary file remains beside it.
"""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from plantdesk.platform.atomic_replace import remove_abandoned, replace

_TEMPORARY_SUFFIX = ".new"
#: What `mkstemp` puts before it, as a pattern.
_RANDOM = "[a-z0-9_]" * 8
#: Bytes that stay free at least; on a small disk a tenth of it.
_RESERVE = 500 * 1024 * 1024
_RESERVE_FRACTION = 0.01
_MAX_FRACTION = 0.1
#: Bytes of a log that are kept for later commits; less on a small disk.
_LOG_SIZE = 16 * 1024 * 1024
_LOG_FRACTION = 0.01


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file (mode 0600) beside `path`, which is renamed to `path` when the block ends.

    It is flushed first, the folder afterwards. An empty regular file under the name is replaced; anything else there
    stays and raises FileExistsError. If the block raises, no file is left. Raises OSError.
    """
    with temporary_file(path) as temporary:
        yield temporary
        flush(temporary)
        put(temporary, path)


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file as `new_file` does; at the end it replaces the file that is there. Raises OSError."""
    with temporary_file(path) as temporary:
        yield temporary
        flush(temporary)
        replace(temporary, path)
        flush_folder(path.parent)


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield an empty file (mode 0600) beside `path`; it is removed at the end, unless renamed. Raises OSError."""
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_TEMPORARY_SUFFIX, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    remove = partial(_remove, temporary)
    atexit.register(remove)  # a daemon thread, such as that of a backup, does not reach `finally` at the exit
    try:
        yield temporary
    finally:
        remove()
        atexit.unregister(remove)


def _remove(temporary: Path) -> None:
    """Remove a temporary file and SQLite's journal of it, unless another thread still holds them open (Windows)."""
    for file in (temporary, temporary.with_name(f"{temporary.name}-journal")):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def put(temporary: Path, path: Path) -> None:
    """Rename a flushed `temporary` to the free name `path`, without a hard link: FAT and network drives have none.

    The name is first claimed by an empty file (O_EXCL), so that no file of another process is overwritten. Raises
    FileExistsError if the name is taken, and OSError.
    """
    created = _claim(path)
    try:
        replace(temporary, path)
    except OSError:
        if created:
            path.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def remove_old_temporary_files(folder: Path, name: str) -> None:
    """Remove what killed processes left in `folder`: temporary files of `name…` that nobody has written to for a day.

    The folder may be another one, by a link that somebody else has made: only names that `mkstemp` gives are removed.
    """
    remove_abandoned(folder, f".{glob.escape(name)}*.{_RANDOM}{_TEMPORARY_SUFFIX}")


def flush(path: Path) -> None:
    """Wait until a file is on the disk. Raises OSError."""
    # Windows flushes only what is open for writing.
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        if sys.platform == "darwin":
            import fcntl

            with suppress(OSError):  # not every file system has it
                fcntl.fcntl(handle, fcntl.F_FULLFSYNC)  # fsync leaves the data in the drive's cache
                return
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_folder(folder: Path) -> None:
    """Make a new name in `folder` survive a power cut. Windows has no such call and needs none. Raises OSError."""
    if sys.platform != "win32":
        try:
            flush(folder)
        except PermissionError:  # it may not be read, as /home on some systems; what waits for any disk is written
            os.sync()


def make_private_folder(folder: Path) -> None:
    """Create `folder`, if it is missing, for its owner alone, and flush its parent. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
        flush_folder(folder.parent)


def _claim(path: Path) -> bool:
    """Return whether the name was free and is an empty file now; False if an empty file existed already."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > 0:
            raise
        return False
    return True


# --- room ---


def is_low(folder: Path) -> bool:
    """Return whether less than max(1 %, 500 MB) of the disk is free, or less than a tenth of a small one."""
    try:
        total, _, free = shutil.disk_usage(folder)
    except OSError:  # what is wrong is reported by the write
        return False
    return free < min(max(_RESERVE, total * _RESERVE_FRACTION), total * _MAX_FRACTION)


def max_log_size(folder: Path) -> int:
    """Return the bytes above which the log of a store in a folder is moved into the file, and cut."""
    try:
        return min(_LOG_SIZE, round(shutil.disk_usage(folder).total * _LOG_FRACTION))
    except OSError:
        return _LOG_SIZE
