"""Makes plants of the rows of a table, by the rules of the form and the API, and records how they were read."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from plantdesk.domain import strict_json
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.imports import ImportRow
from plantdesk.domain.records import parse_id
from plantdesk.domain.texts import Text
from plantdesk.domain.validation import NO_NAME, UnfitNumber, check_name, is_blank, plant_note, plant_to_add
from plantdesk.transfer.columns import (
    IMPORTED_FIELDS,
    SAMPLE_ROWS,
    Columns,
    Layout,
    NoColumnError,
    column_letters,
    may_repeat_as_header,
)
from plantdesk.transfer.inputs import OpenInput
from plantdesk.transfer.tables import Batch, Row

Fields = tuple[int | None, str, str | None, str | None]

_NAME_INDEX = IMPORTED_FIELDS.index("name")
#: The most names of columns that are collected as not read.
_MAX_IGNORED_COLUMNS = 100
#: A whole number with one or two zeros as decimals: 1.000 is a thousand in German.
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)\.0{1,2}")
#: A number with leading zeros.
_LEADING_ZEROS = re.compile(r"\s*[+-]?0+[0-9]")
_NO_GENUS = Text("The genus is missing. Write it in each row; then import the file again.")


class Refused(NamedTuple):
    """A row that is not a plant. `values` are the texts of its fields.

    `text` is the whole row if it has more than these: a JSON object or an unreadable row as in the file, others as CSV.
    """

    file: int
    line: int
    reason: Text
    values: dict[str, str]
    text: str = ""


class RowReader:
    """Reads the plants of one file of an import; `number` counts the files from 1.

    `on_refused` is called with rows that are no plants. After `read_plants`, the attributes say how the file was read.
    """

    def __init__(self, file: OpenInput, number: int, columns: Columns, on_refused: Callable[[Refused], None]) -> None:
        self.file = file
        self._number = number
        self._columns = columns
        self._on_refused = on_refused
        #: The header or member of each field, such as `Genus+Species` for a joined name.
        self.columns: dict[str, str] = {}
        #: Headers of columns that are not read, up to a limit, in their order.
        self.ignored: dict[str, None] = {}
        #: The headers of the columns of a joined name.
        self.name_columns: tuple[str, ...] = ()
        #: The number of rows without any text; they are left out.
        self.blank = 0
        #: The number of IDs that lost leading zeros.
        self.leading_zeros = 0
        #: The layout of the table, or of the first JSON objects.
        self.layout = Layout((), has_header=True, fields={})
        #: The fields that at least one plant has.
        self.fields: set[str] = set()

    def read_plants(self) -> Iterator[list[ImportRow]]:
        """Yield the valid plants in lists, and report other rows. Raises FileError, NoColumnError and OSError."""
        layout = None
        for batch in self.file.table.read_batches():
            rows = batch.rows
            if layout is None or batch.names is not None:
                layout = self._find_layout(batch)
                rows = batch.rows_below_header(layout)
            yield [*self._parse_rows(rows, layout)]

    def _find_layout(self, batch: Batch) -> Layout:
        """Return and record the layout of a table by its first rows, or of a batch of objects."""
        layout = batch.find_layout(self._columns)
        if "name" not in layout.fields and not self.file.has_objects:
            raise NoColumnError(layout.names)
        if self.layout.codes:
            layout = layout.without_id()
        self.layout = self.layout if self.layout.names else layout
        self._record_columns(layout, self._name_columns(batch.rows_below_header(layout), layout))
        self.fields |= {
            field
            for field, position in layout.fields.items()
            if field == "name"
            or not self.file.has_objects
            or any(cell is not None for cell in _read_column(batch.rows, position))
        }
        return layout

    def _name_columns(self, rows: Sequence[Row], layout: Layout) -> list[str]:
        """Return the headers, with names for columns without a header that have cells in the first rows."""
        names = [*layout.names]
        for column, name in enumerate(names[:_MAX_IGNORED_COLUMNS]):
            if not name and any(_read_column(rows[:SAMPLE_ROWS], column)):
                names[column] = f"column {column_letters(column) if self.file.table.is_sheet else column + 1}"
        return names

    def _record_columns(self, layout: Layout, names: Sequence[str]) -> None:
        """Add to `columns`, `name_columns` and `ignored` which columns are read, and which are not."""
        # Another file may have more columns.
        known = {field: index for field, index in layout.fields.items() if index < len(names)}
        self.columns |= {field: names[known[field]] for field in IMPORTED_FIELDS if field in known}
        if layout.name_parts:
            self.name_columns = tuple(names[index] for index in layout.name_parts if index < len(names))
            self.columns["name"] = "+".join(self.name_columns)
        if len(self.ignored) < _MAX_IGNORED_COLUMNS:
            taken = {*layout.fields.values(), *layout.name_parts}
            self.ignored |= {
                name: None for index, name in enumerate(names[:_MAX_IGNORED_COLUMNS]) if name and index not in taken
            }

    def _parse_rows(self, rows: Sequence[Row], layout: Layout) -> Iterator[ImportRow]:
        """Yield the plants in rows; count blank rows, and report invalid ones."""
        header = self._find_repeated_header(layout)
        read_columns = {*layout.fields.values(), *layout.name_parts}
        positions = [layout.fields.get(field) for field in IMPORTED_FIELDS]
        is_sheet = self.file.table.is_sheet
        names = layout.read_row_names(row.fit_cells if layout.name_parts else row.cells for row in rows)
        for row, name in zip(rows, names, strict=True):
            cells = row.cells
            if is_sheet and len(cells) > len(layout.names):
                cells = self._cut_to_header(cells, len(layout.names))
            values = [None if column is None or column >= len(cells) else cells[column] for column in positions]
            values[_NAME_INDEX] = name
            if row.error is not None:
                self._refuse(row, row.error, {}, row.source)
            elif cells == header or not (row.source or _has_text(cells) or not read_columns.isdisjoint(row.unfit)):
                self.blank += 1
            elif plant := self._parse_plant(row, cells, values, layout):
                yield plant

    def _find_repeated_header(self, layout: Layout) -> list[str] | None:
        """Return the header if later rows equal to it are no plants, as in joined files; otherwise None."""
        is_repeated = layout.has_header and not self.file.has_objects and may_repeat_as_header(layout.names)
        return [*layout.names] if is_repeated else None

    def _cut_to_header(self, cells: Sequence[str | None], width: int) -> Sequence[str | None]:
        """Return the cells of a spreadsheet row that have a header, and note the other columns as not read."""
        if len(self.ignored) < _MAX_IGNORED_COLUMNS:
            beyond = enumerate(cells[width : width + _MAX_IGNORED_COLUMNS], width)
            self.ignored |= {f"column {column_letters(position)}": None for position, cell in beyond if cell}
        return cells[:width]

    def _parse_plant(
        self, row: Row, cells: Sequence[str | None], values: Sequence[str | None], layout: Layout
    ) -> ImportRow | None:
        """Return the plant in a row with these values of the fields; None, and a report, if it is no plant."""
        try:
            _check_cells(cells, values[_NAME_INDEX], layout)
            fields = _parse_values(row.unfit, values, layout) if row.unfit else _parse_texts(*values)
        except PlantDeskError as error:
            texts = {field: value for field, value in zip(IMPORTED_FIELDS, values, strict=True) if value is not None}
            has_more = any(cell for position, cell in enumerate(cells) if position not in layout.fields.values())
            self._refuse(row, error.text, texts, row.source or (_format_csv_line(cells) if has_more else ""))
            return None
        plant_id = values[0]
        if plant_id is not None and _LEADING_ZEROS.match(plant_id):
            self.leading_zeros += 1
        return ImportRow(self._number, row.line, *fields)

    def _refuse(self, row: Row, reason: Text, texts: dict[str, str], source: str) -> None:
        if row.item:
            reason = Text("Item {number:,}: {reason}", number=row.item, reason=reason)
        self._on_refused(Refused(self._number, row.line, reason, texts, source))


def _read_column(rows: Sequence[Row], position: int) -> Iterator[str | None]:
    """Yield the cells of a column, without rows that are too short to have it."""
    return (row.cells[position] for row in rows if position < len(row.cells))


def _check_cells(cells: Sequence[str | None], name: str | None, layout: Layout) -> None:
    """Raise PlantDeskError for a row that is longer than the header, or has parts of a name but no genus."""
    if any(cells[len(layout.names) :]):
        text = Text("The row has {cells:,} cells, the header {width:,}.")
        raise PlantDeskError(text, cells=len(cells), width=len(layout.names))
    if name is None and any(cells[position] for position in layout.name_parts if position < len(cells)):
        raise PlantDeskError(_NO_GENUS)


def _has_text(cells: Sequence[str | None]) -> bool:
    return bool("".join(filter(None, cells)).strip())


def _format_csv_line(cells: Sequence[str | None]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)  # quotes a line break, as its own lines end with one
    return line.getvalue().removesuffix("\r\n")


def _parse_cell_id(text: str) -> int | None:
    """Return the id in a cell, None for an empty one; pandas writes `7.0`. Raises InvalidPlantError."""
    whole = _WHOLE_NUMBER.fullmatch(text)
    return parse_id(whole[1] if whole else text) if text else None


def _parse_texts(plant_id: str | None, name: str | None, tag: str | None, note: str | None) -> Fields:
    """Return the fields of a plant, checked as by `new_plant` except for surrogates, which decoding excludes."""
    number = None if plant_id is None else _parse_cell_id(plant_id)
    if name is None or is_blank(name):
        raise PlantDeskError(NO_NAME)
    return number, name, tag, plant_note(note or "")


def _parse_values(unfit: Mapping[int, object], texts: Sequence[str | None], layout: Layout) -> Fields:
    """Return the fields of a plant by its texts and its `unfit` cells (see `Row`). Raises PlantDeskError."""
    read_columns = itertools.chain(layout.fields.values(), layout.name_parts)
    reasons = (reason for position in read_columns if isinstance(reason := unfit.get(position), Text))
    if reason := next(reasons, None):
        raise PlantDeskError(reason)
    values: dict[str, object] = {
        field: text for field, text in zip(IMPORTED_FIELDS, texts, strict=True) if text is not None
    }
    for field, position in layout.fields.items():
        value = None if field == "name" and layout.name_parts else unfit.get(position)
        if field == "id" and isinstance(value, strict_json.NumberText):
            values["id"] = strict_json.parse_number(value)
        elif value is not None and (field == "id" or not isinstance(value, strict_json.NumberText | UnfitNumber)):
            values[field] = value
    note = values.pop("note", "")
    plant_id = values.pop("id", None)
    if not isinstance(note, str):
        raise PlantDeskError(Text("The note must be text, or a number."))
    if isinstance(plant_id, str):  # such as every id in CSV
        plant_id = _parse_cell_id(plant_id)
    if "name" not in values:
        raise PlantDeskError(NO_NAME)
    plant = plant_to_add(values, plant_id)
    check_name(plant.name)
    return getattr(plant, "id", None), plant.name, plant.tag, plant_note(note)
