"""Detects whether a file that could not be opened has changed, so that opening it again may succeed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def signature(path: Path) -> object:
    """Return identity, size, modification time and permissions of a file and its folder; compare for equality."""
    return [_of(each) for each in (path, path.parent)]


def _of(path: Path) -> object:
    try:
        status = path.stat()
    except OSError as error:
        return error.errno
    content = None if path.is_dir() else (status.st_size, status.st_mtime_ns)
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, content, os.access(path, os.W_OK)
