"""Writes files atomically: under a temporary name, then renamed, so that readers see the old content or the new one.

After a kill or a power cut a file is complete or absent; at worst a temporary file remains beside it.
"""

from __future__ import annotations

import atexit
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

#: Seconds for which a rename is retried: on Windows it fails while another process has the file open.
_RENAME_TIMEOUT = 1.0
_RETRY_DELAY = 0.02
#: Prefix and suffix of all temporary files: `remove_abandoned` finds those of earlier processes by them.
_PREFIX = ".plantdesk-"
_SUFFIX = ".new"
#: The pattern of the random characters that `mkstemp` puts between prefix and suffix.
_RANDOM_PATTERN = "[a-z0-9_]" * 8
#: Seconds after its last write, or before a future one, at which a temporary file is abandoned.
_ABANDONED_AFTER = 86_400


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Create an empty file (mode 0600) beside `path`, and remove it at the end, if not renamed. Raises OSError."""
    handle, name = tempfile.mkstemp(_SUFFIX, _PREFIX, path.parent)
    os.close(handle)
    temporary = Path(name)
    remove = partial(_remove, temporary)
    atexit.register(remove)  # a daemon thread, such as that of a backup, does not reach `finally` at the exit
    try:
        yield temporary
    finally:
        remove()
        atexit.unregister(remove)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file that becomes `path` at the end, durably; if the block raises, no file is left.

    An empty regular file at `path` is replaced; anything else there raises FileExistsError. Raises OSError.
    """
    with temporary_file(path) as temporary:
        yield temporary
        fsync_file(temporary)
        rename_to_free_name(temporary, path)


@contextmanager
def atomic_replacement(path: Path) -> Iterator[Path]:
    """Yield a temporary file as `new_file` does; at the end it replaces an existing file. Raises OSError."""
    with temporary_file(path) as temporary:
        yield temporary
        fsync_file(temporary)
        replace(temporary, path)
        fsync_folder(path.parent)


@contextmanager
def atomic_writer(file: Path) -> Iterator[BinaryIO]:
    """Open a temporary file for writing; it replaces `file` when the block ends without an error.

    The folder is not flushed: after a power cut there may be the old file. Raises OSError with the name of `file`.
    """
    remove_abandoned(file.parent)
    try:
        with temporary_file(file) as temporary:
            with temporary.open("wb") as content:
                yield content
            fsync_file(temporary)
            replace(temporary, file)
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)).name.startswith(_PREFIX):
            error.filename = str(file)  # no space is left, or the rename failed
        raise


def write_private(file: Path, text: str) -> None:
    """Write a file with mode 0600 as `atomic_writer` does. Raises OSError."""
    with atomic_writer(file) as content:
        content.write(text.encode("utf-8", "surrogateescape"))


def replace(temporary: Path, file: Path, *, platform: str = sys.platform) -> None:
    """Rename a `temporary_file` to `file`. After a failure, `file` is unchanged. Raises OSError.

    On Windows the rename is retried: scripts, virus scanners and synchronisation tools open files for a moment.
    """
    deadline = time.monotonic() + (_RENAME_TIMEOUT if platform == "win32" else 0)
    while True:
        try:
            temporary.replace(file)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_DELAY)
        else:
            return


def rename_to_free_name(temporary: Path, path: Path) -> None:
    """Rename a flushed `temporary` to a new `path`, durably. Uses no hard link: FAT has none.

    An empty file (O_EXCL) takes the name first, so that no file of another process is overwritten. Raises
    FileExistsError and OSError.
    """
    is_new = _create_empty(path)
    try:
        replace(temporary, path)
    except OSError:
        if is_new:
            path.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def _create_empty(path: Path) -> bool:
    """Create an empty file; return False if one exists. Raises FileExistsError for any other file, and OSError."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > 0:
            raise
        return False
    return True


def _remove(temporary: Path) -> None:
    """Remove a temporary file and SQLite's journal of it, unless another thread still holds them open (Windows)."""
    for file in (temporary, temporary.with_name(f"{temporary.name}-journal")):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed processes if nobody has written to them for a day.

    Other files stay, even if the folder is a link that somebody else has made: only names of `mkstemp` are removed.
    """
    for temporary in folder.glob(f"{_PREFIX}{_RANDOM_PATTERN}{_SUFFIX}"):
        with suppress(OSError):
            status = temporary.lstat()
            if stat.S_ISREG(status.st_mode) and abs(time.time() - status.st_mtime) > _ABANDONED_AFTER:
                temporary.unlink()


def fsync_file(path: Path) -> None:
    """Wait until a file is on the disk. Raises OSError."""
    # Windows flushes only files that are open for writing.
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


def fsync_folder(folder: Path) -> None:
    """Make a new name in `folder` survive a power cut. Windows has no such call and needs none. Raises OSError."""
    if sys.platform != "win32":
        try:
            fsync_file(folder)
        except PermissionError:  # not readable, such as /home on some systems: flush all disks
            os.sync()
