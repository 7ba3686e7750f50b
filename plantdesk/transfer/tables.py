"""The interface of the readers of table formats, and the readers of JSON objects and of another PlantDesk store."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from plantdesk.domain.folding import is_unicode
from plantdesk.domain.records import PlantContent
from plantdesk.domain.strict_json import NumberText
from plantdesk.domain.texts import Text
from plantdesk.domain.validation import UnfitNumber
from plantdesk.transfer.columns import IMPORTED_FIELDS, Columns, Layout, find_layout
from plantdesk.transfer.json_items import Item

#: The number of rows after which a batch ends.
_MAX_BATCH_ROWS = 1000
#: The size of rows at which a batch ends.
_MAX_BATCH_SIZE = 1_000_000


class Row(NamedTuple):
    """A row of a table. It begins on `line`. A missing cell is None. `error` says why the row could not be read.

    `unfit` has the cells without a text by column: the value of a JSON member, or a Text with the reason.
    `source` is the row as in the file, if the cells differ. `item` is the number of an object in its
    array, or 0.
    """

    line: int
    cells: Sequence[str | None] = ()
    error: Text | None = None
    unfit: Mapping[int, object] = {}
    source: str = ""
    item: int = 0

    @property
    def fit_cells(self) -> Sequence[str | None]:
        """The cells, with None for unfit ones."""
        if not self.unfit:
            return self.cells
        return [None if column in self.unfit else cell for column, cell in enumerate(self.cells)]


class Batch(NamedTuple):
    """Rows of a table. `names` are the columns' names of formats that have them; then no row is a header."""

    rows: Sequence[Row]
    names: Sequence[str] | None = None

    def find_layout(self, columns: Columns) -> Layout:
        """Return the layout of the table if these are its first rows. Raises PlantDeskError."""
        return find_layout([row.fit_cells for row in self.rows], columns, self.names)

    def rows_below_header(self, layout: Layout) -> Sequence[Row]:
        """Return the rows of a first batch that follow title and header; all if the format names its columns."""
        return self.rows[layout.first_row :] if self.names is None else self.rows


def batched(rows: Iterable[tuple[Row, int]]) -> Iterator[Batch]:
    """Yield rows in batches, each of limited number and size; `rows` are pairs of a row and its size."""
    batch = list[Row]()
    total = 0
    for row, size in rows:
        batch.append(row)
        total += size
        if len(batch) == _MAX_BATCH_ROWS or total >= _MAX_BATCH_SIZE:
            yield Batch(batch)
            batch = []
            total = 0
    if batch:
        yield Batch(batch)


class Table(Protocol):
    """A table that is read once. `other_tables` is the number of other tables in its file, known after all batches."""

    other_tables: int

    @property
    def is_sheet(self) -> bool:
        """Whether it is a spreadsheet: columns have letters, and cells beyond the header are allowed."""

    def read_batches(self) -> Iterator[Batch]:
        """Yield all rows, and at least one batch. Raises FileError and OSError."""


class StorePlants:
    """The plants of a store in insertion order; the line of a row is its number."""

    is_sheet = False
    other_tables = 0

    def __init__(self, pages: Iterator[list[PlantContent]]) -> None:
        self._pages = pages

    def read_batches(self) -> Iterator[Batch]:
        """Yield a batch for each page of plants, then an empty one. Raises StoreError."""
        lines = itertools.count(1)
        for page in itertools.chain(self._pages, [[]]):
            yield Batch([Row(next(lines), (str(plant_id), *rest)) for plant_id, *rest in page], IMPORTED_FIELDS)


class ObjectTable:
    """A table of JSON objects; the columns of a batch are the members of its objects. An array's items are numbered."""

    is_sheet = False
    other_tables = 0

    def __init__(self, items: Iterator[Item], *, is_array: bool) -> None:
        self._items = items
        self._is_array = is_array

    def read_batches(self) -> Iterator[Batch]:
        """Yield all objects, and errors for other values; an empty batch at the end. Raises FileError and OSError."""
        numbers = itertools.count(1) if self._is_array else itertools.repeat(0)
        batch = None
        while batch is None or batch.rows:
            batch = self._read_batch(numbers)
            yield batch

    def _read_batch(self, numbers: Iterator[int]) -> Batch:
        """Return the next batch. Members that are new in later objects are missing in the rows before."""
        names = dict[str, None]()
        rows = list[Row]()
        size = 0
        for item in self._items:
            names |= dict.fromkeys(item.members)
            rows.append(_make_row(item, names, next(numbers)))
            size += len(item.text) + len(names)
            if len(rows) == _MAX_BATCH_ROWS or size >= _MAX_BATCH_SIZE:
                break
        return Batch(rows, [*names])


def _make_row(item: Item, names: Iterable[str], number: int) -> Row:
    values = [item.members.get(name) for name in names]
    unfit = {column: value for column, value in enumerate(values) if not _has_text_form(value)}
    cells = [_to_text(value) for value in values]
    return Row(item.line, cells, item.error, unfit, item.text, number)


def _has_text_form(value: object) -> bool:
    return value is None or type(value) is int or (type(value) is str and is_unicode(value))


def _to_text(value: object) -> str | None:
    """Return a JSON value as text, a number as in the file; None for null, a list or an object."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, UnfitNumber):
        return value.text
    return str(value) if isinstance(value, str | int | NumberText) else None
