"""Putting a file under its name only when it is finished: neither a kill nor a power cut leaves a half-made one."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Yield an empty file beside `path`, for its owner alone, which gets that name at the end of the block.

    What is there under the name already stays, unless it is an empty file; a block that raises leaves nothing behind.
    Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)  # mode 0600
    os.close(handle)
    new = Path(name)
    try:
        yield new
        _flush(new)
        _put(new, path)
    finally:
        new.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make a new name in `folder` last through a power cut. Windows has no such call and needs none. Raises OSError."""
    if os.name == "posix":
        _flush(folder)


def _put(new: Path, path: Path) -> None:
    if path.exists() and path.stat().st_size == 0:
        new.replace(path)
    else:
        try:
            os.link(new, path)
        except FileExistsError:  # another process was quicker
            return
        except OSError:  # a file system without hard links (FAT)
            new.rename(path)
    flush_folder(path.parent)


def _flush(path: Path) -> None:
    # Windows flushes only what is open for writing, and opens no folder.
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
