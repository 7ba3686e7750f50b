"""The backups of a store: their kinds and expiry, the preview of a restore, and the interface to make them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from plantdesk.domain.history import Change
from plantdesk.domain.records import Source
from plantdesk.domain.texts import Text, comma_list, joined, plants_text, shortened

#: The most characters of a plant's name in a preview.
_MAX_NAME_LENGTH = 30
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: For each kind of period (UTC), how many of the latest periods retain their newest automatic backup.
_TIERS = (("%Y-%m-%d %H", 24), ("%Y-%m-%d", 14), ("%Y-%m", 12))
#: The most automatic backups that all tiers together retain.
MAX_AUTOMATIC = sum(count for _, count in _TIERS)
#: The most backups that are retained of each kind made before a change of the whole store.
_MAX_OF_KIND = 10


class BackupKind(StrEnum):
    """The reason for which a backup was made; its value is part of the file name."""

    AUTOMATIC = "auto"
    BY_HAND = "manual"
    BEFORE_RESTORE = "before-restore"
    BEFORE_UPDATE = "before-update"
    #: The content of a store when another file replaced it.
    REPLACED = "replaced"
    #: A quarantined file with its log, no backup; plants that can still be read can be restored.
    DAMAGED = "damaged"


class Backup(NamedTuple):
    """An existing backup. `made_at` is in milliseconds since 1970, UTC; `size` in bytes.

    `number` counts the backups of a store, independent of the clock; it is 0 in backups of PlantDesk 0.1.0.
    """

    path: Path
    made_at: int
    kind: BackupKind
    size: int
    number: int = 0


def expired_backups(backups: Iterable[Backup], count: int = MAX_AUTOMATIC) -> list[Backup]:
    """Return the backups that may be removed; never one made by hand.

    At most `count` automatic backups are retained: the newest among those that are the newest of a period.
    """
    ordered = sorted(backups, key=creation_key, reverse=True)
    retained = {backup for backup in ordered if backup.kind in {BackupKind.BY_HAND, BackupKind.DAMAGED}}
    automatic = [backup for backup in ordered if backup.kind is BackupKind.AUTOMATIC]
    in_tiers = {backup for period, size in _TIERS for backup in _select_newest_per_period(automatic, period, size)}
    retained.update([backup for backup in automatic if backup in in_tiers][:count])
    for kind in (BackupKind.BEFORE_RESTORE, BackupKind.BEFORE_UPDATE, BackupKind.REPLACED):
        retained.update([backup for backup in ordered if backup.kind is kind][:_MAX_OF_KIND])
    return [backup for backup in ordered if backup not in retained]


def _select_newest_per_period(backups: Sequence[Backup], period: str, count: int) -> list[Backup]:
    """Return the newest backup of each of the latest `count` periods; `backups` are sorted, newest first."""
    newest: dict[str, Backup] = {}
    for backup in backups:
        newest.setdefault((_EPOCH + timedelta(milliseconds=backup.made_at)).strftime(period), backup)
    return list(newest.values())[:count]


def creation_key(backup: Backup) -> tuple[int, int, str]:
    """Return the sort key for the order of creation: first the number, as the computer's clock may be wrong."""
    return backup.number, backup.made_at, backup.path.name


class PlantGroup(NamedTuple):
    """The plants that a restore changes in one way: their number, and ids and names of the newest few."""

    size: int
    newest: tuple[tuple[int, str], ...]


class Difference(NamedTuple):
    """The effect of a restore on the plants of the store: which come back, which go, and which get other texts."""

    returning: PlantGroup
    leaving: PlantGroup
    changing: PlantGroup

    def __bool__(self) -> bool:
        """Return whether the restore changes any plant."""
        return any(group.size for group in self)


class RestorePreview(NamedTuple):
    """The effect of restoring a backup. `difference` is None if the current file is damaged or missing.

    `is_partial`: the backup is damaged, and only `plants` of its plants can be read. `has_foreign_log`: the log beside
    it belongs to another file and is not read.
    """

    plants: int
    difference: Difference | None
    is_partial: bool = False
    has_foreign_log: bool = False

    @property
    def changes_nothing(self) -> bool:
        """Whether backup and store have the same plants."""
        return self.difference is not None and not self.difference


class Restored(NamedTuple):
    """The result of a restore. `saved` is the backup of the state before, None if there was none or nothing changed."""

    preview: RestorePreview
    saved: Path | None
    tokens_retained: bool
    #: The change in the history, to undo the restore; None in a new store.
    change: Change | None = None


def preview_text(preview: RestorePreview, file_name: str) -> Text:
    """Return the effect of restoring the backup `file_name`, with a line for each kind of change."""
    file = shortened(file_name)
    summary = Text("“{file}” holds {plants}.")
    if preview.is_partial:
        summary = Text("“{file}” is damaged: no more than {plants} of it can be read.")
    lines = [summary.filled(file=file, plants=plants_text(preview.plants))]
    if preview.has_foreign_log:
        log = Text("The log “{file}-wal” beside it belongs to another file, and its plants are not read.")
        lines.append(log.filled(file=file))
    if preview.difference is None:
        message = Text("What it holds comes back, which cannot be undone. The damaged file, if there is one, is kept.")
        lines.append(message)
    elif preview.changes_nothing:
        lines.append(Text("They are the plants that are here now: nothing would change."))
    else:
        kinds = Text("Comes back: {plants}"), Text("Goes: {plants}"), Text("Changes back: {plants}")
        for kind, group in zip(kinds, preview.difference, strict=True):
            if group.size:
                change = kind.filled(plants=plants_text(group.size))
                lines.append(Text("{change} ({names})", change=change, names=_format_names(group)))
    return joined(lines, Text("{first}\n{second}"))


def _format_names(group: PlantGroup) -> Text:
    names = [Text("{id} “{name}”", id=number, name=shortened(name, _MAX_NAME_LENGTH)) for number, name in group.newest]
    return comma_list(names, len(names), group.size)


class StoreBackups(Protocol):
    """The backups of the store at a location; the store may be open, damaged or missing.

    All methods may be called from any thread, and wait for the disk.
    """

    @property
    def folder(self) -> Path:
        """The folder of automatic and manual backups: that of the settings, otherwise one beside the store."""

    @property
    def suffix(self) -> str:
        """The suffix of the backups' file names, such as `.db`."""

    @property
    def is_shared(self) -> bool:
        """Whether the store is on a server, so that a restore changes the plants of other computers, too."""

    def newest_first(self) -> list[Backup]:
        """Return all backups and quarantined files. Raises BackupFolderError."""

    def make(self, kind: BackupKind = BackupKind.BY_HAND) -> Backup:
        """Back up the committed content; the backup is durable when this returns. Raises StoreError."""

    def copy_to(self, file: Path) -> None:
        """Copy the store to a new file, in which no token is valid. Raises StoreError."""

    def preview(self, backup: Path) -> RestorePreview:
        """Return the effect of restoring a backup, and change nothing. Raises BackupUnusableError and StoreError."""

    def restore(self, backup: Path, source: Source) -> Restored:
        """Back up the store, and replace its plants with those of a backup.

        The history records it as a change of `source`, unless a new store has to be made. Other programs may have
        the store open. Raises BackupUnusableError and StoreError; then nothing has changed.
        """
