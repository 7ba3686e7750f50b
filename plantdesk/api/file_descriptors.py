"""How many connections the process's limit on open files allows."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from plantdesk.domain.server_state import TooFewDescriptorsError

#: Descriptors of stdin, stdout and stderr, where the open ones cannot be counted.
_STANDARD = 3
#: Descriptors that database, window and event loop need, and the fewest with which they work.
_RESERVED = 200
_MIN_RESERVED = 16
#: With fewer connections a server is of no use.
_MIN_CONNECTIONS = 8


def free_descriptors() -> int:
    """Return how many descriptors may still be opened; `sys.maxsize` where there is no limit."""
    if sys.platform != "win32":
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limit != resource.RLIM_INFINITY:
            return limit - _open_descriptors()
    return sys.maxsize


def max_connections(free: int) -> int:
    """Return how many connections leave enough of `free` descriptors. Raises TooFewDescriptorsError."""
    found = max(free - _RESERVED, (free - _MIN_RESERVED) * 2 // 3)
    if found < _MIN_CONNECTIONS:
        raise TooFewDescriptorsError
    return found


def _open_descriptors() -> int:
    with contextlib.suppress(OSError):  # no /dev, or no descriptor left to list it with
        return len(list(Path("/dev/fd").iterdir()))
    return _STANDARD
