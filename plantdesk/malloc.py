"""Less memory for the threads of a process."""

from __future__ import annotations

import sys

_M_ARENA_MAX = -8
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads share two arenas of glibc's malloc (Linux); call it before they start.

    With an arena for each thread the window keeps 8 MiB more once it has sorted a million plants.
    """
    if sys.platform == "linux":
        import ctypes

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, _ARENAS)
