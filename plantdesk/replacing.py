"""Putting a finished file in the place of another, at once and as a whole."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

#: Seconds for which Windows is asked again.
_PATIENCE = 1.0
_BETWEEN = 0.02


def replace(draft: Path, file: Path, *, platform: str = sys.platform) -> None:
    """Give `draft` the name of `file`. On failure the draft is removed and the file is as it was. Raises OSError.

    On Windows nobody may have the file open meanwhile, and somebody always may for a moment: a script that reads it, a
    virus scanner, a program that synchronises folders.
    """
    until = time.monotonic() + (_PATIENCE if platform == "win32" else 0)
    while True:
        try:
            draft.replace(file)
        except PermissionError:
            if time.monotonic() >= until:
                draft.unlink(missing_ok=True)
                raise
            time.sleep(_BETWEEN)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        else:
            return


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read; a crash leaves either the old file or the new one. Raises OSError."""
    import tempfile  # takes 3 ms, and the start of the window only reads

    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # mode 0600 from the start
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as draft:
            draft.write(text)
            draft.flush()
            os.fsync(draft.fileno())
        replace(Path(name), file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
