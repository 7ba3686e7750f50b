"""What tells whether a file that could not be opened has changed since, so that another attempt is worth its cost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def signature(path: Path) -> object:
    """Return the identity, content stamp and permissions of a file and its folder. Compare it for equality."""
    return [_of(each) for each in (path, path.parent)]


def _of(place: Path) -> object:
    try:
        found = place.stat()
    except OSError as error:
        return error.errno
    content = None if place.is_dir() else (found.st_size, found.st_mtime_ns)
    return found.st_dev, found.st_ino, found.st_mode, found.st_uid, content, os.access(place, os.W_OK)
