"""Delays the responses to invalid tokens, the longer the more of them arrive. Valid tokens are never delayed."""

from __future__ import annotations

import asyncio
import time

#: Invalid tokens without a delay, as of a script with an old token, and how many are forgotten per second.
_FREE = 50
_FORGOTTEN_PER_SECOND = 5.0
#: Seconds that each further invalid token adds to the delay, and the longest delay.
_STEP = 0.02
_MAX_DELAY = 1.0
#: Responses delayed at a time, so that clients that connect and leave do not fill the memory.
_MAX_DELAYED = 1000


class InvalidTokenThrottle:
    """Counts invalid tokens on all connections. For the thread of one loop.

    Not per client: on this machine all have the same address, and can open connections at will.
    """

    def __init__(self) -> None:
        self._count = 0.0
        self._counted_at = time.monotonic()
        self._delayed = 0

    async def delay(self) -> None:
        """Count one invalid token, and wait for the delay that is due."""
        seconds = self._count_one()
        if seconds > 0 and self._delayed < _MAX_DELAYED:
            self._delayed += 1
            try:
                await asyncio.sleep(seconds)
            finally:
                self._delayed -= 1

    def _count_one(self) -> float:
        now = time.monotonic()
        forgotten = (now - self._counted_at) * _FORGOTTEN_PER_SECOND
        self._counted_at = now
        max_count = _FREE + _MAX_DELAY / _STEP  # bounded, so that a flood is soon forgotten
        self._count = min(max(0.0, self._count - forgotten) + 1, max_count)
        return (self._count - _FREE) * _STEP
