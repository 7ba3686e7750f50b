"""The stores: where they are, and how files of plants are read. `sqlite` and `postgres` are reached through a location.

Knows neither asyncio nor Qt: writes answer with `concurrent.futures.Future`, listeners are plain callables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from plantdesk.store.locations import DESK_FILE_SUFFIX, location_of, remembered_location

if TYPE_CHECKING:
    from plantdesk.store.base import UnreachedStore
    from plantdesk.store.known_names import KnownNames, NamesList
    from plantdesk.store.postgres.address import Address
    from plantdesk.store.postgres.desks import system_name
    from plantdesk.store.postgres.encryption import is_loopback
    from plantdesk.store.postgres.location import PostgresLocation
    from plantdesk.store.postgres.passwords import keep_password
    from plantdesk.store.postgres.probe import (
        Probe,
        Stage,
        hba_line,
        is_encrypted,
        needs_administrator,
        probe,
        setup_sql,
    )
    from plantdesk.store.sqlite.backups.restore_source import plants_of_file
    from plantdesk.store.sqlite.files.open_checks import is_database

#: The modules of names that are imported at their first use: the window needs a location before its first paint.
_LAZY = {
    "Address": "postgres.address",
    "PostgresLocation": "postgres.location",
    "Probe": "postgres.probe",
    "Stage": "postgres.probe",
    "UnreachedStore": "base",
    "hba_line": "postgres.probe",
    "is_encrypted": "postgres.probe",
    "is_loopback": "postgres.encryption",
    "keep_password": "postgres.passwords",
    "needs_administrator": "postgres.probe",
    "probe": "postgres.probe",
    "setup_sql": "postgres.probe",
    "system_name": "postgres.desks",
    "KnownNames": "known_names",
    "NamesList": "known_names",
    "is_database": "sqlite.files.open_checks",
    "plants_of_file": "sqlite.backups.restore_source",
}

__all__ = [
    "DESK_FILE_SUFFIX",
    "Address",
    "KnownNames",
    "NamesList",
    "PostgresLocation",
    "Probe",
    "Stage",
    "UnreachedStore",
    "hba_line",
    "is_database",
    "is_encrypted",
    "is_loopback",
    "keep_password",
    "location_of",
    "needs_administrator",
    "plants_of_file",
    "probe",
    "remembered_location",
    "setup_sql",
    "system_name",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(name)
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
