"""The temporary folder of a window's indexes. A killed program leaves its folder behind; the next one removes it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.platform.file_locks import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX = "plantdesk-index-"
#: A file that is locked while the folder is in use.
_LOCK = "lock"
#: Seconds, in both directions as clocks jump: a new folder's file may not be locked yet.
_MIN_AGE = 60.0


@contextmanager
def index_folder() -> Iterator[Path]:
    """Yield an empty folder (mode 0700), which is removed at the end. Raises OSError."""
    _remove_unused()
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (folder / _LOCK).open("wb") as lock:
            with suppress(OSError):  # a drive without locks: no other program can lock it either
                try_lock(lock.fileno())
            yield folder


def _remove_unused() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # of another user, or removed by another program just now
            if _is_own(folder) and _is_old(lock_file := folder / _LOCK) and _is_unused(lock_file):
                shutil.rmtree(folder)


def _is_unused(lock_file: Path) -> bool:
    with lock_file.open("rb+") as lock:
        return try_lock(lock.fileno())


def _is_own(folder: Path) -> bool:
    """Whether `folder` is a folder of this user; others may write to the same temporary folder."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and (sys.platform == "win32" or status.st_uid == os.geteuid())


def _is_old(file: Path) -> bool:
    return abs(time.time() - file.stat().st_mtime) > _MIN_AGE
