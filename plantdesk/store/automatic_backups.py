"""The thread that makes automatic backups of an open store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from plantdesk.domain.errors import StoreError

_log = logging.getLogger(__name__)

#: Seconds between two checks whether a backup is due.
_BACKUP_INTERVAL = 3600.0
#: Seconds after the start, which is not to be slowed down; a user who opens PlantDesk for a minute a day has backups.
_FIRST_BACKUP = 5.0


class AutomaticBackups:
    """Makes a backup, if one is due, soon after the start and every hour.

    A failure is logged and tried again an hour later: no backup may prevent plants from being added.
    """

    def __init__(
        self,
        back_up_if_due: Callable[[], object],
        on_outcome: Callable[[StoreError | None], object] | None,
        *,
        first: float = _FIRST_BACKUP,
        every: float = _BACKUP_INTERVAL,
    ) -> None:
        """Start the thread, which passes the error of each attempt, or None, to `on_outcome`; times are in seconds."""
        self._back_up_if_due = back_up_if_due
        self._report = on_outcome or (lambda _error: None)
        self._first, self._every = first, every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-backups", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; waits for a backup that is being made. May be called again."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        wait = self._first
        while not self._ended.wait(wait):
            try:
                self._back_up_if_due()
                self._report(None)
            except StoreError as error:
                _log.warning("No automatic backup was made: %s", error)
                self._report(error)
            except Exception:  # noqa: BLE001  the top of a thread: a defect must not end the backups silently
                _log.exception("An automatic backup failed")
            wait = self._every
