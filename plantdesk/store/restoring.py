"""Bringing back the plants of a backup, with a look first at what that would do.

A store that can be read keeps its file, its tokens and its origins: in one transaction its plants become those of the
backup, so that every open PlantDesk sees all of it or nothing. A damaged one is set aside, never deleted, and a copy of
the backup takes its place.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.errors import BackupUnusableError, StoreDamagedError, StoreError, StoreUnreachableError
from plantdesk.store.backups import Backup, BackupKind, Backups, copy_database
from plantdesk.store.comparing import Difference, attached, difference
from plantdesk.store.engine import connect, told_plainly, transaction
from plantdesk.store.migrations import migrate
from plantdesk.store.opening import identify, prepare
from plantdesk.store.stray_log import move_beside, set_stray_log_aside
from plantdesk.store.writes import now_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The way in of each plant of the backup, as a row of the present store: its own number where it is the same one.
_MAP_SOURCES = (
    """INSERT INTO main.source (kind, label) SELECT DISTINCT kind, label FROM other.source AS o
       WHERE NOT EXISTS (SELECT 1 FROM main.source AS s WHERE s.kind = o.kind AND s.label = o.label)""",
    "CREATE TEMP TABLE way (theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL)",
    """INSERT INTO temp.way SELECT id, coalesce(
           (SELECT id FROM main.source AS s WHERE s.id = o.id AND s.kind = o.kind AND s.label = o.label),
           (SELECT min(id) FROM main.source AS s WHERE s.kind = o.kind AND s.label = o.label)
       ) FROM other.source AS o""",
)
_TAKE_PLANTS = (
    """DELETE FROM main.plant WHERE NOT EXISTS (
           SELECT 1 FROM other.plant AS b JOIN temp.way ON theirs = b.source_id
           WHERE b.id = plant.id AND b.name IS plant.name AND b.tag IS plant.tag AND b.seq = plant.seq
           AND b.added_at = plant.added_at AND ours = plant.source_id)""",
    """INSERT INTO main.plant (id, name, tag, seq, added_at, source_id, folded)
       SELECT b.id, name, tag, seq, added_at, ours, folded FROM other.plant AS b JOIN temp.way ON theirs = source_id
       WHERE NOT EXISTS (SELECT 1 FROM main.plant AS p WHERE p.id = b.id)""",
    "UPDATE main.revision SET rewritten = rewritten + 1",
)


class Look(NamedTuple):
    """What restoring a backup would do. `difference` is None when the present file is damaged or not there at all."""

    plants: int
    difference: Difference | None

    @property
    def changes_nothing(self) -> bool:
        """Whether the plants of the backup are those of the store."""
        return self.difference is not None and not self.difference


class Restored(NamedTuple):
    """What was done: `saved` is where the state before is kept, None when there was none."""

    look: Look
    saved: Path | None
    tokens_kept: bool

    @property
    def can_be_taken_back(self) -> bool:
        """Whether `saved` is a backup and not a damaged file."""
        return self.saved is not None and self.look.difference is not None


def look_at(path: Path, backup: Path) -> Look:
    """Tell what restoring `backup` over the store at `path` would do, and do nothing.

    Raises BackupUnusableError, and StoreError of the present store where that is neither there nor damaged.
    """
    with _readable_copy(backup) as copy:
        return _look(path, copy)


def restore(path: Path, backup: Path) -> Restored:
    """Make the plants of `backup` those of the store at `path`, after a backup of the present state.

    Other programs may have the store open. Raises BackupUnusableError and StoreError; then nothing was changed.
    """
    with _readable_copy(backup) as copy:
        look = _look(path, copy)
        if look.difference is None:
            return _put_in_place(path, copy, look)
        try:
            return Restored(look, _take_over(path, copy).path, tokens_kept=True)
        except StoreDamagedError:  # in a place that no look had come to
            return _put_in_place(path, copy, Look(look.plants, None))


def _look(path: Path, copy: Path) -> Look:
    with told_plainly(), contextlib.closing(connect(copy)) as connection:
        (plants,) = connection.execute("SELECT count(*) FROM plant").fetchone()
    if not path.exists():
        return Look(plants, None)
    try:
        prepare(path)
        with attached(path, copy) as pair:
            return Look(plants, difference(pair))
    except StoreDamagedError:
        return Look(plants, None)


@contextlib.contextmanager
def _readable_copy(backup: Path) -> Iterator[Path]:
    """Yield a copy of the backup, checked and of the present schema; the backup itself is only read."""
    if not backup.exists():
        raise BackupUnusableError(f"There is no file “{backup.name}”. `plantdesk backup --list` shows the backups.")
    try:
        identify(backup)
    except StoreError as error:
        raise BackupUnusableError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="plantdesk-") as folder:
        copy = Path(folder) / "backup.db"
        try:
            with told_plainly(), contextlib.closing(_reading(backup)) as source:
                copy_database(source, copy)
        except (StoreError, OSError) as error:
            reason = "it is damaged" if isinstance(error, StoreDamagedError) else f"it cannot be read ({error})"
            raise BackupUnusableError(f"“{backup.name}” cannot be restored: {reason}. Choose another one.") from error
        with told_plainly(), contextlib.closing(connect(copy)) as connection:
            migrate(connection)
        yield copy


def _reading(backup: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


# --- a store that can be read ---


def _take_over(path: Path, copy: Path) -> Backup:
    with attached(path, copy) as pair, transaction(pair):
        saved = Backups(path).make(BackupKind.BEFORE_RESTORE)  # nobody can add a plant between this and the end
        for statement in (*_MAP_SOURCES, *_TAKE_PLANTS):
            pair.execute(statement)
    return saved


# --- a store that cannot ---


def _put_in_place(path: Path, copy: Path, look: Look) -> Restored:
    """Set the damaged files aside and give their place to the copy."""
    kept = _carry_over_tokens(path, copy)
    try:
        saved = _set_aside(path)
        with told_plainly(), contextlib.closing(_reading(copy)) as source:
            copy_database(source, path)
    except PermissionError as error:
        message = (
            "The damaged file cannot be replaced while it is open. Close PlantDesk, then type: plantdesk restore FILE"
        )
        raise StoreUnreachableError(message) from error
    except OSError as error:
        raise StoreUnreachableError(f"The backup cannot be put in place: {error.strerror}.") from error
    return Restored(look, saved, tokens_kept=kept)


def _set_aside(path: Path) -> Path | None:
    if not path.exists():
        set_stray_log_aside(path)
        return None
    aside = Backups(path).place_for_damaged()
    # The log first: without its file it is harmless, but a log beside another file would be taken for its own.
    move_beside(path, aside)
    path.rename(aside)
    return aside


def _carry_over_tokens(path: Path, copy: Path) -> bool:
    """Revoke in the copy what was revoked since, or all of it when the damaged store does not tell: nobody comes back.

    Returns whether the damaged store told.
    """
    try:
        with told_plainly(), contextlib.closing(_reading(path)) as damaged:
            valid = damaged.execute("SELECT digest FROM token WHERE revoked_at IS NULL").fetchall()
        told = True
    except (StoreError, sqlite3.Error):
        valid, told = [], False
    with told_plainly(), contextlib.closing(connect(copy)) as connection, transaction(connection):
        connection.execute("CREATE TEMP TABLE valid (digest BLOB)")
        connection.executemany("INSERT INTO valid VALUES (?)", valid)
        gone = "revoked_at IS NULL AND digest NOT IN (SELECT digest FROM temp.valid)"
        connection.execute(f"UPDATE token SET revoked_at = ? WHERE {gone}", (now_ms(),))
    return told
