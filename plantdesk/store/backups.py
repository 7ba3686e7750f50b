"""The backups of one store: whole, plain stores in a folder beside it, of which the old ones are thinned out.

They are made by SQLite's backup API from a read transaction: consistent while anyone writes, and holding up nobody.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.errors import StoreUnreachableError
from plantdesk.store.engine import check_whole, connect, told_plainly
from plantdesk.store.placing import placed
from plantdesk.store.writes import now_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

#: Automatic backups that stay: the newest of each of so many hours, days and months (UTC) in which there is one.
_TIERS = (("%Y-%m-%d %H", 24), ("%Y-%m-%d", 14), ("%Y-%m", 12))
#: Backups that stay of each kind that PlantDesk makes before it changes many plants at once.
_KEPT_BEFORE = 10

_TIME = "%Y%m%d-%H%M%S"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BackupKind(StrEnum):
    """Why a backup was made; part of its name."""

    AUTOMATIC = "auto"
    BY_HAND = "manual"
    BEFORE_RESTORE = "before-restore"
    BEFORE_UPDATE = "before-update"
    REPLACED = "replaced"


class Backup(NamedTuple):
    """A backup that is there. `made_at` is in milliseconds since 1970, UTC; `size` in bytes."""

    path: Path
    made_at: int
    kind: BackupKind
    size: int


class Backups:
    """The folder of backups of the store at `path`. Any thread, any process; nothing is kept in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.folder = path.with_name(f"{path.stem}-backups")
        kinds = "|".join(BackupKind)
        self._name = re.compile(rf"{re.escape(path.stem)}-(\d{{8}}-\d{{6}})-(\d{{3}})-({kinds})\.db")

    def newest_first(self) -> list[Backup]:
        """Return the backups that are there. Raises StoreUnreachableError."""
        try:
            found = [backup for file in self.folder.iterdir() if (backup := self._backup(file)) is not None]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unusable(self.folder, error) from error
        return sorted(found, key=_age, reverse=True)

    def make(self, kind: BackupKind) -> Backup:
        """Make a backup of what is committed now, durable when this returns. Raises StoreError; then there is none."""
        with _opened(self._path) as connection:
            return self.make_from(connection, kind)

    def make_from(self, connection: sqlite3.Connection, kind: BackupKind) -> Backup:
        """Make a backup of what `connection` sees, which must not be in a transaction. Raises StoreError."""
        made_at, path = self._free_name(kind)
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            copy_database(connection, path)
            return Backup(path, made_at, kind, path.stat().st_size)
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def thin(self) -> None:
        """Remove the backups that are outdated. Raises StoreUnreachableError."""
        for backup in outdated(self.newest_first()):
            try:
                backup.path.unlink(missing_ok=True)
            except OSError as error:
                raise _unusable(self.folder, error) from error

    def place_for_damaged(self) -> Path:
        """Return a free name for a file that is set aside; makes the folder. Raises StoreUnreachableError."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _unusable(self.folder, error) from error
        _, path = self._free_name("damaged")
        return path

    def _free_name(self, kind: str) -> tuple[int, Path]:
        moment = now_ms()
        while (path := self._named(moment, kind)).exists():
            moment += 1
        return moment, path

    def _named(self, moment: int, kind: str) -> Path:
        at = (_EPOCH + timedelta(milliseconds=moment)).strftime(_TIME)
        return self.folder / f"{self._path.stem}-{at}-{moment % 1000:03d}-{kind}.db"

    def _backup(self, file: Path) -> Backup | None:
        match = self._name.fullmatch(file.name)
        try:
            moment = match and datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)
            size = file.stat().st_size
        except (ValueError, OSError):  # a name that is no time; a file thinned out meanwhile
            return None
        if not match or not moment:
            return None
        made_at = (moment - _EPOCH) // timedelta(milliseconds=1) + int(match[2])
        return Backup(file, made_at, BackupKind(match[3]), size)


def copy_store(path: Path, target: Path) -> None:
    """Copy the store at `path` to the new file `target`. Raises StoreError; then there is no copy."""
    if target.exists():
        raise StoreUnreachableError(f"The file “{target.name}” is there already. Name a new one.")
    try:
        with _opened(path) as connection:
            copy_database(connection, target)
    except OSError as error:
        raise _unusable(target, error) from error


def copy_database(source: sqlite3.Connection, target: Path) -> None:
    """Copy what `source` sees to `target`, checked and durable, as one file that needs no log beside it.

    What is at `target` already stays, unless it is an empty file. Raises OSError and StoreError; StoreDamagedError
    when what was copied is damaged. Then there is no copy.
    """
    with (
        placed(target) as new,
        told_plainly(),
        contextlib.closing(sqlite3.connect(new, isolation_level=None)) as copy,
    ):
        copy.execute("PRAGMA synchronous = OFF")  # `placed` flushes the finished file
        with _snapshot(source):
            source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        check_whole(copy)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.exists():
        raise StoreUnreachableError(f"There is no plant store “{path.name}” to back up.")
    with told_plainly(), contextlib.closing(connect(path)) as connection:
        yield connection


@contextlib.contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold a read transaction, which tells here that the file is locked: a backup without one would wait for ever."""
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        yield
    finally:
        connection.execute("ROLLBACK")


def outdated(backups: Iterable[Backup]) -> list[Backup]:
    """Return those of `backups` that need not be kept: by tiers of time, by number, and never one made by hand."""
    ordered = sorted(backups, key=_age, reverse=True)
    kept = {backup for backup in ordered if backup.kind is BackupKind.BY_HAND}
    automatic = [backup for backup in ordered if backup.kind is BackupKind.AUTOMATIC]
    for period, count in _TIERS:
        kept.update(_newest_of_each(automatic, period, count))
    for kind in (BackupKind.BEFORE_RESTORE, BackupKind.BEFORE_UPDATE, BackupKind.REPLACED):
        kept.update([backup for backup in ordered if backup.kind is kind][:_KEPT_BEFORE])
    return [backup for backup in ordered if backup not in kept]


def _newest_of_each(backups: Sequence[Backup], period: str, count: int) -> list[Backup]:
    newest: dict[str, Backup] = {}
    for backup in backups:
        newest.setdefault((_EPOCH + timedelta(milliseconds=backup.made_at)).strftime(period), backup)
    return list(newest.values())[:count]


def _age(backup: Backup) -> tuple[int, str]:
    return backup.made_at, backup.path.name


def _unusable(place: Path, error: OSError) -> StoreUnreachableError:
    reason = error.strerror or type(error).__name__
    return StoreUnreachableError(f"No backup can be kept at “{place.name}”: {reason}.")
