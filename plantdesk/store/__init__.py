"""The stores: where they are, and how files of plants are read. `sqlite` and `postgres` are reached through a location.

Knows neither asyncio nor Qt: writes answer with `concurrent.futures.Future`, listeners are plain callables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from plantdesk.store.locations import location_of

if TYPE_CHECKING:
    from plantdesk.store.sqlite.files.open_checks import is_database
    from plantdesk.store.sqlite.plant_files import plants_of_file

#: The modules of names that are imported at their first use: the window needs a location before its first paint.
_LAZY = {
    "is_database": "sqlite.files.open_checks",
    "plants_of_file": "sqlite.plant_files",
}

__all__ = ["is_database", "location_of", "plants_of_file"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(name)
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
