"""Reads the plants of another PlantDesk store, which is only read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plantdesk.store import plants_of_file
from plantdesk.transfer.columns import Layout
from plantdesk.transfer.tables import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plantdesk.domain.import_batches import SavedPlant

_LAYOUT = Layout(("id", "name", "tag", "note"), has_header=False, fields={"id": 0, "name": 1, "tag": 2, "note": 3})


class StoreTable:
    """The plants of a store in insertion order; the line of a row is its number."""

    def __init__(self, pages: Iterator[list[SavedPlant]]) -> None:
        self._pages = pages

    @property
    def layout(self) -> Layout:
        """The columns of every store."""
        return _LAYOUT

    def batches(self) -> Iterator[Batch]:
        """Yield all plants. Raises StoreError."""
        first = 1
        for page in self._pages:
            yield Batch(range(first, first + len(page)), [(str(plant_id), *rest) for plant_id, *rest in page])
            first += len(page)
        if first == 1:
            yield Batch((), ())


@contextmanager
def opened_store(file: Path) -> Iterator[StoreTable]:
    """Check and read the file of a store. Raises BackupUnusableError and StoreError."""
    with plants_of_file(file) as pages:
        yield StoreTable(pages)
