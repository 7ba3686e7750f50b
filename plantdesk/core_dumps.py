"""Keeps tokens and plants in memory out of core dumps, and other programs of the user out of the memory.

Only in packaged programs: whoever develops wants to see a crash.
"""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4


def forbid_core_dumps() -> None:
    """Write no core dump of this process, or of those that it starts."""
    if sys.platform != "win32" and getattr(sys, "frozen", False):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def forbid_tracing() -> None:
    """Let no other program of the user read the memory (Linux).

    Not for the window: desktop portals refuse a process that they cannot look into.
    """
    if sys.platform == "linux" and getattr(sys, "frozen", False):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
