"""The stores of plants. Other packages open a store by its location (`locations`), and never import its kind.

Uses neither asyncio nor Qt: writes return a `concurrent.futures.Future`, listeners are plain callables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.store.locations import DESK_FILE_SUFFIX as DESK_FILE_SUFFIX
from plantdesk.store.locations import PostgresLocation as PostgresLocation
from plantdesk.store.locations import location_of as location_of
from plantdesk.store.locations import remembered_location as remembered_location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plantdesk.domain.records import PlantContent


def is_database(path: Path) -> bool:
    """Return whether a file is a database of SQLite, perhaps damaged. Raises OSError."""
    from plantdesk.store.sqlite.files import open_checks

    return open_checks.is_database(path)


def plants_of_file(file: Path) -> AbstractContextManager[Iterator[list[PlantContent]]]:
    """Check a database file; yield pages of its plants, in insertion order. Raises BackupUnusableError, StoreError."""
    from plantdesk.store.sqlite import restore_source

    return restore_source.plants_of_file(file)
