"""Putting a finished file in the place of an older one, which a reader may have open."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: On Windows nobody can replace a file while it is read. Scripts, virus scanners and indexers read for a moment only.
_TRIES, _PAUSE = 20, 0.025


def put(draft: Path, path: Path) -> None:
    """Give `draft` the name `path` at once, whatever had it; on Windows, wait up to half a second for readers.

    Raises OSError; then both are as they were.
    """
    for left in reversed(range(_TRIES if sys.platform == "win32" else 1)):
        try:
            draft.replace(path)
        except PermissionError:
            if not left:
                raise
            time.sleep(_PAUSE)
        else:
            return
