"""Reads plants in batches from the rows of a table or from JSON objects, by the rules of form and API."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from plantdesk.domain import strict_json
from plantdesk.domain.errors import PlantDeskError, Text
from plantdesk.domain.folding import is_unicode
from plantdesk.domain.imports import ImportRow
from plantdesk.domain.records import parse_id
from plantdesk.domain.strict_json import Unread
from plantdesk.domain.validation import NO_NAME, UnfitNumber, check_name, is_blank, plant_note, plant_to_add
from plantdesk.transfer.columns import (
    READ,
    SAMPLED,
    Columns,
    Layout,
    NoColumnError,
    checked,
    is_there,
    layout_of,
    letters_of,
    mapped,
    may_be_repeated,
)
from plantdesk.transfer.name_parts import name_from, parts_of, with_names

if TYPE_CHECKING:
    from plantdesk.transfer.tables import Batch

    Fields = tuple[int | None, str, str | None, str | None]

#: The most names that are collected of columns that are not read.
_MAX_IGNORED = 100
#: The usual types of values; an integer is in int64.
_KINDS = {"id": int, "name": str, "tag": str, "note": str}
#: 1.000 is a thousand in German.
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0{1,2}")
#: A number with leading zeros.
_ZEROS = re.compile(r"\s*[+-]?0+[0-9]")
_NO_VALUE = Text(
    "Cell {cell} has a formula and no value. Open the file in a spreadsheet program and save it; then import it again."
)
_NO_GENUS = Text("The genus is missing. Write it in each row; then import the file again.")
#: Objects of a batch, and characters, after which it ends.
_MAX_ROWS, _MAX_BATCH = 1000, 1_000_000


class Refused(NamedTuple):
    """A row that is not a plant; `values` are the texts of its fields, `text` is the row if it has more.

    That is CSV, but what cannot be read, and a JSON object, are as they are in the file.
    """

    file: int
    line: int
    reason: Text
    values: dict[str, str]
    text: str = ""


class RowReader:
    """Reads one file; `number` is its number among the files of an import, from 1.

    `refused` gets the rows that are no plants.
    """

    def __init__(self, number: int, columns: Columns, refused: Callable[[Refused], None]) -> None:
        self._number, self._columns, self._refused = number, columns, refused
        #: The name of each field's column or member, and of some others, after the file was read.
        self.columns: dict[str, str] = {}
        self.ignored: dict[str, None] = {}
        #: The columns that the name is put together from, if it is.
        self.name_columns: tuple[str, ...] = ()
        #: Rows without any text, which are left out.
        self.blank = 0
        #: IDs with leading zeros, which are read as numbers.
        self.leading_zeros = 0
        #: The layout of the table, or of the first JSON objects.
        self.layout = Layout((), has_header=True, fields={})
        #: The fields that some plant has.
        self.fields: set[str] = set()

    # --- tables ---

    def rows(self, batches: Iterable[Batch], layout: Layout | None) -> Iterator[list[ImportRow]]:
        """Yield the valid plants of a table, and report others; a `layout` of None is that of its first rows.

        Raises FileError, NoColumnError and OSError.
        """
        batches = iter(batches)
        first = next(batches)
        self.layout = layout = layout_of(first.rows, self._columns, layout)
        if "name" not in layout.fields:
            raise NoColumnError(layout.names)
        self.fields = set(layout.fields)
        unnamed = _unnamed_columns(layout, first)
        names = [unnamed.get(at, name) for at, name in enumerate(layout.names)]
        self._note_columns(names, layout.fields, layout.name_parts)
        self._positions = [layout.fields.get(field) for field in READ]
        header = _repeated_header(layout)
        above = layout.titles + layout.has_header
        first = first._replace(lines=first.lines[above:], rows=first.rows[above:])
        without_headers = (_without(header, each) for each in itertools.chain([first], batches))
        for batch in map(self._with_names, without_headers):
            self._note_beyond(batch)
            yield [*self._each(batch)]

    def _with_names(self, batch: Batch) -> Batch:
        """Return a batch with the name in one column: put together, if there are several."""
        names, parts, into = self.layout.names, self.layout.name_parts, self.layout.fields["name"]
        return batch._replace(rows=with_names(batch.rows, names, parts, into)) if parts else batch

    def _note_beyond(self, batch: Batch) -> None:
        """Add the columns of a sheet that have cells and no header to those that are not read."""
        width = len(self.layout.names)
        for row in batch.rows if batch.is_sheet and len(self.ignored) < _MAX_IGNORED else ():
            self.ignored |= {
                f"column {letters_of(at)}": None
                for at, cell in enumerate(row[width : width + _MAX_IGNORED], width)
                if cell
            }

    def _each(self, batch: Batch) -> Iterator[ImportRow]:
        """Yield the plants of a batch, row by row."""
        width, read = len(self.layout.names), {*self._positions, *self.layout.name_parts}
        for line, row in zip(batch.lines, batch.rows, strict=True):
            cells = row[:width] if batch.is_sheet else row
            formulas = [f"{letters_of(at)}{line}" for at in batch.formulas.get(line, ()) if at in read]
            if unread := batch.errors.get(line):
                self._refused(Refused(self._number, line, unread.reason, {}, unread.text))
            elif not formulas and not "".join(filter(None, cells)).strip():
                self.blank += 1
            elif plant := self._plant_of_row(line, cells, formulas):
                yield plant

    def _plant_of_row(self, line: int, cells: Sequence[str | None], formulas: Sequence[str]) -> ImportRow | None:
        """Return the plant in a row, or report why it is none; `formulas` are its cells without a value."""
        values = [None if at is None or at >= len(cells) else cells[at] for at in self._positions]
        try:
            _check_cells(cells, len(self.layout.names), formulas)
            self._check_genus(values[READ.index("name")], cells)
            plant = ImportRow(self._number, line, *_of_texts(*values))
        except PlantDeskError as error:
            texts = {field: value for field, value in zip(READ, values, strict=True) if value is not None}
            has_more = any(cell for at, cell in enumerate(cells) if at not in self._positions)
            text = _csv(cells) if has_more else ""
            self._refused(Refused(self._number, line, error.text, texts, text))
            return None
        self.leading_zeros += _has_zeros(values[READ.index("id")])
        return plant

    def _check_genus(self, name: str | None, cells: Sequence[str | None]) -> None:
        """Raise PlantDeskError if there are parts of a name, but no name can be put together from them."""
        if name is None and any(cells[at] for at in self.layout.name_parts if at < len(cells)):
            raise PlantDeskError(_NO_GENUS)

    # --- JSON ---

    def objects(self, found: Iterator[strict_json.Item], *, numbered: bool) -> Iterator[list[ImportRow]]:
        """Yield the valid plants of JSON objects, and report others, by their numbers if `numbered`.

        The members of the objects of a batch are its columns. Raises FileError, NoColumnError and OSError.
        """
        numbers = itertools.count(1) if numbered else itertools.repeat(0)
        while batch := _next_objects(found):
            layout = layout_of_objects([item for _, item in batch if isinstance(item, dict)], self._columns)
            self.layout = self.layout if self.layout.names else layout
            if self.layout.codes:
                layout = layout._replace(fields={field: at for field, at in layout.fields.items() if field != "id"})
            self._note_columns(layout.names, layout.fields, layout.name_parts)
            plants = [self._plant_of(line, item, next(numbers), layout) for line, item in batch]
            yield [*filter(None, plants)]

    def _plant_of(self, line: int, item: strict_json.Members | Unread, number: int, layout: Layout) -> ImportRow | None:
        """Return the plant in an object, or report why it is none, by its number if that is not 0."""
        texts: dict[str, str] = {}
        if not isinstance(item, Unread):
            values = {field: item.get(layout.names[at]) for field, at in layout.fields.items()}
            try:
                plant = ImportRow(self._number, line, *self._of_object(_with_name(values, item, layout)))
            except PlantDeskError as error:
                texts = {field: text_of(value) for field, value in values.items() if _is_text(value)}
                item = Unread(error.text, item.text)
            else:
                self.leading_zeros += _has_zeros(values.get("id"))
                return plant
        reason = Text("Item {number:,}: {reason}", number=number, reason=item.reason) if number else item.reason
        self._refused(Refused(self._number, line, reason, texts, item.text))
        return None

    def _of_object(self, found: Mapping[str, object]) -> Fields:
        """Return the plant in the fields of an object; one of the usual types is checked as a row of texts."""
        values = {name: _value_of(name, value) for name, value in found.items() if value is not None}
        self.fields.update(values)
        texts = [cast("str | None", values.get(field)) for field in READ[1:]]
        has_usual_types = all(type(value) is _KINDS[field] for field, value in values.items())
        if has_usual_types and is_unicode("".join(filter(None, texts))):
            return cast("int | None", values.get("id")), *_of_texts(None, *texts)[1:]
        note = values.pop("note", "")
        if not isinstance(note, str):
            raise PlantDeskError(Text("The note must be text, or a number."))
        if isinstance(values.get("id"), str):  # as every id in CSV
            values["id"] = _id_of(str(values["id"]))
        if "name" not in values:
            raise PlantDeskError(NO_NAME)
        plant_id = values.pop("id", None)
        plant = plant_to_add(values, plant_id)
        check_name(plant.name)
        return getattr(plant, "id", None), plant.name, plant.tag, plant_note(note)

    def _note_columns(self, names: Sequence[str], positions: Mapping[str, int], parts: Sequence[int]) -> None:
        self.columns |= {field: names[at] for field, at in positions.items() if at < len(names)}
        if len(parts) > 1:
            self.name_columns = tuple(names[at] for at in parts)
            self.columns["name"] = "+".join(self.name_columns)
        if len(self.ignored) < _MAX_IGNORED:
            taken = {*positions.values(), *parts}
            self.ignored |= {name: None for at, name in enumerate(names[:_MAX_IGNORED]) if name and at not in taken}


def layout_of_objects(objects: Sequence[Mapping[str, object]], columns: Columns) -> Layout:
    """Return the members of objects as columns. Raises NoColumnError."""
    names = [*dict.fromkeys(name for item in objects for name in item)]
    chosen = {field: column for field, column in columns.chosen.items() if is_there(column, names)}
    layout = Layout(names, has_header=True, fields=mapped(names, chosen, only=columns.only))
    rows = [[_cell_of(item.get(name)) for name in names] for item in objects[:SAMPLED]]
    return checked(layout, rows, columns._replace(chosen=chosen))


def _cell_of(value: object) -> str | None:
    return str(value) if type(value) in {str, int} else None


def _with_name(values: dict[str, object], item: Mapping[str, object], layout: Layout) -> dict[str, object]:
    """Return the fields of an object, the name put together if its parts are in several members."""
    names = [layout.names[at] for at in layout.name_parts]
    cells = [_cell_of(item.get(name)) for name in names]
    if not any(cells):
        return values
    name = name_from(cells, parts_of(names))
    if name is None:
        raise PlantDeskError(_NO_GENUS)
    return {**values, "name": name}


def _repeated_header(layout: Layout) -> list[str] | None:
    """Return the header if a later row equal to it repeats the header, as in files that were put together."""
    return [*layout.names] if layout.has_header and may_be_repeated(layout.names) else None


def _without(header: list[str] | None, batch: Batch) -> Batch:
    """Return a batch in which the rows that repeat the header are blank."""
    return batch._replace(rows=[() if [*row] == header else row for row in batch.rows]) if header else batch


def _unnamed_columns(layout: Layout, first: Batch) -> dict[int, str]:
    """Return names for the columns without one, by their positions, that have cells in the first rows."""
    rows = first.rows[layout.titles + 1 : SAMPLED] if layout.has_header else ()
    return {
        at: f"column {letters_of(at) if first.is_sheet else at + 1}"
        for at, name in enumerate(layout.names[:_MAX_IGNORED])
        if not name and any(row[at : at + 1] and row[at] for row in rows)
    }


def _value_of(field: str, value: object) -> object:
    """Return a value of a JSON object: a number as text, as it is written, unless it is the id."""
    if field == "id":
        return strict_json.whole_number(value) if isinstance(value, strict_json.NumberText) else value
    is_number = isinstance(value, int | strict_json.NumberText | UnfitNumber) and not isinstance(value, bool)
    return text_of(value) if is_number else value


def _next_objects(found: Iterator[strict_json.Item]) -> list[strict_json.Item]:
    """Return the objects of a batch."""
    batch, size = [], 0
    for line, item in found:
        batch.append((line, item))
        size += len(item.text)
        if len(batch) == _MAX_ROWS or size >= _MAX_BATCH:
            break
    return batch


def _is_text(value: object) -> bool:
    return isinstance(value, str | int | UnfitNumber)


def text_of(value: object) -> str:
    """Return a value of a JSON object as text."""
    return value.text if isinstance(value, UnfitNumber) else str(value)


def _check_cells(cells: Sequence[str | None], width: int, formulas: Sequence[str]) -> None:
    """Raise PlantDeskError for a row that is too long, or has formulas without a value in these cells."""
    if formulas:
        raise PlantDeskError(_NO_VALUE, cell=formulas[0])
    if any(cells[width:]):
        raise PlantDeskError(Text("The row has {cells:,} cells, the header {width:,}."), cells=len(cells), width=width)


def _csv(cells: Sequence[str | None]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)  # quotes a line break, as its own lines end with one
    return line.getvalue().removesuffix("\r\n")


def _has_zeros(plant_id: object) -> bool:
    return isinstance(plant_id, str) and _ZEROS.match(plant_id) is not None


def _id_of(text: str) -> int | None:
    """Return the number of an id, None for an empty text; `7.0` is what pandas writes. Raises InvalidPlantError."""
    whole = _WHOLE.fullmatch(text)
    return parse_id(whole[1] if whole else text) if text else None


def _of_texts(plant_id: str | None, name: str | None, tag: str | None, note: str | None) -> Fields:
    """Return a plant of decoded texts, which have no half surrogate pairs. The rules are those of `new_plant`."""
    number = None if plant_id is None else _id_of(plant_id)
    if name is None or is_blank(name):
        raise PlantDeskError(NO_NAME)
    return number, name, tag, plant_note(note or "")
