"""Tells from the timestamps of a store's files whether anything was written, for an eighth of the cost of a query."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from plantdesk.store.sqlite.files.file_lock import file_id

if TYPE_CHECKING:
    from pathlib import Path

#: Nanoseconds: what is written within it may have the same timestamp, as FAT counts two seconds.
_RECENT = 3_000_000_000
_IS_LAZY = os.name == "nt"


class LastWrite:
    """Compares the files under the names of a store with those of the last call. For one thread."""

    def __init__(self, path: Path) -> None:
        self._names = (str(path), f"{path}-wal")
        self._index = f"{path}-shm"
        self._seen: list[object] | None = None

    def may_be_new(self) -> bool:
        """Return False when nothing was written or replaced since the last call, which was long enough after a write.

        Always True on Windows, which updates timestamps when a file is closed.
        """
        if _IS_LAZY:
            return True
        try:
            stats = [os.stat(name) for name in self._names]  # noqa: PTH116  half the time of Path.stat
        except OSError:
            self._seen = None
            return True
        seen, self._seen = self._seen, [*map(_key, stats), file_id(self._index)]
        age = time.time_ns() - max(each.st_mtime_ns for each in stats)
        return seen is None or age < _RECENT or seen != self._seen


def _key(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns
