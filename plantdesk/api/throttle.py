"""Who tries wrong tokens waits longer the more of them come; a right one never waits, as it is looked up first."""

from __future__ import annotations

import asyncio
import time

#: Wrong tokens that nobody waits for: a script with an old token is told at once.
_FREE = 50
#: So many of them are forgiven each second.
_FORGIVEN = 5.0
#: Seconds by which each further one makes the wait longer, and the longest.
_STEP = 0.02
_LONGEST = 1.0
#: Answers held back at a time, so that clients that come and go do not fill the memory.
_MOST_HELD = 1000


class WrongTokenThrottle:
    """Counts the wrong tokens of all connections. For the thread of one loop.

    Of all, since on this machine every client has the same address and can open connections at will.
    """

    def __init__(self) -> None:
        self._wrong = 0.0
        self._counted_at = time.monotonic()
        self._held = 0

    async def wrong_token(self) -> None:
        """Count one, and wait as long as is due by now; nothing else is kept from its work."""
        seconds = self._due()
        if seconds > 0 and self._held < _MOST_HELD:
            self._held += 1
            try:
                await asyncio.sleep(seconds)
            finally:
                self._held -= 1

    def _due(self) -> float:
        now = time.monotonic()
        forgiven = (now - self._counted_at) * _FORGIVEN
        self._counted_at = now
        most = _FREE + _LONGEST / _STEP  # so that the end of a flood is soon forgotten
        self._wrong = min(max(0.0, self._wrong - forgiven) + 1, most)
        return (self._wrong - _FREE) * _STEP
