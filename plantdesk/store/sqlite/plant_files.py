"""Reads the plants of another store or of a backup, which may come from anywhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from plantdesk.domain.errors import BackupUnusableError, Text
from plantdesk.domain.import_batches import SavedPlant
from plantdesk.store.sqlite.backups.restore_source import load
from plantdesk.store.sqlite.connections import translate_errors

if TYPE_CHECKING:
    from pathlib import Path

_PAGE = 5000


@contextmanager
def plants_of_file(file: Path) -> Iterator[Iterator[list[SavedPlant]]]:
    """Check a file of plants, which is only read, and yield its plants in insertion order, some at a time.

    Raises BackupUnusableError, also for a damaged file, and StoreError.
    """
    with closing(sqlite3.connect("", isolation_level=None, uri=True)) as connection:  # a temporary file
        if load(connection, file).is_damaged:
            message = Text("“{file}” is damaged. `plantdesk restore` brings back what can be read.")
            raise BackupUnusableError(message, file=file.name)
        cursor = connection.execute("SELECT id, name, tag, note FROM temp.restored ORDER BY seq")

        def pages() -> Iterator[list[SavedPlant]]:
            with translate_errors():
                while page := cursor.fetchmany(_PAGE):
                    yield [*map(SavedPlant._make, page)]

        yield pages()
