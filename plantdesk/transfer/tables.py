"""The interface of the readers of table formats, and the reader of another PlantDesk store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from plantdesk.transfer.columns import Layout

if TYPE_CHECKING:
    from plantdesk.domain.imports import SavedPlant
    from plantdesk.domain.strict_json import Unread


class Batch(NamedTuple):
    """Rows of a table and the line of each. A missing cell is None; no cell has half a surrogate pair.

    `errors` has, by their lines, the rows that could not be read. Cells beyond the header are no error in a sheet
    (`is_sheet`). `formulas` has, by line, the columns of cells with a formula but no value in the file, as scripts
    write them.
    """

    lines: Sequence[int]
    rows: Sequence[Sequence[str | None]]
    errors: Mapping[int, Unread] = {}
    is_sheet: bool = False
    formulas: Mapping[int, Sequence[int]] = {}


class Table(Protocol):
    """A table that is read once. `other_tables` is the number of others in its file, known after `batches`."""

    other_tables: int

    @property
    def layout(self) -> Layout | None:
        """The layout if the format defines the columns, so that no row is a header; else None."""

    def batches(self) -> Iterator[Batch]:
        """Yield all rows, at least one. Raises FileError and OSError."""


class StorePlants:
    """The plants of a store in insertion order; the line of a row is its number."""

    layout = Layout(("id", "name", "tag", "note"), has_header=False, fields={"id": 0, "name": 1, "tag": 2, "note": 3})
    other_tables = 0

    def __init__(self, pages: Iterator[list[SavedPlant]]) -> None:
        self._pages = pages

    def batches(self) -> Iterator[Batch]:
        """Yield all plants. Raises StoreError."""
        first = 1
        for page in self._pages:
            yield Batch(range(first, first + len(page)), [(str(plant_id), *rest) for plant_id, *rest in page])
            first += len(page)
        if first == 1:
            yield Batch((), ())
