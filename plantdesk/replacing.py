"""Putting a finished file in the place of another, at once and as a whole."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
