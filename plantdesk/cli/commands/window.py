"""`plantdesk` without a command: the window."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation


def run(database: StoreLocation, port: int | None, *, background: bool = False) -> int:
    """Open the window and return the exit code when it is closed.

    Raises PlantDeskError where no window can open.
    """
    from plantdesk.platform import display

    display.prepare()  # before the first import of Qt, which may fail for want of a library
    gc.disable()  # what the start makes, stays: `GarbageCollector` collects when the window is complete
    from plantdesk import desktop

    return desktop.run(database, port, background=background)
