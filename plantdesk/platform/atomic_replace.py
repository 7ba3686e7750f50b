"""Replaces a file atomically: readers see either the old content or the new one."""

from __future__ import annotations

import io
import os
import stat
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds. On Windows a rename fails while another process has the file open.
_TIMEOUT = 1.0
_RETRY_DELAY = 0.02
#: Of all files alike, so that the next one written to a folder removes what is left there.
_DRAFT_PREFIX, _DRAFT_SUFFIX = ".plantdesk-", ".new"
#: Characters that `mkstemp` puts between the ends of a name.
_RANDOM = 8
#: Seconds, in both directions as clocks jump: a new draft may not be locked yet.
_MIN_AGE = 2.0


def replace(draft: Path, file: Path, *, platform: str = sys.platform) -> None:
    """Rename `draft` to `file`. On failure remove the draft and leave the file as it was. Raises OSError.

    On Windows the rename is retried: scripts, virus scanners and synchronisation tools open files for a moment.
    """
    deadline = time.monotonic() + (_TIMEOUT if platform == "win32" else 0)
    while True:
        try:
            draft.replace(file)
        except PermissionError:
            if time.monotonic() >= deadline:
                draft.unlink(missing_ok=True)
                raise
            time.sleep(_RETRY_DELAY)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        else:
            return


def write_private(file: Path, text: str) -> None:
    """Write a file with mode 0600; a crash leaves either the old file or the new one. Raises OSError."""
    with replaced_text(file) as draft:
        draft.write(text)


@contextmanager
def replaced_text(file: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Yield a UTF-8 draft (mode 0600), which replaces `file` when the block ends; a block that raises changes nothing.

    `newline` is that of `open`. Raises OSError.
    """
    with replaced_bytes(file) as stream:
        draft = io.TextIOWrapper(stream, encoding="utf-8", newline=newline)
        yield draft
        draft.detach()  # flushes it


@contextmanager
def replaced_bytes(file: Path) -> Iterator[BinaryIO]:
    """Yield a draft (mode 0600) as `replaced_text` does, for bytes. Raises OSError."""
    import tempfile  # takes 3 ms, and the start of the window only reads

    remove_abandoned(file.parent, _DRAFT_PREFIX, _DRAFT_SUFFIX)
    try:
        descriptor, name = tempfile.mkstemp(_DRAFT_SUFFIX, _DRAFT_PREFIX, file.parent)  # mode 0600 from the start
    except OSError as error:
        error.filename = str(file)  # the user has chosen that
        raise
    try:
        with os.fdopen(descriptor, "wb") as draft:
            lock_draft(descriptor)
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            if sys.platform != "win32":  # still locked
                replace(Path(name), file)
        if sys.platform == "win32":  # where an open file cannot be renamed
            replace(Path(name), file)
    except OSError as error:
        error.filename = error.filename or str(file)  # writing does not name it, as where the disk is full
        raise
    finally:
        Path(name).unlink(missing_ok=True)


def lock_draft(descriptor: int) -> None:
    """Lock an unfinished file until it is closed, so that `remove_abandoned` leaves it. Does nothing on Windows."""
    if sys.platform != "win32":
        import fcntl

        with suppress(OSError):  # a drive without locks, where nothing is removed either
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_abandoned(folder: Path, prefix: str, suffix: str) -> None:
    """Remove the user's unfinished files of killed processes: those that `lock_draft` would lock. Not on Windows."""
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - the names alone
            is_draft = name.startswith(prefix) and name.endswith(suffix)
            if is_draft and len(name) == len(prefix) + _RANDOM + len(suffix):
                with suppress(OSError):
                    _remove_unlocked(folder / name)


def _remove_unlocked(draft: Path) -> None:
    if sys.platform != "win32":
        import fcntl

        descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1
            if is_own and abs(time.time() - status.st_mtime) > _MIN_AGE:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
        finally:
            os.close(descriptor)
