"""The location of a shared store: a database on a PostgreSQL server. Opens no connection by itself."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plantdesk.domain.errors import SignInNeededError, StoreUnreachableError, Text
from plantdesk.platform.settings import of_store, read_saved
from plantdesk.store.postgres.address import Address, AddressSyntaxError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plantdesk.domain.backups import StoreBackups
    from plantdesk.domain.copies import Copied, Progress, StoreRows
    from plantdesk.domain.desks import TablesUpdate
    from plantdesk.domain.protocols import PlantReader, PlantStore


#: Bytes of a desk file that are read.
_MAX_SIZE = 10_000


class DeskFileError(StoreUnreachableError):
    """A desk file is missing, or something else."""

    text = Text("“{file}” is not the file of a shared store. Ask for a new one: File > Shared store… writes it.")


class DeskFileMissingError(DeskFileError):
    """There is no desk file of that name."""

    text = Text("There is no file “{file}”.")


class UserUnknownError(SignInNeededError):
    """A desk file names no user, and nobody has been signed in here yet."""

    text = Text(
        "The file names no user. Sign in to “{database}” on {server} in the window first, or write the user into the "
        "address: postgresql://user@host/database."
    )


@dataclass(frozen=True)
class PostgresLocation:
    """A StoreLocation: a database on a server."""

    address: Address
    #: Whether the user's name must be asked for first: libpq would try that of the system, again and again.
    needs_user: bool = False

    is_own = False
    folder = None

    @classmethod
    def parse(cls, url: str) -> PostgresLocation:
        """Return the location that a URL of libpq names. Raises AddressSyntaxError."""
        return cls(Address.parse(url))

    @classmethod
    def of_file(cls, file: Path) -> PostgresLocation:
        """Return the location in a desk file, for the user who signed in to it last. Raises DeskFileError."""
        try:
            if not stat.S_ISREG(file.stat().st_mode):  # a pipe would be read for ever
                raise DeskFileError(file=file.name)
            content = json.loads(file.read_bytes()[:_MAX_SIZE])
            address = Address.parse(content["address"])
        except FileNotFoundError as error:
            raise DeskFileMissingError(file=file.name) from error
        except (OSError, ValueError, TypeError, KeyError, AddressSyntaxError) as error:
            raise DeskFileError(file=file.name) from error
        found = replace(address, secrets=())
        if found.user or "service" in dict(found.parameters):
            return cls(found)
        user = of_store(read_saved(), found.key).get("user")
        return cls(found).with_user(user) if user and isinstance(user, str) else cls(found, needs_user=True)

    def with_user(self, user: str) -> PostgresLocation:
        """Return the location for this user."""
        return type(self)(replace(self.address, user=user))

    def desk_file(self) -> str:
        """Return the content of a file with which other desks open the store: without user, password, and own name."""
        shared = tuple(each for each in self.address.parameters if each[0] != "application_name")
        address = replace(self.address, user="", parameters=shared, secrets=())
        return json.dumps({"format": "PlantDesk store", "version": 1, "address": address.url}, indent=2) + "\n"

    @property
    def url(self) -> str:
        """The address without a password."""
        return self.address.url

    @property
    def name(self) -> str:
        """The name of the database."""
        return self.address.name

    @property
    def server(self) -> str:
        """The first host."""
        return self.address.server

    @property
    def key(self) -> str:
        """Server and database, independent of the user and of how to connect."""
        return self.address.key

    @property
    def names_file(self) -> Path:
        """A file beside the settings."""
        from plantdesk.platform import paths

        return paths.settings_file().with_name("known-names.db")

    @property
    def backups(self) -> StoreBackups:
        """The backups on this computer."""
        from plantdesk.store.postgres.backups import SharedBackups

        return SharedBackups(self.address)

    def exists(self) -> bool:
        """Return True: only opening shows whether there is a store, and creates nothing unless requested."""
        return True

    def check(self) -> bool:
        """Return True: only the server knows whether there is a store."""
        return True

    def open(self, *, create: bool = False) -> PlantStore:
        """Open the store; only `create` makes its tables, in a database that has none."""
        from plantdesk.store.postgres.store import PostgresStore

        self._check_user()
        return PostgresStore(self.address, create=create)

    def open_reader(self) -> PlantReader:
        """Open the store without a writer."""
        from plantdesk.store.postgres.reader import ServerReader

        self._check_user()
        return ServerReader(self.address)

    def _check_user(self) -> None:
        if self.needs_user and "PGUSER" not in os.environ:
            raise UserUnknownError(database=self.name, server=self.server)

    def quick_names(self) -> tuple[list[str], list[str]]:
        """Return nothing: a shell must not wait for a server."""
        return [], []

    def roles_sql(self) -> str | None:
        """Return SQL for an administrator; opens no connection."""
        from plantdesk.store.postgres.roles import roles_sql

        return roles_sql(self.address)

    def needed_update(self) -> TablesUpdate | None:
        """Return the update of the tables that this PlantDesk needs."""
        from plantdesk.store.postgres.desks import needed_update

        return needed_update(self.address)

    def update(self) -> None:
        """Update the tables for all desks."""
        from plantdesk.store.postgres.desks import update_tables

        update_tables(self.address)

    def all_rows(self) -> AbstractContextManager[StoreRows]:
        """Read all rows of the store in one snapshot."""
        from plantdesk.store.postgres.copies import all_rows

        return all_rows(self.address)

    def fill(self, source: StoreRows, progress: Progress | None = None) -> Copied:
        """Fill a store without plants, history and tokens; make its tables if there are none."""
        from plantdesk.store.postgres.copies import fill_database

        return fill_database(self.address, source, progress)
