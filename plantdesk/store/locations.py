"""The location of a store in a file, and the way from what a user names to the location of a store of any kind.

Imports little: the window needs it before its first paint, and each command.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.domain.errors import IsFolderError, StoreUnreachableError, Text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from plantdesk.domain.backups import StoreBackups
    from plantdesk.domain.copies import Copied, Progress, StoreRows
    from plantdesk.domain.desks import TablesUpdate
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.platform.settings import Settings


#: Addresses of servers, and what SQLite takes for something else than a file.
_ADDRESS = "[A-Za-z][A-Za-z0-9+.-]+://|file:|:memory:$"
_POSTGRES = {"postgresql://", "postgres://"}
#: Mistaken addresses of servers: a file of such a name would hold a password in its name.
_MISTAKEN = r"(?i:postgres(ql)?:|(.*\s)?(host|hostaddr|user|password|dbname|service)\s*=)"
#: Files that name a shared store.
DESK_FILE_SUFFIX = ".plantdesk-store"


class AddressError(StoreUnreachableError):
    """The database is named by an address that no kind of store has."""

    text = Text(
        "“{start}” begins an address that PlantDesk does not know. Give the name of a file, such as plants.db, or the "
        "address of a shared store: postgresql://user@host/database."
    )


def location_of(database: str | Path | None) -> StoreLocation:
    """Return the location that a user names; None: that of the user's own store.

    Raises StoreUnreachableError, IsFolderError and NoHomeFolderError.
    """
    if database is not None:
        address = re.match(_ADDRESS, str(database))
        if address is not None and address[0].lower() in _POSTGRES:
            from plantdesk.store.postgres.location import PostgresLocation

            return PostgresLocation.parse(str(database))
        if address is not None:
            raise AddressError(start=address[0])  # the rest may be a password
        path = Path(database).absolute()
        if re.match(_MISTAKEN, str(database)) and not Path(database).is_absolute() and not path.exists():
            from plantdesk.store.postgres.address import AddressSyntaxError

            raise AddressSyntaxError
        if not path.name:
            raise IsFolderError(file=str(path))
        if path.suffix == DESK_FILE_SUFFIX:
            from plantdesk.store.postgres.location import PostgresLocation

            return PostgresLocation.of_file(path)
        return SqliteLocation(path)
    from plantdesk.platform import paths

    return SqliteLocation(paths.database_file(with_folder=False), is_own=True)


def remembered_location(location: StoreLocation, settings: Settings) -> StoreLocation:
    """Return the shared store that was chosen last instead of the own one: what PlantDesk opens by itself."""
    if location.is_own and settings.opens_shared_store and settings.shared_store:
        from plantdesk.domain.errors import PlantDeskError

        try:
            return location_of(settings.shared_store)
        except PlantDeskError:  # somebody has changed the settings
            return location
    return location


@dataclass(frozen=True)
class SqliteLocation:
    """A StoreLocation: a SQLite file. PlantDesk makes its folder if the store is the user's own."""

    path: Path
    is_own: bool = False
    server = None

    @property
    def url(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    @cached_property
    def key(self) -> str:
        """The path with its symbolic links resolved."""
        return os.path.normcase(os.path.realpath(self.path))

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.path.parent

    @property
    def names_file(self) -> Path:
        """A file beside the database. Links to the database are followed, as for backups."""
        return Path(f"{os.path.realpath(self.path)}-names")

    @property
    def backups(self) -> StoreBackups:
        """The backups of the file, in the folder that the settings name now."""
        from plantdesk.store.sqlite.backups.restoring import FileBackups

        return FileBackups(self.path)

    def exists(self) -> bool:
        """Return whether the file, its log or a backup exists."""
        try:
            status = self.path.stat()
            has_file = status.st_size > 0 or not stat.S_ISREG(status.st_mode)
        except OSError:  # nothing, or a link to nothing
            has_file = os.path.lexists(self.path)
        if has_file or os.path.lexists(f"{self.path}-wal"):
            return True
        from plantdesk.store.sqlite.files.backup_folder import Backups

        return bool(Backups(self.path).newest_first())

    def check(self) -> bool:
        """Return whether there is a file with content; it is checked before SQLite opens it as a store."""
        from plantdesk.store.sqlite.files.open_checks import check_file, is_absent, resolved

        path = resolved(self.path)
        if is_absent(path):
            return False
        check_file(path)
        return True

    def open(self, *, create: bool = False) -> PlantStore:
        """Open the store; make the folder if the store is the user's own."""
        from plantdesk.store.sqlite.store import Store

        self._make_folder()
        return Store(self.path, create=create)

    def open_reader(self) -> PlantReader:
        """Open the store without a writer."""
        from plantdesk.store.sqlite.queries import FileReader

        return FileReader(self.path)

    def quick_names(self) -> tuple[list[str], list[str]]:
        """Return tags and tokens without the store's lock."""
        from plantdesk.store.sqlite.quick_names import quick_names

        return quick_names(self.path)

    def roles_sql(self) -> str | None:
        """Return None: the system decides who may read the file."""
        return None

    def needed_update(self) -> TablesUpdate | None:
        """Return None: opening the file updates it, after a backup."""
        return None

    def update(self) -> None:
        """Do nothing."""

    def all_rows(self) -> AbstractContextManager[StoreRows]:
        """Read all rows of the file in one snapshot."""
        from plantdesk.store.sqlite.copies import all_rows

        return all_rows(self.path)

    def fill(self, source: StoreRows, progress: Progress | None = None) -> Copied:
        """Make the file, or fill it if it has no plants, history and tokens."""
        from plantdesk.store.sqlite.copies import fill_file

        self._make_folder()
        return fill_file(self.path, source, progress)

    def _make_folder(self) -> None:
        if self.is_own:
            from plantdesk.platform import paths

            paths.data_folder()
