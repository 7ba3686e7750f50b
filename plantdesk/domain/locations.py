"""The interface to the location of a store, copying and updating of stores, and the probe of a shared store's address.

Window, server and commands know a store by its location and by `PlantStore`, never by a file.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import Enum, auto
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple, Protocol

from plantdesk.domain.backups import Backup, BackupKind, StoreBackups
from plantdesk.domain.copying import Copied, ReportFraction, SameStoreError, StoreRows
from plantdesk.domain.errors import StoreError
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import Desk


class TablesUpdate(NamedTuple):
    """An update of a shared store's tables to the next version, and the desks that were active in the last 30 days.

    Desks that can only read after the update come first.
    """

    before: int
    after: int
    desks: tuple[Desk, ...]

    def can_write_after(self, desk: Desk) -> bool:
        """Return whether a desk can change plants after the update: it knows the new tables, or is this desk."""
        return desk.tables >= self.after or desk.is_own


class StoreLocation(Protocol):
    """The location of a store; each kind of store has a class. All methods may be called from any thread."""

    @property
    def url(self) -> str:
        """The location as the option `--database` takes it, without a password."""

    @property
    def name(self) -> str:
        """The short name of the store in titles and messages: that of its file or database."""

    @property
    def key(self) -> str:
        """Identifies the settings, the window and the server of the store; equal for all spellings of the location."""

    @property
    def is_own(self) -> bool:
        """Whether it is the user's default store."""

    @property
    def folder(self) -> Path | None:
        """The folder of the store; None for a store on a server."""

    @property
    def server(self) -> str | None:
        """The name of the store's server in messages; None for a store on this computer's disk."""

    @property
    def names_file(self) -> Path:
        """The file for the list of known names: beside the store, or beside the settings for a store on a server."""

    @property
    def backups(self) -> StoreBackups:
        """The backups that PlantDesk makes of the store."""

    def exists(self) -> bool:
        """Return whether there is a store, or a log or backups of one; True for a server, which is not asked."""

    def has_store(self) -> bool:
        """Return whether there is a store; True for a server, which is not asked. Changes nothing.

        Waits for the disk. Raises StoreError for a file that is no store, and OSError.
        """

    def open(self, *, create: bool = False) -> PlantStore:
        """Open the store; create a file that is missing, and update an older one. The caller closes the store.

        `create` also creates tables on a server, and a file of which a log or backups are left. Raises StoreError and
        FolderUnusableError.
        """

    def open_reader(self) -> PlantReader:
        """Open the store only for reading, more quickly than `open`; the caller closes it. Raises StoreError."""

    def completion_names(self) -> tuple[list[str], list[str]]:
        """Return the tags and the names of the valid tokens for shell completion, without waiting.

        Changes nothing. Raises StoreError and OSError.
        """

    def roles_sql(self) -> str | None:
        """Return SQL that creates roles for the users of the store's server; None if the store has no server."""

    def needed_update(self) -> TablesUpdate | None:
        """Return the update that a store of several desks needs before this PlantDesk can write to it.

        None if it needs none, or if `open` makes it. Raises StoreError.
        """

    def update(self) -> None:
        """Make the update that `needed_update` has returned, for all desks; the caller has made a backup.

        Raises StoreError; then nothing has changed.
        """

    def open_all_rows(self) -> AbstractContextManager[StoreRows]:
        """Open the store; in the block, one thread reads all rows in a snapshot. Raises NoStoreError and StoreError."""

    def fill(self, source: StoreRows, progress: ReportFraction | None = None) -> Copied:
        """Create a store with all rows of another one, durably; `copy_store` calls it.

        Raises TargetNotEmptyError, NulInStoreError, CopyRefusedError, CopyDiffersError and StoreError; then nothing has
        changed, except that a database may have empty tables.
        """


def copy_store(source: StoreLocation, target: StoreLocation, progress: ReportFraction | None = None) -> Copied:
    """Copy a store to a new or empty one, durably. Raises what `fill` and `progress` raise; then it stays empty."""
    if source.key == target.key:
        raise SameStoreError
    with source.open_all_rows() as rows:
        return target.fill(rows, progress)


def update_store(location: StoreLocation) -> Backup:
    """Back up a store of several desks, make the update that it needs, and return the backup. Raises StoreError."""
    backup = location.backups.make(BackupKind.BEFORE_UPDATE)
    location.update()
    return backup


class ConnectionStage(Enum):
    """The steps of the test of a shared store's address, in their order."""

    SERVER = auto()
    ENCRYPTION = auto()
    SIGN_IN = auto()
    PLANTS = auto()


class ConnectionProbe(NamedTuple):
    """The result of testing an address. `failed` is the first failed stage, with `error`; later ones were not run."""

    failed: ConnectionStage | None = None
    error: StoreError | None = None
    #: Whether an administrator of the server can solve the problem.
    needs_administrator: bool = False
    #: The server's version, and the milliseconds of a round trip.
    server: str = ""
    milliseconds: float = 0
    is_encrypted: bool = False
    #: The number of plants; None if there are no tables yet, and the user may create them.
    plants: int | None = None
    can_add: bool = True
    can_change: bool = True
    #: The reason why this PlantDesk can only read: the tables have another version.
    refusal: StoreError | None = None
    #: The desks that have changed something today, the last one first.
    desks: tuple[str, ...] = ()


def is_loopback(host: str) -> bool:
    """Return whether a host is this computer: a loopback address, or the path of a Unix domain socket."""
    if not host or host.startswith(("/", "@")) or host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
