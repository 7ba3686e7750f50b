"""A store that is only read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from typing_extensions import override

from plantdesk.domain.locations import ReadOnlyPlants
from plantdesk.store.sqlite.files.store_file import StoreFile
from plantdesk.store.sqlite.queries import Reader

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.domain.records import PlantRow
    from plantdesk.domain.selections import Selection
    from plantdesk.store.sqlite.connections import Progress


class ReadOnlyStore(ReadOnlyPlants):
    """Opens a store as `Store` does, but without a writer. One thread at a time may use it."""

    def __init__(self, path: Path, *, progress: Progress | None = None) -> None:
        """Open the store at `path`, make it when there is none, and bring its schema up to date. Raises StoreError."""
        self._file = StoreFile(path, progress=progress)
        try:
            self._file.refuse_outdated()
            self._reader = self.reader()
        except BaseException:
            self._file.close()
            raise

    @override
    def reader(self) -> Reader:
        return Reader(self._file)

    @override
    def pages(self, selection: Selection) -> Iterator[list[PlantRow]]:
        return self._reader.pages(selection)

    @override
    def close(self) -> None:
        self._reader.close()
        self._file.close()
