"""Replaces a file atomically: readers see either the old content or the new one."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

#: Seconds. On Windows a rename fails while another process has the file open.
_TIMEOUT = 1.0
_RETRY_DELAY = 0.02
#: The same for all files, so that the next write to a folder removes what is left there.
_PREFIX, _SUFFIX = ".plantdesk-", ".new"
#: Characters that `mkstemp` puts between the ends of a name.
_RANDOM = 8
#: Seconds, in both directions as clocks jump: a new temporary file may not be locked yet.
_MIN_AGE = 2.0


def replace(temporary: Path, file: Path, *, platform: str = sys.platform) -> None:
    """Rename `temporary` to `file`. On failure remove it and leave the file as it was. Raises OSError.

    On Windows the rename is retried: scripts, virus scanners and synchronisation tools open files for a moment.
    """
    deadline = time.monotonic() + (_TIMEOUT if platform == "win32" else 0)
    while True:
        try:
            temporary.replace(file)
        except PermissionError:
            if time.monotonic() >= deadline:
                temporary.unlink(missing_ok=True)
                raise
            time.sleep(_RETRY_DELAY)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        else:
            return


def write_private(file: Path, text: str) -> None:
    """Write a file with mode 0600; a crash leaves either the old file or the new one. Raises OSError."""
    with replaced_bytes(file) as temporary:
        temporary.write(text.encode("utf-8", "surrogateescape"))


@contextmanager
def replaced_bytes(file: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file (mode 0600), which replaces `file` when the block ends without an error.

    Raises OSError.
    """
    import tempfile  # takes 3 ms, and the start of the window only reads

    _remove_abandoned(file.parent)
    try:
        descriptor, name = tempfile.mkstemp(_SUFFIX, _PREFIX, file.parent)  # mode 0600 from the start
    except OSError as error:
        error.filename = str(file)  # the user has chosen that
        raise
    try:
        with os.fdopen(descriptor, "wb") as temporary:
            _lock(descriptor)
            yield temporary
            temporary.flush()
            os.fsync(temporary.fileno())
            if sys.platform != "win32":  # still locked
                replace(Path(name), file)
        if sys.platform == "win32":  # an open file cannot be renamed there
            replace(Path(name), file)
    except OSError as error:
        if error.filename is None or str(error.filename) == name:  # no space is left; the rename failed
            error.filename = str(file)
        raise
    finally:
        Path(name).unlink(missing_ok=True)


def _lock(descriptor: int) -> None:
    if sys.platform != "win32":
        import fcntl

        with suppress(OSError):  # a drive without locks: nothing is removed there either
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed processes, which nobody has locked. Not on Windows."""
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - the names alone
            is_temporary = name.startswith(_PREFIX) and name.endswith(_SUFFIX)
            if is_temporary and len(name) == len(_PREFIX) + _RANDOM + len(_SUFFIX):
                with suppress(OSError):
                    _remove_unlocked(folder / name)


def _remove_unlocked(temporary: Path) -> None:
    if sys.platform != "win32":
        import fcntl

        descriptor = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1
            if is_own and abs(time.time() - status.st_mtime) > _MIN_AGE:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                temporary.unlink()
        finally:
            os.close(descriptor)
