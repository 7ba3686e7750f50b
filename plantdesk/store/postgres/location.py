"""The location of a shared store: a database on a PostgreSQL server. Opens no connection by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plantdesk.store.postgres.address import Address

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.domain.locations import ReadOnlyPlants
    from plantdesk.domain.protocols import PlantStore


@dataclass(frozen=True)
class PostgresLocation:
    """A StoreLocation: a database on a server, of which PlantDesk makes no backups."""

    address: Address

    is_own = False
    folder = None
    backups = None

    @classmethod
    def parse(cls, url: str) -> PostgresLocation:
        """Return the location that a URL of libpq names. Raises AddressSyntaxError."""
        return cls(Address.parse(url))

    @property
    def url(self) -> str:
        """The address without a password."""
        return self.address.url

    @property
    def name(self) -> str:
        """The name of the database."""
        return self.address.name

    @property
    def key(self) -> str:
        """Server and database, whoever connects and however."""
        return self.address.key

    def exists(self) -> bool:
        """Whether there may be a store: only opening it tells, and creates nothing unless asked."""
        return True

    def state(self) -> object:
        """Return something new each time: a server may be reachable at any moment."""
        return object()

    def open(
        self,
        *,
        create: bool = False,
        progress: Callable[[float], None] | None = None,  # noqa: ARG002  a migration takes no time yet
    ) -> PlantStore:
        """Open the store; only `create` makes its tables, in a database that has none."""
        from plantdesk.store.postgres.store import PostgresStore

        return PostgresStore(self.address, create=create)

    def open_read_only(
        self,
        progress: Callable[[float], None] | None = None,  # noqa: ARG002
    ) -> ReadOnlyPlants:
        """Open the store without a writer."""
        from plantdesk.store.postgres.store import ReadOnlyPostgresStore

        return ReadOnlyPostgresStore(self.address)

    def quick_names(self) -> tuple[list[str], list[str]]:
        """Return nothing: a shell must not wait for a server."""
        return [], []
