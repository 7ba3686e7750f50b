"""The cost of code relative to other code: tests set no time limits, since machines differ and are busy."""

import gc
import sys
import time
from collections.abc import Callable

#: Windows counts processor time in ticks of 16 ms.
_CLOCK = time.perf_counter if sys.platform == "win32" else time.process_time


def cpu_seconds(run: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest processor time of a call, without garbage collection, as timeit measures."""
    taken = []
    was_enabled = gc.isenabled()
    gc.disable()  # a collection may take 80 ms
    try:
        for _ in range(rounds):
            started = _CLOCK()
            run()
            taken.append(_CLOCK() - started)
    finally:
        if was_enabled:
            gc.enable()
    return min(taken)
