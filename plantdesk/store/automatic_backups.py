"""The thread that makes automatic backups of an open store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from plantdesk.domain.errors import StoreError

_log = logging.getLogger(__name__)

#: Seconds for which a backup that is being made may delay the end of a program; its unfinished file is removed later.
_STOP_TIMEOUT = 2.0


def start_backup_thread(
    back_up_if_due: Callable[[], object],
    on_outcome: Callable[[StoreError | None], object] | None,
    *,
    first_delay: float,
    interval: float = 3600.0,
) -> Callable[[], None]:
    """Start a thread that calls `back_up_if_due` after `first_delay` seconds, then every `interval` seconds.

    `on_outcome` gets the error of each attempt, or None. Returns a function that ends the thread, and waits at most
    `_STOP_TIMEOUT` for a backup that is being made. A failure is logged: no backup may prevent adding plants.
    """
    stopped = threading.Event()
    report = on_outcome or (lambda _error: None)

    def run() -> None:
        wait = first_delay
        while not stopped.wait(wait):
            try:
                back_up_if_due()
                report(None)
            except StoreError as error:
                _log.warning("No automatic backup was made: %s", error)
                report(error)
            except Exception:  # noqa: BLE001  the top of a thread: a defect must not end the backups silently
                _log.exception("An automatic backup failed")
            wait = interval

    thread = threading.Thread(target=run, name="store-backups", daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        thread.join(_STOP_TIMEOUT)

    return stop
