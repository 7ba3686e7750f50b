"""Whether the open file, and the log beside it, still stand under their names.

A file that was deleted or moved away goes on taking writes, and none of them would be found again. Another file in its
place (a backup put there by hand, a sync program's version) is not a reason to stop, but the old log must not stay
beside it: SQLite would take it for the new file's own (https://sqlite.org/howtocorrupt.html, section 1.4).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from plantdesk.errors import StoreMovedError

if TYPE_CHECKING:
    from pathlib import Path

    Identity = tuple[int, int] | None

#: What SQLite keeps beside a file in WAL mode: the log, and its index in shared memory.
_BESIDE = ("-wal", "-shm")


class Place:
    """Remembers which files they were. May be used by any thread."""

    def __init__(self, path: Path) -> None:
        """Take the files that are at `path` now; the store must have been read from, so that there is a log."""
        self._path = path
        self._beside = [path.with_name(path.name + ending) for ending in _BESIDE]
        self._file, self._log = _identity(path), _identity(self._beside[0])

    @property
    def is_kept(self) -> bool:
        """Whether the same files are there. Takes a few µs; asked before and after each commit."""
        return _identity(self._path) == self._file and _identity(self._beside[0]) == self._log

    @property
    def is_replaced(self) -> bool:
        """Whether another file has taken the name."""
        return _identity(self._path) not in {None, self._file}

    @property
    def has_old_log(self) -> bool:
        """Whether the log under the name is the one of the file that was opened."""
        return self._log is not None and _identity(self._beside[0]) == self._log

    @property
    def is_left(self) -> bool:
        """Whether a reader may go on to another file: it is there, and nobody takes the old log for its own."""
        return self.is_replaced and not self.has_old_log

    def check(self) -> None:
        """Raise StoreMovedError unless the same files are there."""
        if not self.is_kept:
            raise StoreMovedError

    def move_old_log(self, to: Path) -> None:
        """Take the old log away from beside the new file; who still has it open goes on reading it. Raises OSError."""
        for beside, ending in zip(self._beside, _BESIDE, strict=True):
            with contextlib.suppress(FileNotFoundError):
                beside.rename(to.with_name(to.name + ending))


def _identity(path: Path) -> Identity:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
