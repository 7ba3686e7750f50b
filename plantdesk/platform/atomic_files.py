"""Files under their final name only when they are complete: readers see either the old content or the new one.

A kill or a power cut leaves the file whole or absent; at worst a temporary file remains beside it.
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

#: Seconds. On Windows a rename fails while another process has the file open.
_TIMEOUT = 1.0
_RETRY_DELAY = 0.02
#: The same for all files, so that the next write to a folder removes what is left there.
_PREFIX, _SUFFIX = ".plantdesk-", ".new"
#: What `mkstemp` puts between the ends of a name, as a pattern.
_RANDOM = "[a-z0-9_]" * 8
#: Seconds since the last write to a temporary file, in both directions as clocks jump: its process is gone.
_MAX_AGE = 86_400


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield an empty file (mode 0600) beside `path`; it is removed at the end, unless renamed. Raises OSError."""
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
    """Yield a temporary file, which is flushed, gets the free name `path`, and is kept by the folder, at the end.

    An empty regular file under the name is replaced; anything else there stays and raises FileExistsError. If the block
    raises, no file is left. Raises OSError.
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
def replaced_bytes(file: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that is open for writing, and replaces `file` when the block ends without an error.

    The folder is not flushed: after a power cut it may have the old file. Raises OSError, with the name of `file`.
    """
    remove_abandoned(file.parent)
    try:
        with temporary_file(file) as temporary:
            with temporary.open("wb") as content:
                yield content
            flush(temporary)
            replace(temporary, file)
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)).name.startswith(_PREFIX):
            error.filename = str(file)  # no space is left, or the rename failed
        raise


def write_private(file: Path, text: str) -> None:
    """Write a file with mode 0600 as `replaced_bytes` does. Raises OSError."""
    with replaced_bytes(file) as content:
        content.write(text.encode("utf-8", "surrogateescape"))


def replace(temporary: Path, file: Path, *, platform: str = sys.platform) -> None:
    """Rename a `temporary_file` to `file`, which stays as it was on failure. Raises OSError.

    On Windows the rename is retried: scripts, virus scanners and synchronisation tools open files for a moment.
    """
    deadline = time.monotonic() + (_TIMEOUT if platform == "win32" else 0)
    while True:
        try:
            temporary.replace(file)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_DELAY)
        else:
            return


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


def _remove(temporary: Path) -> None:
    """Remove a temporary file and SQLite's journal of it, unless another thread still holds them open (Windows)."""
    for file in (temporary, temporary.with_name(f"{temporary.name}-journal")):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed processes: those that nobody has written to for a day.

    The folder may be another one, by a link that somebody else has made: only names that `mkstemp` gives are removed.
    """
    for temporary in folder.glob(f"{_PREFIX}{_RANDOM}{_SUFFIX}"):
        with suppress(OSError):
            status = temporary.lstat()
            if stat.S_ISREG(status.st_mode) and abs(time.time() - status.st_mtime) > _MAX_AGE:
                temporary.unlink()


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
