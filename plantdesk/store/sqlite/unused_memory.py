"""Returns memory that was freed to the system, which glibc keeps for this process otherwise."""

from __future__ import annotations

import contextlib


def release() -> None:
    """Return free pages of all threads, in about a millisecond. Does nothing without glibc."""
    import ctypes  # takes 2 to 4 ms

    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
