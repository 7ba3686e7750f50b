"""Keeps tokens and plants in memory from core dumps and from other programs of the user.

Only in packaged programs: developers need core dumps and debuggers.
"""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4


def forbid_core_dumps() -> None:
    """Write no core dump of this process and its children."""
    if sys.platform != "win32" and getattr(sys, "frozen", False):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def forbid_tracing() -> None:
    """Deny ptrace and /proc/PID/mem to other programs of the user (Linux).

    Not for the window: desktop portals refuse a process that they cannot inspect.
    """
    if sys.platform == "linux" and getattr(sys, "frozen", False):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
