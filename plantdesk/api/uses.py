"""When a token was last used, also where its request was refused: a person may want to know who still knocks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plantdesk.records import Source
    from plantdesk.store import Tokens

#: Seconds between two notes of one token: each is a write of its own.
_PAUSE = 60.0


class Uses:
    """Notes uses that added no plant; those that did are noted with the plant. For one thread."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._noted: dict[int, float] = {}

    def note(self, source: Source) -> None:
        """Note, without waiting for it, that the token behind `source` was used now."""
        now = time.monotonic()
        if now - self._noted.get(source.id, float("-inf")) >= _PAUSE:
            self._noted[source.id] = now
            self._tokens.used(source)
