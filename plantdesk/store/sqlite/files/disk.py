"""Free space on the disk of a store, and the size that its log may have there."""

from __future__ import annotations

import shutil
from pathlib import Path

#: The fewest bytes that stay free; on a small disk a tenth of it.
_RESERVE = 500 * 1024 * 1024
_RESERVE_FRACTION = 0.01
_MAX_FRACTION = 0.1
#: Bytes of a log that are kept for later commits; less on a small disk.
_LOG_SIZE = 16 * 1024 * 1024
_LOG_FRACTION = 0.01


def is_disk_low(folder: Path) -> bool:
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
