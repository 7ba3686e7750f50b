"""Whether the disk has room for what scripts add, in a loop perhaps, and how much of it a log may take."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from plantdesk.domain.errors import DiskReserveError

if TYPE_CHECKING:
    from pathlib import Path

#: Bytes that stay free at least; on a small disk a tenth of it.
_RESERVE = 500 * 1024 * 1024
_RESERVE_FRACTION = 0.01
_MAX_FRACTION = 0.1
#: Bytes of a log that are kept for later commits; less on a small disk.
_LOG_SIZE = 16 * 1024 * 1024
_LOG_FRACTION = 0.01
#: Seconds for which a measurement counts.
_INTERVAL = 1.0


class DiskSpace:
    """Measures the free space of the disk of `folder`, at most once a second. One thread uses it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._measured_at = float("-inf")
        self._is_low = False

    def refusal(self) -> DiskReserveError | None:
        """Return the error for a plant that a script sends, or None while there is room."""
        now = time.monotonic()
        if now - self._measured_at > _INTERVAL:
            self._is_low, self._measured_at = is_low(self._folder), now
        return DiskReserveError() if self._is_low else None


def is_low(folder: Path) -> bool:
    """Whether less than max(1 %, 500 MB) of the disk is free, or less than a tenth of a small one."""
    try:
        total, free = _total_and_free(folder)
    except OSError:  # what is wrong is reported by the write
        return False
    return free < min(max(_RESERVE, total * _RESERVE_FRACTION), total * _MAX_FRACTION)


def max_log_size(folder: Path) -> int:
    """Return the bytes above which the log of a store in a folder is moved into the file, and cut."""
    try:
        return min(_LOG_SIZE, round(_total_and_free(folder)[0] * _LOG_FRACTION))
    except OSError:
        return _LOG_SIZE


def _total_and_free(folder: Path) -> tuple[int, int]:
    """Return the bytes of the disk of a folder, and those that are free, as `shutil.disk_usage`. Raises OSError.

    Commands do not import shutil: with its libraries of compression, it takes as long as `sqlite3`.
    """
    if sys.platform == "win32":
        import shutil

        usage = shutil.disk_usage(folder)
        return usage.total, usage.free
    else:  # noqa: RET505  for mypy, which checks each system
        disk = os.statvfs(folder)
        return disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
