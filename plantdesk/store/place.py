"""Whether the open file, and the log beside it, still stand under their names.

A file that was deleted or moved away goes on taking writes, and none of them would be found again. Another file in its
place (a backup put there by hand, a sync program's version) is not a reason to stop, but the old log must not stay
beside it: SQLite would take it for the new file's own (https://sqlite.org/howtocorrupt.html, section 1.4).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plantdesk.errors import StoreMovedError
from plantdesk.store.stray_log import BESIDE

if TYPE_CHECKING:
    from pathlib import Path

    Identity = tuple[int, int] | None


class Place:
    """Remembers which files they were. May be used by any thread."""

    def __init__(self, path: Path) -> None:
        """Take the files that are at `path` now; the store must have been read from, so that there is a log."""
        self._path, self._log_path = str(path), str(path.with_name(path.name + BESIDE[0]))
        self._file, self._log = _identity(self._path), _identity(self._log_path)

    @property
    def is_kept(self) -> bool:
        """Whether the same files are there. Takes a few µs; asked before and after each commit."""
        return _identity(self._path) == self._file and _identity(self._log_path) == self._log

    @property
    def is_replaced(self) -> bool:
        """Whether another file has taken the name."""
        return _identity(self._path) not in {None, self._file}

    @property
    def has_old_log(self) -> bool:
        """Whether the log under the name is the one of the file that was opened."""
        return self._log is not None and _identity(self._log_path) == self._log

    @property
    def is_left(self) -> bool:
        """Whether a reader may go on to another file: it is there, and nobody takes the old log for its own."""
        return self.is_replaced and not self.has_old_log

    def check(self) -> None:
        """Raise StoreMovedError unless the same files are there."""
        if not self.is_kept:
            raise StoreMovedError


def _identity(path: str) -> Identity:
    try:
        status = os.stat(path)  # noqa: PTH116  half the time of Path.stat, and asked four times for each commit
    except OSError:
        return None
    return status.st_dev, status.st_ino
