"""Reads the beginning of a file, for a preview of how it will be read."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import PlantDeskError
from plantdesk.transfer.columns import SAMPLED, Columns, Layout, layout_of, mapped
from plantdesk.transfer.delimited import DelimitedTable, Dialect
from plantdesk.transfer.formats import Format
from plantdesk.transfer.inputs import Reading, opened
from plantdesk.transfer.reading import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.transfer.inputs import Input
    from plantdesk.transfer.sources import Source
    from plantdesk.transfer.tables import Table

#: Characters of a cell.
_LONGEST = 200


class Sample(NamedTuple):
    """How a file is read, and its first rows. `dialect` is None, and so is `encoding`, where the format has none."""

    form: Format
    size: int
    encoding: str | None
    #: The first cell whose letters depend on the encoding, where that is a guess.
    doubtful_cell: str | None
    dialect: Dialect | None
    layout: Layout
    rows: list[list[str | None]]
    #: Whether the first row may be taken for a header or for a plant.
    has_choice_of_header: bool

    def columns(self, fields: dict[str, int], *, by_name: bool) -> Columns:
        """Return the columns of an import with these positions of fields; `by_name` where several files are read."""
        is_unique = len(set(self.layout.names)) == len(self.layout.names)
        by_name = (by_name and self.layout.has_header and is_unique) or self.form in {Format.JSON, Format.JSON_LINES}
        chosen = {field: self.layout.names[at] if by_name else at for field, at in fields.items()}
        return Columns(chosen, only=True, has_header=self.layout.has_header)


def read_sample(source: Source, reading: Reading) -> Sample:
    """Read the first rows of a file. Raises FileError, UnknownFormatError and OSError."""
    with opened(source, reading) as file:
        layout, rows = _of_objects(file) if file.table is None else _of_table(file.table, reading.columns)
        dialect = file.table.dialect if isinstance(file.table, DelimitedTable) else None
        shown = [[None if cell is None else cell[:_LONGEST] for cell in row] for row in rows]
        has_choice = file.table is not None and file.table.layout is None
        encoding = None if file.text is None else file.text.encoding
        doubtful = None if file.text is None else file.text.doubtful_cell
        return Sample(file.form, source.size, encoding, doubtful, dialect, layout, shown, has_choice)


def _of_table(table: Table, columns: Columns) -> tuple[Layout, Sequence[Sequence[str | None]]]:
    batch = next(table.batches())
    rows: Sequence[Sequence[str | None]] = batch.rows[: SAMPLED + 1]
    if batch.empty_is_none:
        rows = [[cell or None for cell in row] for row in rows]
    layout = layout_of(rows, columns, table.layout)
    return layout, rows[1:] if layout.has_header else rows


def _of_objects(file: Input) -> tuple[Layout, list[list[str | None]]]:
    objects = [item for _, item in itertools.islice(file.objects, SAMPLED) if isinstance(item, dict)]
    names = list(dict.fromkeys(name for item in objects for name in item))
    if not names:
        raise PlantDeskError("The file has no objects with members.")
    rows = [[_text(item.get(name)) for name in names] for item in objects]
    return Layout(names, has_header=True, fields=mapped(names, {})), rows


def _text(value: object) -> str | None:
    return None if value is None else text_of(value)
