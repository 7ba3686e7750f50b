"""The locations of stores, and how they are parsed from what a user names. Making a location opens nothing.

The drivers are imported only when a store is opened: each command needs a location, even if it opens no store.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.domain.errors import IsFolderError, PlantDeskError, SignInNeededError, StoreUnreachableError
from plantdesk.domain.texts import Text
from plantdesk.platform import paths
from plantdesk.store.postgres.address import Address, AddressSyntaxError

if TYPE_CHECKING:
    from plantdesk.domain.backups import StoreBackups
    from plantdesk.domain.copying import Copied, ReportFraction, StoreRows
    from plantdesk.domain.locations import ConnectionProbe, StoreLocation, TablesUpdate
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.platform.settings import Settings

#: Addresses of servers, and what SQLite takes for something else than a file.
_ADDRESS_START = "[A-Za-z][A-Za-z0-9+.-]+://|file:|:memory:$"
_POSTGRES_SCHEMES = {"postgresql://", "postgres://"}
#: Mistaken addresses of servers: a file of such a name would hold a password in its name.
_MISTAKEN_ADDRESS = r"(?i:postgres(ql)?:|(.*\s)?(host|hostaddr|user|password|dbname|service)\s*=)"
#: Milliseconds for which the completion of a shell waits for a lock.
_QUICK_TIMEOUT_MS = 500
#: Files that name a shared store, and the bytes of one that are read.
DESK_FILE_SUFFIX = ".plantdesk-store"
_MAX_FILE_BYTES = 10_000
_NO_DESK_FILE = Text("“{file}” is not the file of a shared store. Ask for a new one: File > Shared store… writes it.")


def location_of(database: str | Path | None) -> StoreLocation:
    """Return the location that a user names; for None, that of the user's default store.

    Raises StoreUnreachableError, IsFolderError and NoHomeFolderError.
    """
    if database is not None:
        address = re.match(_ADDRESS_START, str(database))
        if address is not None and address[0].lower() in _POSTGRES_SCHEMES:
            return PostgresLocation.parse(str(database))
        if address is not None:
            message = Text(
                "“{start}” begins an address that PlantDesk does not know. Give the name of a file, such as plants.db, "
                "or the address of a shared store: postgresql://user@host/database."
            )
            raise StoreUnreachableError(message, start=address[0])  # the rest may be a password
        path = Path(database).absolute()
        if re.match(_MISTAKEN_ADDRESS, str(database)) and not Path(database).is_absolute() and not path.exists():
            raise AddressSyntaxError
        if not path.name:
            raise IsFolderError(file=str(path))
        if path.suffix == DESK_FILE_SUFFIX:
            return PostgresLocation.of_file(path)
        return SqliteLocation(path)
    return SqliteLocation(paths.database_file(with_folder=False), is_own=True)


def remembered_location(location: StoreLocation, settings: Settings) -> StoreLocation:
    """Return the shared store that the user opened last, if `location` is the default store; otherwise `location`."""
    if location.is_own and settings.opens_shared_store and settings.shared_store:
        try:
            return location_of(settings.shared_store)
        except PlantDeskError:  # somebody has changed the settings
            return location
    return location


@dataclass(frozen=True)
class SqliteLocation:
    """A StoreLocation: a SQLite file. PlantDesk makes its folder if it is the user's default store."""

    path: Path
    is_own: bool = False
    server = None

    @property
    def url(self) -> str:
        """The path of the file, as text."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self.path.name

    @cached_property
    def key(self) -> str:
        """The path with its symbolic links resolved."""
        return os.path.normcase(os.path.realpath(self.path))

    @property
    def folder(self) -> Path:
        """The folder of the file; it may be missing."""
        return self.path.parent

    @property
    def names_file(self) -> Path:
        """A file beside the database. Links to the database are followed, as for backups."""
        return Path(f"{os.path.realpath(self.path)}-names")

    @property
    def backups(self) -> StoreBackups:
        """The backups of the file, in the folder that the settings name now."""
        from plantdesk.store.sqlite.backups import FileBackups

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
        from plantdesk.store.sqlite.files.backup_folder import BackupFolder

        return bool(BackupFolder(self.path).newest_first())

    def has_store(self) -> bool:
        """Return whether there is a file with content; it is checked before SQLite opens it as a store."""
        from plantdesk.store.sqlite.files.open_checks import check_file, is_absent, resolve_path

        path = resolve_path(self.path)
        if is_absent(path):
            return False
        check_file(path)
        return True

    def open(self, *, create: bool = False) -> PlantStore:
        """Open the store; make its folder if it is the user's default store."""
        from plantdesk.store.sqlite.store import SqliteStore

        self._make_folder()
        return SqliteStore(self.path, create=create)

    def open_reader(self) -> PlantReader:
        """Open the store without a writer thread."""
        from plantdesk.store.sqlite.reader import StandaloneSqliteReader

        return StandaloneSqliteReader(self.path)

    def completion_names(self) -> tuple[list[str], list[str]]:
        """Return tags and names of tokens by a plain connection, which takes no lock file and needs few imports."""
        from plantdesk.domain.folding import natural_key
        from plantdesk.store.sqlite.connections import translate_errors
        from plantdesk.store.sqlite.files.open_checks import check_file, connect_for_reading, resolve_path
        from plantdesk.store.sqlite.migrations import SCHEMA_VERSION, check_schema

        path = resolve_path(self.path)
        check_file(path)
        with translate_errors(), closing(connect_for_reading(path)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {_QUICK_TIMEOUT_MS}")
            check_schema(connection, SCHEMA_VERSION)
            tags = connection.execute("SELECT DISTINCT tag FROM plant WHERE tag IS NOT NULL").fetchall()
            newest = "SELECT name FROM token WHERE revoked_at IS NULL ORDER BY created_at DESC, id DESC"
            tokens = [str(name) for (name,) in connection.execute(newest)]
        return sorted((str(tag) for (tag,) in tags), key=natural_key), tokens

    def roles_sql(self) -> str | None:
        """Return None: the system decides who may read the file."""
        return None

    def needed_update(self) -> TablesUpdate | None:
        """Return None: opening the file updates it, after a backup."""
        return None

    def update(self) -> None:
        """Do nothing: opening the file updates it."""

    def open_all_rows(self) -> AbstractContextManager[StoreRows]:
        """Open the file; in the block, all rows are read in one snapshot."""
        from plantdesk.store.sqlite.backups import open_all_rows

        return open_all_rows(self.path)

    def fill(self, source: StoreRows, progress: ReportFraction | None = None) -> Copied:
        """Make the file, or fill it if it has no plants, history and tokens."""
        from plantdesk.store.sqlite.backups import fill_file

        self._make_folder()
        return fill_file(self.path, source, progress)

    def _make_folder(self) -> None:
        if self.is_own:
            paths.data_folder()


@dataclass(frozen=True)
class PostgresLocation(Address):
    """A StoreLocation: a database on a server."""

    #: Whether the user's name must be asked for first: libpq would try that of the system, again and again.
    needs_user: bool = False

    is_own = False
    folder = None

    @classmethod
    def of_file(cls, file: Path) -> PostgresLocation:
        """Return the location in a desk file, for the user who signed in to it last. Raises StoreUnreachableError."""
        from plantdesk.domain.models import DeskFile
        from plantdesk.platform.settings import of_store, read_saved

        try:
            if not stat.S_ISREG(file.stat().st_mode):  # a pipe would be read for ever
                raise StoreUnreachableError(_NO_DESK_FILE, file=file.name)
            content = DeskFile.model_validate(json.loads(file.read_bytes()[:_MAX_FILE_BYTES]))
            address = replace(cls.parse(content.address), secrets=())
        except FileNotFoundError as error:
            raise StoreUnreachableError(Text("There is no file “{file}”."), file=file.name) from error
        except (OSError, ValueError, RecursionError, AddressSyntaxError) as error:
            raise StoreUnreachableError(_NO_DESK_FILE, file=file.name) from error
        if address.user or "service" in dict(address.parameters):
            return address
        user = of_store(read_saved(), address.key).get("user")
        return address.with_user(user) if user and isinstance(user, str) else replace(address, needs_user=True)

    def with_user(self, user: str) -> PostgresLocation:
        """Return the location as `user` signs in to it, so that nobody has to be asked for the name."""
        return replace(self, user=user, needs_user=False)

    def desk_file(self) -> str:
        """Return the content of a file with which other desks open the store: without user, password, and own name."""
        from plantdesk.domain.models import DeskFile

        shared = tuple(pair for pair in self.parameters if pair[0] != "application_name")
        address = replace(self, user="", parameters=shared, secrets=())
        return DeskFile(address=address.url).model_dump_json(indent=2) + "\n"

    @property
    def names_file(self) -> Path:
        """A file beside the settings, the same for all shared stores."""
        return paths.settings_file().with_name("known-names.db")

    @property
    def backups(self) -> StoreBackups:
        """The backups of the shared store on this computer's disk."""
        from plantdesk.store.postgres.copies import SharedBackups

        return SharedBackups(self)

    def exists(self) -> bool:
        """Return True: only opening shows whether there is a store, and creates nothing unless requested."""
        return True

    def has_store(self) -> bool:
        """Return True: only the server knows whether there is a store."""
        return True

    def open(self, *, create: bool = False) -> PlantStore:
        """Open the store; only `create` makes its tables, in a database that has none."""
        from plantdesk.store.postgres.store import PostgresStore

        self._check_user()
        return PostgresStore(self, create=create)

    def open_reader(self) -> PlantReader:
        """Open the store without a writer thread."""
        from plantdesk.store.postgres.reader import StandalonePostgresReader

        self._check_user()
        return StandalonePostgresReader(self)

    def completion_names(self) -> tuple[list[str], list[str]]:
        """Return nothing: a shell must not wait for a server."""
        return [], []

    def roles_sql(self) -> str | None:
        """Return the SQL by which an administrator makes the roles and grants their rights; opens no connection."""
        from plantdesk.store.postgres.administration import roles_sql

        return roles_sql(self)

    def probe(self) -> ConnectionProbe:
        """Test the address with one attempt to sign in. Changes nothing."""
        from plantdesk.store.postgres.administration import probe

        return probe(self)

    def needed_update(self) -> TablesUpdate | None:
        """Return the update of the tables that this PlantDesk needs before it can write; None if it needs none."""
        from plantdesk.store.postgres.administration import needed_update

        return needed_update(self)

    def update(self) -> None:
        """Update the tables for all desks."""
        from plantdesk.store.postgres.administration import update_tables

        update_tables(self)

    def open_all_rows(self) -> AbstractContextManager[StoreRows]:
        """Connect; in the block, all rows are read in one snapshot."""
        from plantdesk.store.postgres.copies import open_all_rows

        return open_all_rows(self)

    def fill(self, source: StoreRows, progress: ReportFraction | None = None) -> Copied:
        """Fill a store without plants, history and tokens; make its tables if there are none."""
        from plantdesk.store.postgres.copies import fill_database

        return fill_database(self, source, progress)

    def _check_user(self) -> None:
        if self.needs_user and "PGUSER" not in os.environ:
            message = Text(
                "The file names no user. Sign in to “{database}” on {server} in the window first, or write the user "
                "into the address: postgresql://user@host/database."
            )
            raise SignInNeededError(message, database=self.name, server=self.server)
