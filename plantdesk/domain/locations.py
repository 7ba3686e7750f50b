"""Where a store is. Window, server and commands know a store by its location and by `PlantStore`, never by a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plantdesk.domain.backups import BackupKind
from plantdesk.domain.copies import SameStoreError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plantdesk.domain.backups import Backup, StoreBackups
    from plantdesk.domain.copies import Copied, Progress, StoreRows
    from plantdesk.domain.desks import TablesUpdate
    from plantdesk.domain.protocols import PlantReader, PlantStore


class StoreLocation(Protocol):
    """Where a store is: one class for each kind of store. All methods may be called from any thread."""

    @property
    def url(self) -> str:
        """The location as the option `--database` takes it, without a password."""

    @property
    def name(self) -> str:
        """The location as a title shows it."""

    @property
    def key(self) -> str:
        """The same for all spellings of the location: identifies settings, window and server of the store."""

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own store, which no option names."""

    @property
    def folder(self) -> Path | None:
        """The folder of the store; None for a store on a server."""

    @property
    def server(self) -> str | None:
        """The server on which the store is, as messages name it; None for a store on this computer's disk."""

    @property
    def names_file(self) -> Path:
        """The file for the list of known names: beside the store, or beside the settings for a store on a server."""

    @property
    def backups(self) -> StoreBackups:
        """The backups that PlantDesk makes of the store."""

    def exists(self) -> bool:
        """Return whether there is a store, or what is left of one."""

    def check(self) -> bool:
        """Return whether there is a store, as far as this is known without a server; change nothing.

        Waits for the disk. Raises StoreError for a file that is no store, and OSError.
        """

    def open(self, *, create: bool = False) -> PlantStore:
        """Open the store, make it if there is none, and bring its schema up to date; the caller closes it.

        `create` makes a new store even if there are signs that there was one. Raises StoreError and
        FolderUnusableError.
        """

    def open_reader(self) -> PlantReader:
        """Open the store as `open` does, to read it quickly; the caller closes it. Raises StoreError."""

    def quick_names(self) -> tuple[list[str], list[str]]:
        """Return the tags and the names of the valid tokens for a shell, which must not wait; change nothing.

        Raises StoreError and OSError.
        """

    def roles_sql(self) -> str | None:
        """Return SQL that makes roles for the users of the store's server; None if the store has no server."""

    def needed_update(self) -> TablesUpdate | None:
        """Return the update that a store of several desks needs before this PlantDesk can write to it.

        None if it needs none, or if `open` makes it. Raises StoreError.
        """

    def update(self) -> None:
        """Make the update that `needed_update` has returned, for all desks; the caller has made a backup.

        Raises StoreError; then nothing has changed.
        """

    def all_rows(self) -> AbstractContextManager[StoreRows]:
        """Read all rows of the store in one snapshot, for a copy. Raises StoreError, NoStoreError if there is none.

        Belongs to one thread.
        """

    def fill(self, source: StoreRows, progress: Progress | None = None) -> Copied:
        """Make a store of all rows of another one, durably; `copy_store` calls it.

        Raises TargetNotEmptyError, NulInStoreError, CopyRefusedError, CopyDiffersError and StoreError; then all is as
        it was, except that a database may have empty tables.
        """


def copy_store(source: StoreLocation, target: StoreLocation, progress: Progress | None = None) -> Copied:
    """Copy a whole store to a new or empty one, durably. Raises StoreError and NulInStoreError; then nothing is there.

    What `progress` raises also ends the copying.
    """
    if source.key == target.key:
        raise SameStoreError
    with source.all_rows() as rows:
        return target.fill(rows, progress)


def update_store(location: StoreLocation) -> Backup:
    """Make the update that a store of several desks needs, after a backup, which is returned. Raises StoreError."""
    backup = location.backups.make(BackupKind.BEFORE_UPDATE)
    location.update()
    return backup
