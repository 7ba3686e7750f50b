"""How long tests wait for what must happen: longer than any machine takes, shorter than the limit of a test."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

SECONDS = 50
MILLISECONDS = 50_000


def until(look: Callable[[], Result], what: object = "") -> Result:
    """Look at what another process or thread does until there is something, and return it."""
    end = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < end, f"not within {SECONDS} s: {what or look}"
        time.sleep(0.02)
    return found
