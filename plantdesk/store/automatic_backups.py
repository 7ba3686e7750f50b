"""The thread that makes automatic backups of an open store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from plantdesk.domain.errors import StoreError

_log = logging.getLogger(__name__)

#: Seconds that a backup under way may keep a program from closing; its unfinished file is removed later.
_END_TIMEOUT = 2.0


def begin_backups(
    back_up_if_due: Callable[[], object],
    on_outcome: Callable[[StoreError | None], object] | None,
    *,
    first: float,
    every: float = 3600.0,
) -> Callable[[], None]:
    """Make a backup if one is due, after `first` seconds and then every `every` seconds; report its error, or None.

    Returns a function that ends this, and waits `_END_TIMEOUT` at most for a backup that is being made. A failure is
    logged and tried again an hour later: no backup may prevent plants from being added.
    """
    ended = threading.Event()
    report = on_outcome or (lambda _error: None)

    def run() -> None:
        wait = first
        while not ended.wait(wait):
            try:
                back_up_if_due()
                report(None)
            except StoreError as error:
                _log.warning("No automatic backup was made: %s", error)
                report(error)
            except Exception:  # noqa: BLE001  the top of a thread: a defect must not end the backups silently
                _log.exception("An automatic backup failed")
            wait = every

    thread = threading.Thread(target=run, name="store-backups", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join(_END_TIMEOUT)

    return end
