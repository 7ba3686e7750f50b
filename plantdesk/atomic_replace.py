"""Replaces a file atomically: readers see either the old content or the new one."""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds. On Windows a rename fails while another process has the file open.
_TIMEOUT = 1.0
_RETRY_DELAY = 0.02


def replace(draft: Path, file: Path, *, platform: str = sys.platform) -> None:
    """Rename `draft` to `file`. On failure remove the draft and leave the file as it was. Raises OSError.

    On Windows the rename is retried: scripts, virus scanners and synchronisation tools open files for a moment.
    """
    deadline = time.monotonic() + (_TIMEOUT if platform == "win32" else 0)
    while True:
        try:
            draft.replace(file)
        except PermissionError:
            if time.monotonic() >= deadline:
                draft.unlink(missing_ok=True)
                raise
            time.sleep(_RETRY_DELAY)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        else:
            return


def write_private(file: Path, text: str) -> None:
    """Write a file with mode 0600; a crash leaves either the old file or the new one. Raises OSError."""
    with replaced_text(file) as draft:
        draft.write(text)


@contextmanager
def replaced_text(file: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Yield a UTF-8 draft (mode 0600), which replaces `file` when the block ends; a block that raises changes nothing.

    `newline` is that of `open`. Raises OSError.
    """
    with replaced_bytes(file) as stream:
        draft = io.TextIOWrapper(stream, encoding="utf-8", newline=newline)
        yield draft
        draft.detach()  # flushes it


@contextmanager
def replaced_bytes(file: Path) -> Iterator[BinaryIO]:
    """Yield a draft (mode 0600) as `replaced_text` does, for bytes. Raises OSError."""
    import tempfile  # takes 3 ms, and the start of the window only reads

    try:
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # mode 0600 from the start
    except OSError as error:
        error.filename = str(file)  # the user has chosen that
        raise
    try:
        with os.fdopen(descriptor, "wb") as draft:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
        replace(Path(name), file)
    except OSError as error:
        error.filename = error.filename or str(file)  # writing does not name it, as where the disk is full
        raise
    finally:
        Path(name).unlink(missing_ok=True)
