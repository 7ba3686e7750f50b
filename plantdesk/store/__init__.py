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
    from plantdesk.store.sqlite.files.open_checks import is_database as is_database
    from plantdesk.store.sqlite.restore_source import plants_of_file as plants_of_file
    from plantdesk.store.unreached import UnreachedStore as UnreachedStore
else:
    #: The modules of names that are imported at their first use: the window needs a location before its first paint.
    _LAZY = {"is_database": "sqlite.files.open_checks", "plants_of_file": "sqlite.restore_source"}
    _LAZY |= {"UnreachedStore": "unreached"}

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
        raise AttributeError(name)
