"""Reads plants from CSV, TSV, JSON and JSON Lines, one after another, by the rules of form and API."""

from __future__ import annotations

import csv
import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from plantdesk import strict_json
from plantdesk.errors import PlantDeskError
from plantdesk.records import new_plant, parse_id, plant_fields, plant_note
from plantdesk.store import ImportRow
from plantdesk.transfer.columns import READ, NoColumnError, field_of, mapped
from plantdesk.transfer.formats import Format
from plantdesk.transfer.text import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plantdesk.transfer.text import TextFile

_DELIMITERS = (",", ";", "\t", "|")
#: Digits of a number that is surely in int64.
_SURE = 18
#: Characters of a note that is surely short enough.
_SHORT = 25_000


class Refused(NamedTuple):
    """A row that is not a plant; `values` are the texts of its fields."""

    file: int
    line: int
    reason: str
    values: dict[str, str]


class Reader:
    """Reads one file; `number` is its place among the files of an import, from 1."""

    def __init__(
        self, text: TextFile, number: int, wanted: Mapping[str, str], refused: Callable[[Refused], None]
    ) -> None:
        self._text, self._number, self._wanted, self._refused = text, number, wanted, refused
        #: The fields that the file has, after it was read.
        self.fields: set[str] = set()

    def rows(self, form: Format) -> Iterator[ImportRow]:
        """Yield the valid plants, and report others. Raises FileError, NoColumnError and OSError."""
        match form:
            case Format.JSON:
                return self._objects(strict_json.array_items(self._text.pieces(), LONGEST))
            case Format.JSON_LINES:
                return self._objects(self._json_lines())
            case _:
                return self._records("\t" if form is Format.TSV else None)

    # --- CSV ---

    def _records(self, delimiter: str | None) -> Iterator[ImportRow]:
        csv.field_size_limit(LONGEST)
        records = _Records(self._text, delimiter)
        header = records.next()
        if header is None:
            raise self._text.error("It has no header.")
        at = mapped(header, self._wanted)
        if "name" not in at:
            raise NoColumnError("for the name", header)
        self.fields = set(at)
        positions = [at.get(field) for field in READ]
        while (cells := records.next()) is not None:
            if not cells:
                continue
            line = records.first_line
            values = [None if each is None or each >= len(cells) else cells[each] for each in positions]
            if "" in values:
                values = records.with_missing(values, positions)
            try:
                if len(cells) > len(header):
                    _check_rest(cells, len(header))
                row = ImportRow(self._number, line, *_of_texts(*values))
            except PlantDeskError as error:
                texts = {field: value for field, value in zip(READ, values, strict=True) if value is not None}
                self._refused(Refused(self._number, line, str(error), texts))
            else:
                yield row

    # --- JSON ---

    def _json_lines(self) -> Iterator[tuple[int, object]]:
        for line in self._text.lines():
            if not line.isspace():
                yield self._text.line, strict_json.line_value(line)

    def _objects(self, items: Iterator[tuple[int, object]]) -> Iterator[ImportRow]:
        try:
            for line, item in items:
                try:
                    row = ImportRow(self._number, line, *self._of_object(item))
                except PlantDeskError as error:
                    values = item if isinstance(item, dict) else {}
                    texts = {field: value for field, value in self._renamed(values).items() if isinstance(value, str)}
                    self._refused(Refused(self._number, line, str(error), texts))
                else:
                    yield row
        except strict_json.FileSyntaxError as error:
            raise self._text.error(error.reason, error.line) from None

    def _of_object(self, item: object) -> tuple[int | None, str, str | None, str | None]:
        if isinstance(item, PlantDeskError):
            raise item
        if not isinstance(item, dict):
            raise strict_json.NotAnObjectError
        values = {field: value for field, value in self._renamed(item).items() if value is not None}
        self.fields.update(values)
        note = values.pop("note", "")
        if not isinstance(note, str):
            raise PlantDeskError("The note must be text.")
        if "id" in values:
            plant = new_plant(values)
            return plant.id, plant.name, plant.tag, plant_note(note)
        fields = plant_fields(values)
        return None, fields.name, fields.tag, plant_note(note)

    def _renamed(self, item: Mapping[str, object]) -> dict[str, object]:
        if not self._wanted and all(name not in item or name in READ for name in item):
            return {name: value for name, value in item.items() if name in READ}
        names = list(item)
        wanted = {field: column for field, column in self._wanted.items() if column in item}
        return {field: item[names[at]] for field, at in mapped(names, wanted).items()}


def _check_rest(cells: Sequence[str], width: int) -> None:
    if any(cells[width:]):
        raise PlantDeskError(f"The row has {len(cells):,} cells, the header {width:,}.")


def _of_texts(
    plant_id: str | None, name: str | None, tag: str | None, note: str | None
) -> tuple[int | None, str, str | None, str | None]:
    """Return a plant of decoded texts, which have no half surrogate pairs. The rules are those of `new_plant`."""
    number = None
    if plant_id:
        is_sure = len(plant_id) <= _SURE and plant_id.isascii() and plant_id.isdigit()
        number = int(plant_id) if is_sure else parse_id(plant_id)
    if name is None:
        plant_fields({})  # raises the message for a missing name
        raise AssertionError
    return number, name, tag, (note if note and len(note) < _SHORT else plant_note(note or ""))


class _Records:
    """The records of a CSV file; its delimiter and quote are detected from the header."""

    def __init__(self, text: TextFile, delimiter: str | None) -> None:
        self._text = text
        self._raw: list[str] = []
        self._size = 0
        self._has_doubled = False
        self._lines = text.lines()
        first = next((line for line in self._lines if not line.isspace()), "")
        if delimiter is None and first[:4].lower() == "sep=" and first[4:5]:  # Excel's
            delimiter, first = first[4], next(self._lines, "")
        quote = "'" if first.lstrip().startswith("'") else '"'
        delimiter = delimiter or _delimiter(first, quote)
        self._first = first
        self._reader = csv.reader(self._fed(), delimiter=delimiter, quotechar=quote, strict=True)
        self._doubled, self._quote = 2 * quote, quote
        cell = rf"{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}|[^{re.escape(delimiter)}]*"
        self._cell = re.compile(rf"({cell})(?:{re.escape(delimiter)}|\Z)")

    @property
    def first_line(self) -> int:
        """The line in which the record begins."""
        return self._text.line - len(self._raw) + 1

    def next(self) -> list[str] | None:
        """Return the cells of the next record, or None at the end. Raises FileError."""
        self._raw.clear()
        self._has_doubled = False
        try:
            return next(self._reader, None)
        except csv.Error as error:
            raise self._text.error(self._reason(error), self.first_line) from None

    def with_missing(self, values: list[str | None], positions: Sequence[int | None]) -> list[str | None]:
        """Return the values of this record with None for empty cells that are not quoted."""
        if not self._has_doubled:
            return [value or None for value in values]
        cells = self._cell.findall("".join(self._raw).rstrip("\r\n"))
        quoted = [cell.startswith(self._quote) for cell in cells]
        return [
            None if value == "" and (at is None or at >= len(quoted) or not quoted[at]) else value
            for value, at in zip(values, positions, strict=True)
        ]

    def _fed(self) -> Iterator[str]:
        raw, quote = self._raw, self._quote
        for line in itertools.chain([self._first] if self._first else [], self._lines):
            raw.append(line)
            if quote in line or "\0" in line or len(raw) > 1:
                self._check(line)
            yield line

    def _check(self, line: str) -> None:
        self._size = len(line) + (self._size if len(self._raw) > 1 else 0)
        self._has_doubled = self._has_doubled or self._doubled in line
        if "\0" in line and self._quote not in line and len(self._raw) == 1:
            raise self._text.error("It has a NUL character.")
        if self._size > LONGEST:
            raise self._text.error("A quote is opened and not closed.", self.first_line)

    @staticmethod
    def _reason(error: csv.Error) -> str:
        text = str(error)
        if "unexpected end" in text:
            return "A quote is opened and not closed."
        if "new-line" in text:
            return "A line ends with CR alone. Save the file with other line ends."
        return f"It is not CSV: {text}."


def _delimiter(header: str, quote: str) -> str:
    def score(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([header], delimiter=delimiter, quotechar=quote), [])
        return sum(field_of(cell) is not None for cell in cells), len(cells)

    return max(_DELIMITERS, key=score)
