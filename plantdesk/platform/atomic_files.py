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
#: Seconds since the last write to a temporary file, in both directions as clocks jump: its process is gone.
_MAX_AGE = 86_400


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

    remove_abandoned(file.parent, f"{_PREFIX}{'?' * _RANDOM}{_SUFFIX}")
    try:
        descriptor, name = tempfile.mkstemp(_SUFFIX, _PREFIX, file.parent)  # mode 0600 from the start
    except OSError as error:
        error.filename = str(file)  # the user has chosen that
        raise
    try:
        with os.fdopen(descriptor, "wb") as temporary:
            yield temporary
            temporary.flush()
            os.fsync(temporary.fileno())
        replace(Path(name), file)
    except OSError as error:
        if error.filename is None or str(error.filename) == name:  # no space is left; the rename failed
            error.filename = str(file)
        raise
    finally:
        Path(name).unlink(missing_ok=True)


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove the temporary files of killed processes: those of a pattern that nobody has written to for a day."""
    for temporary in folder.glob(pattern):
        with suppress(OSError):
            status = temporary.lstat()
            if stat.S_ISREG(status.st_mode) and abs(time.time() - status.st_mtime) > _MAX_AGE:
                temporary.unlink()
