"""How many more files and connections the process may open."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

#: Descriptors that a process has from its start, where nobody can count them.
_STANDARD = 3


def free_descriptors() -> int:
    """Return how many descriptors are left under the process's limit; a large number where there is none."""
    if sys.platform != "win32":
        import resource

        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if allowed != resource.RLIM_INFINITY:
            return allowed - _open_descriptors()
    return sys.maxsize


def _open_descriptors() -> int:
    with contextlib.suppress(OSError):  # no /dev, or no descriptor left to list it with
        return len(list(Path("/dev/fd").iterdir()))
    return _STANDARD
