"""Backups by time, made on a thread of their own while a store is open for long (the window, `plantdesk serve`)."""

from __future__ import annotations

import logging
import sqlite3
import threading
from typing import TYPE_CHECKING

from plantdesk.errors import StoreError
from plantdesk.store.backups import BackupKind, Backups
from plantdesk.store.comparing import attached, same
from plantdesk.store.engine import told_plainly
from plantdesk.store.writes import now_ms

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

#: Seconds between two automatic backups, of which the second is left out when nothing has changed.
HOUR = 3600.0
#: Seconds after the start: it is not to be slowed down, but who opens PlantDesk for a minute a day is to have backups.
_FIRST = 5.0


class AutomaticBackups:
    """Makes a backup soon after the start and every hour, when there is something new, and thins out the old ones.

    What fails is logged and tried again an hour later: no backup must keep anybody from adding plants.
    """

    def __init__(self, path: Path, *, first: float = _FIRST, every: float = HOUR) -> None:
        """Start the thread for the store at `path`; times are in seconds."""
        self._path = path
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
                back_up_if_due(self._path, self._every)
            except StoreError as error:
                _log.warning("No automatic backup was made: %s", error)
            except Exception:  # noqa: BLE001  the top of a thread: a defect must not end the backups silently
                _log.exception("An automatic backup failed")
            wait = self._every


def back_up_if_due(path: Path, every: float) -> bool:
    """Make an automatic backup unless the newest is younger than `every` seconds or nothing has changed since.

    Returns whether one was made. Raises StoreError.
    """
    backups = Backups(path)
    newest = next(iter(backups.newest_first()), None)
    if newest is not None and (now_ms() - newest.made_at < every * 1000 or _unchanged(path, newest.path)):
        return False
    made = backups.make(BackupKind.AUTOMATIC)
    _log.info("Backed up to %s (%d bytes)", made.path.name, made.size)
    backups.thin()
    return True


def _unchanged(path: Path, backup: Path) -> bool:
    try:
        with attached(path, backup) as pair, told_plainly():
            return same(pair)
    except (StoreError, sqlite3.Error):  # a backup of an older schema, or one that cannot be read: make a new one
        return False
