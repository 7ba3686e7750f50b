"""Making the tables of a shared store, and updating them for all desks when a user has agreed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.domain.desks import TablesUpdate
from plantdesk.store.postgres.connections import (
    LONG,
    ServerUnreachableError,
    connect,
    translate_errors,
)
from plantdesk.store.postgres.desks import desk_name, desks
from plantdesk.store.postgres.schema import SCHEMA_VERSION, check_readable, migrate, version_of

if TYPE_CHECKING:
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.schema import TablesVersion

_ROLE = "migration"


def create_tables(address: Address) -> None:
    """Make the tables of a store if there are none. Raises StoreError."""
    with translate_errors(address), closing(connect(address, _ROLE)) as connection:
        if version_of(connection) is None:
            migrate(connection)


def needed_update(address: Address) -> TablesUpdate | None:
    """Return the update that the tables need; None if they are of this version or newer. Raises StoreError."""
    with translate_errors(address), closing(connect(address, _ROLE)) as connection:
        found = check_readable(version_of(connection), address.name, address.server)
        if found.version >= SCHEMA_VERSION:
            return None
        listed = desks(connection, desk_name(address))
        worst_first = sorted(listed, key=lambda desk: (not desk.is_own, desk.tables, -desk.last_seen))
        return TablesUpdate(found.version, SCHEMA_VERSION, tuple(worst_first))


def update_tables(address: Address) -> None:
    """Bring the tables of all desks to this version, in one transaction. Raises StoreError; then nothing has changed.

    If the answer to the commit is lost, the version of the tables shows whether they were updated.
    """
    try:
        with translate_errors(address), closing(connect(address, _ROLE, LONG)) as connection:
            migrate(connection)
    except ServerUnreachableError:
        if _version(address).version < SCHEMA_VERSION:
            raise


def _version(address: Address) -> TablesVersion:
    with translate_errors(address), closing(connect(address, _ROLE)) as connection:
        return check_readable(version_of(connection), address.name, address.server)
