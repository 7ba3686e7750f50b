"""Making backups of a store of either kind: on request, into a file, and by time on a thread of its own."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.backups import Backup, BackupKind
from plantdesk.domain.errors import DiskReserveError, StoreError
from plantdesk.domain.records import now_ms
from plantdesk.platform.settings import BACKUP_INTERVALS, read_saved
from plantdesk.store.sqlite.connections import connect
from plantdesk.store.sqlite.files.backup_folder import MAX_AUTOMATIC, Backups, check_is_new, unusable
from plantdesk.store.sqlite.files.disk_space import is_low
from plantdesk.store.sqlite.numbers import LAST_SEQ

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

#: Seconds between two checks whether a backup is due.
_CHECK_INTERVAL = 3600.0
#: Seconds after the start, which is not to be slowed down; a user who opens PlantDesk for a minute a day has backups.
_FIRST = 5.0
#: Selects the last sequence number and change, and the identity, of a store in a file.
STATE = f"SELECT ({LAST_SEQ}), (SELECT coalesce(max(number), 0) FROM change), identity FROM store"


class State(NamedTuple):
    """A state of a store. `write` copies the store, in this state or a later one, to a new file."""

    last_seq: int
    last_change: int
    identity: str
    write: Callable[[Path], object]


class MadeBackups(Backups, ABC):
    """The backups of a store, see `StoreBackups`."""

    suffix = ".db"
    #: Seconds between two automatic backups at least.
    min_interval = 0.0

    @abstractmethod
    def _state(self) -> AbstractContextManager[State]:
        """Return the present state of the store, which can be copied within the context. Raises StoreError."""

    def make(self, kind: BackupKind = BackupKind.BY_HAND) -> Backup:
        """Back up what is committed, durable when this returns. Raises StoreError."""
        with self._state() as state:
            return self.make_by(state.write, kind)

    def copy_to(self, file: Path) -> None:
        """Copy the store to a new file; no token is valid in it. Raises StoreError."""
        try:
            check_is_new(file)
            with self._state() as state:
                state.write(file)
        except OSError as error:
            raise unusable(file, error) from error

    def make_if_due(self) -> bool:
        """Make an automatic backup if the settings require one now; return whether one was made. Raises StoreError."""
        settings = read_saved()
        every = BACKUP_INTERVALS[settings.backup_every]
        return bool(every) and self.make_after(max(every, self.min_interval), settings.backup_count)

    def make_after(self, every: float, count: int = MAX_AUTOMATIC) -> bool:
        """Make an automatic backup unless one was made within `every` seconds, or nothing has changed since the last.

        At most `count` automatic backups stay. A backup with a time in the future, from a clock that was wrong, does
        not count. Returns whether one was made. Raises StoreError.
        """
        with self._state() as state:
            known = [each for each in self.of_store(state.identity) if each.kind is not BackupKind.DAMAGED]
            now = now_ms()
            if any(now - every * 1000 < each.made_at <= now for each in known):
                return False
            if known and _position(known[0].path) == state[:2]:
                return False
            if is_low(self._path.parent):
                raise DiskReserveError
            made = self.make_by(state.write, BackupKind.AUTOMATIC)
        _log.info("Backed up to %s (%d bytes)", made.path.name, made.size)
        self.prune(state.identity, count)
        return True


def _position(backup: Path) -> tuple[int, int] | None:
    """Return the last sequence number and change of a backup; None for one that cannot be read."""
    try:
        with contextlib.closing(connect(backup, immutable=True)) as connection:
            seq, change, _ = connection.execute(STATE).fetchone()
            return int(seq), int(change)
    except (sqlite3.Error, TypeError, ValueError):
        return None


class AutomaticBackups:
    """Makes a backup, if one is due, soon after the start and every hour.

    A failure is logged and tried again an hour later: no backup may prevent plants from being added.
    """

    def __init__(
        self,
        back_up_if_due: Callable[[], object],
        on_outcome: Callable[[StoreError | None], object] | None = None,
        *,
        first: float = _FIRST,
        every: float = _CHECK_INTERVAL,
    ) -> None:
        """Start the thread, which passes the error of each attempt, or None, to `on_outcome`; times are in seconds."""
        self._back_up_if_due = back_up_if_due
        self._on_outcome = on_outcome
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

    def _report(self, error: StoreError | None) -> None:
        if self._on_outcome is not None:
            self._on_outcome(error)
