"""The backups of one store: complete stores, in a folder beside it or in that of the settings; their removal.

They are made by SQLite's backup API in a read transaction, so that they are consistent and block no writer.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from plantdesk.domain.backups import MAX_AUTOMATIC, Backup, BackupKind, creation_key, expired_backups
from plantdesk.domain.errors import BackupFolderError, StoreError, StoreFullError
from plantdesk.domain.records import now_ms
from plantdesk.domain.texts import Text
from plantdesk.platform.atomic_files import fsync_folder, new_file, remove_abandoned
from plantdesk.platform.settings import read_saved
from plantdesk.store.sqlite.connections import DISK_FULL, check_whole, connect, snapshot, translate_errors
from plantdesk.store.sqlite.counters import renumber
from plantdesk.store.sqlite.files.open_checks import SIDE_FILES

#: The kinds of backups that are made in the folder of the settings, if these name one.
_KINDS_IN_CHOSEN_FOLDER = {BackupKind.AUTOMATIC, BackupKind.BY_HAND}

_TIME_FORMAT = "%Y%m%d-%H%M%S"
#: PlantDesk 0.1.0 named the backups of `plants.db` without this ending.
_LEGACY_SUFFIX = ".db"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BackupFolder:
    """The backups of the store at `path`. Any thread and process may use it: nothing is kept in memory.

    Automatic backups and those of the user are in `folder`, which the settings may name. Those before an update or a
    restore are beside the store: update and restore must not depend on a drive that is not connected.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside = _find_folder_beside(path)
        self.folder = _find_chosen_folder(self._beside) or self._beside
        names = {path.name, path.stem} if path.suffix == _LEGACY_SUFFIX else {path.name}
        prefixes = "|".join(map(re.escape, names))
        kinds = "|".join(BackupKind)
        self._name_pattern = re.compile(
            rf"(?:{prefixes})-(?P<time>\d{{8}}-\d{{6}})-(?P<ms>\d{{3}})(?:-(?P<number>\d+))?-(?P<kind>{kinds})\.db"
        )

    def newest_first(self) -> list[Backup]:
        """Return all backups and quarantined files. Raises BackupFolderError."""
        backups = [
            backup
            for folder in (*self._list_folders(), self._path.parent)
            for file in _list_files(folder)
            if (backup := self._try_parse_backup(file)) is not None
            and (folder != self._path.parent or backup.kind is BackupKind.DAMAGED)
        ]
        return sorted(backups, key=creation_key, reverse=True)

    def make_from(self, connection: sqlite3.Connection, kind: BackupKind) -> Backup:
        """Make a backup of what `connection` sees, which must not be in a transaction. No token is valid in it.

        Raises StoreError; then there is no backup.
        """
        return self.make_by(partial(copy_database, connection), kind)

    def make_by(self, write: Callable[[Path], object], kind: BackupKind) -> Backup:
        """Let `write` make the new file of a backup. Raises StoreError; then there is no backup."""
        folder = self.folder if kind in _KINDS_IN_CHOSEN_FOLDER else self._beside
        try:
            self._list_folders()
            _make_private_folder(folder)
            while True:
                with contextlib.suppress(FileExistsError):  # another process made one in the same millisecond
                    path = self._find_free_name(kind, folder)
                    write(path)
                    return self._parse_backup(path)
        except InterruptedError:  # the user has cancelled it
            raise
        except OSError as error:
            raise backup_error(folder, error) from error

    def prune(self, identity: str, count: int = MAX_AUTOMATIC) -> None:
        """Remove the outdated backups of the store of this `identity`, and temporary files of killed processes.

        At most `count` automatic ones stay. A file that cannot be removed is logged and left. Raises BackupFolderError.
        """
        for folder in self._list_folders():
            remove_abandoned(folder)
        for backup in expired_backups(self.of_store(identity), count):
            try:
                backup.path.unlink(missing_ok=True)
            except OSError as error:
                import logging  # takes as long as all else that a command imports of the store

                log = logging.getLogger(__name__)
                log.warning("The outdated backup %s could not be removed: %s", backup.path.name, error.strerror)

    def of_store(self, identity: str) -> list[Backup]:
        """Return the backups, newest first, without those of another store that had the same name."""
        return [backup for backup in self.newest_first() if _read_identity(backup) in {None, identity}]

    def quarantine(self, path: Path) -> Path:
        """Rename the store file at `path`, and its log, to a free name, and return that. Raises OSError.

        The log comes first: without its file it is harmless, but SQLite would take it for the log of the next file.
        """
        target = self.quarantine_log(path)
        path.rename(target)
        fsync_folder(target.parent)
        fsync_folder(path.parent)
        return target

    def quarantine_log(self, path: Path) -> Path:
        """Rename the log and index beside `path` to those of a free name; return that. Raises OSError."""
        self._list_folders()
        _make_private_folder(self._beside)
        is_same_disk = self._beside.stat().st_dev == path.parent.stat().st_dev
        target = self._find_free_name(BackupKind.DAMAGED, self._beside if is_same_disk else path.parent)
        for ending in SIDE_FILES:
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(target.with_name(target.name + ending))
        return target

    def _list_folders(self) -> list[Path]:
        """Return the folders of backups. They may be missing, or links to folders that hold only backups.

        Raises BackupFolderError if a link, as from an unpacked archive, leads to a folder with other files.
        """
        folders = list(dict.fromkeys((self.folder, self._beside)))
        for folder in folders:
            if folder.is_symlink() and any(self._path.name not in file.name for file in _list_files(folder)):
                message = Text(
                    "No backup can be kept at “{folder}”: It is a link to a folder with other files. "
                    "Put a folder in its place, or a link to an empty one."
                )
                raise BackupFolderError(message, folder=folder.name)
        return folders

    def _find_free_name(self, kind: BackupKind, folder: Path) -> Path:
        """Return the path of the next backup. Its name has the time for readers, and a number for the order."""
        folders = self.folder, self._beside, self._path.parent
        names = (file.name for directory in folders for file in _list_files(directory))
        matches = filter(None, map(self._name_pattern.match, names))  # also the logs of files that were quarantined
        number = max((int(match["number"] or 0) for match in matches), default=0) + 1
        timestamp = now_ms()
        time_text = (_EPOCH + timedelta(milliseconds=timestamp)).strftime(_TIME_FORMAT)
        return folder / f"{self._path.name}-{time_text}-{timestamp % 1000:03d}-{number}-{kind}.db"

    def _try_parse_backup(self, file: Path) -> Backup | None:
        try:
            backup = self._parse_backup(file)
        except (ValueError, OSError):  # no name of a backup, or a file pruned meanwhile
            return None
        return backup if backup.size > 0 else None  # empty: a name that a killed process has claimed

    def _parse_backup(self, file: Path) -> Backup:
        """Return the backup that a file is by its name. Raises ValueError for any other name, and OSError."""
        match = self._name_pattern.fullmatch(file.name)
        if match is None:
            raise ValueError(file.name)
        whole_seconds = datetime.strptime(match["time"], _TIME_FORMAT).replace(tzinfo=UTC)
        made_at = (whole_seconds - _EPOCH) // timedelta(milliseconds=1) + int(match["ms"])
        return Backup(file, made_at, BackupKind(match["kind"]), file.stat().st_size, int(match["number"] or 0))


def copy_database(source: sqlite3.Connection, target: Path) -> None:
    """Copy what `source` sees to the new file `target`, checked and durable, in one file that needs no log beside it.

    No token is valid in it. Raises OSError and StoreError, StoreDamagedError if the source is damaged; then there is no
    copy.
    """
    with new_file(target) as temporary:
        fill_copy(source, temporary, revoke_tokens=True)


def fill_copy(source: sqlite3.Connection, temporary: Path, *, revoke_tokens: bool = False) -> None:
    """Copy what `source` sees into the empty file `temporary`, and check it. Raises StoreError."""
    with translate_errors(), contextlib.closing(connect(temporary)) as copy:
        copy.execute("PRAGMA synchronous = OFF")  # the finished file is flushed
        with snapshot(source):
            source.execute("SELECT 1 FROM sqlite_schema").fetchone()  # raises if it is locked: `backup` would wait
            source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        check_whole(copy)
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'store'").fetchone() is not None:
            renumber(copy)
        if revoke_tokens:
            copy.execute("UPDATE token SET revoked_at = ? WHERE revoked_at IS NULL", (now_ms(),))


def _find_folder_beside(path: Path) -> Path:
    """Return the folder of backups, named after the whole file name; PlantDesk 0.1.0 left out the ending."""
    folder = path.with_name(f"{path.name}-backups")
    legacy = path.with_name(f"{path.stem}-backups")
    is_legacy = path.suffix == _LEGACY_SUFFIX and legacy.is_dir() and not folder.exists()
    return legacy if is_legacy and not path.with_suffix("").exists() else folder


def _find_chosen_folder(beside: Path) -> Path | None:
    """Return the folder of this store in the folder that the settings name; None if they name none.

    Stores of the same name in different folders have folders of their own there.
    """
    chosen = read_saved().backup_folder
    if not chosen:
        return None
    return Path(chosen, f"{beside.name}-{hashlib.sha256(os.fsencode(os.path.realpath(beside))).hexdigest()[:8]}")


def _list_files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise backup_error(folder, error) from error


def _read_identity(backup: Backup) -> str | None:
    """Return the identity of the store that a backup is of; None if the backup has none or cannot be read."""
    try:
        with contextlib.closing(connect(backup.path, immutable=True)) as connection:
            (identity,) = connection.execute("SELECT identity FROM store").fetchone()
    except (sqlite3.Error, TypeError):
        return None
    return str(identity)


def _make_private_folder(folder: Path) -> None:
    """Create `folder`, if it is missing, for its owner alone, and flush its parent. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
        fsync_folder(folder.parent)


def backup_error(path: Path, error: OSError) -> StoreError:
    """Return the error for a folder or file that cannot take a backup."""
    if error.errno in DISK_FULL:
        return StoreFullError()
    reason = error.strerror or type(error).__name__
    return BackupFolderError(Text("No backup can be kept at “{folder}”: {reason}."), folder=path.name, reason=reason)
