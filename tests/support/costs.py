"""The cost of code relative to other code: tests set no time limits, since machines differ and are busy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def cpu_seconds(run: Callable[[], object], rounds: int = 3) -> float:
    """Return the processor time of this process that a call takes, at best."""
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return min(taken)
