"""The stores: where they are, and how files of plants are read. `sqlite` and `postgres` are reached through a location.

Knows neither asyncio nor Qt: writes answer with `concurrent.futures.Future`, listeners are plain callables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from plantdesk.store.locations import DESK_FILE_SUFFIX as DESK_FILE_SUFFIX
from plantdesk.store.locations import PostgresLocation as PostgresLocation
from plantdesk.store.locations import location_of as location_of
from plantdesk.store.locations import remembered_location as remembered_location

if TYPE_CHECKING:
    from plantdesk.store.known_names import KnownNames as KnownNames
    from plantdesk.store.known_names import NamesList as NamesList
    from plantdesk.store.postgres.administration import Probe as Probe
    from plantdesk.store.postgres.administration import Stage as Stage
    from plantdesk.store.postgres.administration import hba_line as hba_line
    from plantdesk.store.postgres.administration import is_encrypted as is_encrypted
    from plantdesk.store.postgres.administration import needs_administrator as needs_administrator
    from plantdesk.store.postgres.administration import probe as probe
    from plantdesk.store.postgres.administration import setup_sql as setup_sql
    from plantdesk.store.sqlite.files.open_checks import is_database as is_database
    from plantdesk.store.sqlite.restore_source import plants_of_file as plants_of_file

#: Modules that are imported at the first use of a name: the window needs a location before its first paint.
_LAZY = {
    "known_names": {"KnownNames", "NamesList"},
    "postgres.administration": {
        "Probe",
        "Stage",
        "hba_line",
        "is_encrypted",
        "needs_administrator",
        "probe",
        "setup_sql",
    },
    "sqlite.files.open_checks": {"is_database"},
    "sqlite.restore_source": {"plants_of_file"},
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        for module, names in _LAZY.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(name)
