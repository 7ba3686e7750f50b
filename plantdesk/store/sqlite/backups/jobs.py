"""Making backups: on request, into a file, and by time on a thread of its own while a store is open for long."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from plantdesk.domain.backups import Backup, BackupKind
from plantdesk.domain.errors import DiskReserveError, StoreError, StoreUnreachableError, Text
from plantdesk.domain.records import now_ms
from plantdesk.platform.settings import BACKUP_INTERVALS, read_saved
from plantdesk.store.sqlite.backups.difference import attached, same
from plantdesk.store.sqlite.backups.restoring import preview_restore, restore
from plantdesk.store.sqlite.connections import connect, translate_errors
from plantdesk.store.sqlite.files.backup_folder import MAX_AUTOMATIC, Backups, check_is_new, copy_database, unusable
from plantdesk.store.sqlite.files.disk_space import is_low
from plantdesk.store.sqlite.files.open_checks import is_absent, resolved
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, check_schema

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.backups import Restored, RestorePreview
    from plantdesk.domain.records import Source

_log = logging.getLogger(__name__)

#: Seconds between two checks whether a backup is due.
_CHECK_INTERVAL = 3600.0
#: Seconds after the start, which is not to be slowed down; a user who opens PlantDesk for a minute a day has backups.
_FIRST = 5.0


def back_up(path: Path, kind: BackupKind = BackupKind.BY_HAND) -> Backup:
    """Back up what is committed in the store at `path`, durable when this returns. Raises StoreError."""
    with _connected(path) as (file, connection):
        return Backups(file.path).make_from(connection, kind)


def copy_to_file(path: Path, target: Path) -> None:
    """Copy the store at `path` to the new file `target`; no token is valid in it. Raises StoreError."""
    try:
        check_is_new(target)
        with _connected(path) as (_, connection):
            copy_database(connection, target, revoke_tokens=True)
    except OSError as error:
        raise unusable(target, error) from error


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[tuple[StoreFile, sqlite3.Connection]]:
    if is_absent(resolved(path)):
        raise StoreUnreachableError(Text("There is no database “{file}” to back up."), file=path.name)
    with (
        contextlib.closing(StoreFile(path)) as file,
        translate_errors(),
        contextlib.closing(file.connect()) as connection,
    ):
        yield file, connection


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


def back_up_by_settings(file: StoreFile) -> None:
    """Make an automatic backup if the settings require one now. Raises StoreError."""
    settings = read_saved()
    every = BACKUP_INTERVALS[settings.backup_every]
    if every:
        back_up_if_due(file, every, settings.backup_count)


def back_up_if_due(file: StoreFile, every: float, count: int = MAX_AUTOMATIC) -> bool:
    """Make an automatic backup unless one was made within `every` seconds, or nothing has changed since the last.

    At most `count` automatic backups stay.
    Returns whether one was made. A backup with a time in the future, from a clock that was wrong, does not count.
    Raises StoreError.
    """
    backups = Backups(file.path)
    with translate_errors(), contextlib.closing(file.connect()) as connection:
        (identity,) = connection.execute("SELECT identity FROM store").fetchone()
        known = [each for each in backups.of_store(identity) if each.kind is not BackupKind.DAMAGED]
        now = now_ms()
        if any(now - every * 1000 < each.made_at <= now for each in known):
            return False
        if known and _unchanged(connection, known[0].path):
            return False
        if is_low(file.path.parent):
            raise DiskReserveError
        made = backups.make_from(connection, BackupKind.AUTOMATIC)
    _log.info("Backed up to %s (%d bytes)", made.path.name, made.size)
    backups.prune(identity, count)
    return True


def _unchanged(connection: sqlite3.Connection, backup: Path) -> bool:
    try:
        with translate_errors():
            with contextlib.closing(connect(backup, immutable=True)) as reading:
                check_schema(reading, SCHEMA_VERSION)
            with attached(connection, backup):
                return same(connection)
    except (StoreError, sqlite3.Error):  # a backup of an older schema, or one that cannot be read: make a new one
        return False


class FileBackups(Backups):
    """The backups of the store in a file, see `StoreBackups`."""

    suffix = ".db"
    is_shared = False

    def make(self, kind: BackupKind = BackupKind.BY_HAND) -> Backup:
        """Back up what is committed."""
        return back_up(self._path, kind)

    def copy_to(self, file: Path) -> None:
        """Copy the store to a new file."""
        copy_to_file(self._path, file)

    def preview(self, backup: Path) -> RestorePreview:
        """Return what restoring a backup would do."""
        return preview_restore(self._path, backup)

    def restore(self, backup: Path, source: Source) -> Restored:
        """Make the plants of a backup those of the store."""
        return restore(self._path, backup, source)
