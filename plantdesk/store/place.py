"""Whether the open file still stands under its name.

A file that was deleted or moved away goes on taking writes, and none of them would be found again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.errors import StoreMovedError

if TYPE_CHECKING:
    from pathlib import Path


class Place:
    """Remembers which file it was. May be used by any thread."""

    def __init__(self, path: Path) -> None:
        """Take the file that is at `path` now. Raises OSError."""
        self._path = path
        self._file = self._found()

    def check(self) -> None:
        """Raise StoreMovedError unless the same file is there. Takes a few µs; asked after each commit."""
        try:
            same = self._found() == self._file
        except OSError:
            same = False
        if not same:
            raise StoreMovedError

    def _found(self) -> tuple[int, int]:
        status = self._path.stat()
        return status.st_dev, status.st_ino
