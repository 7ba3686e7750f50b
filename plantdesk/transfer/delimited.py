"""Reads the rows of CSV and TSV files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, dropwhile, islice
from typing import NamedTuple

from plantdesk.domain.texts import Text
from plantdesk.transfer.columns import SAMPLE_ROWS, count_title_rows, field_of_header
from plantdesk.transfer.tables import Batch, Row, batched
from plantdesk.transfer.text import MAX_PLANT_CHARACTERS, TextFile

#: A first line that tells Excel the delimiter.
_SEPARATOR = re.compile("sep=(.)", re.IGNORECASE)
#: The first line of an export of Anki.
_ANKI = re.compile("#(?:separator|html|tags|columns|notetype|deck|guid)[^:]*:", re.IGNORECASE)
_DELIMITERS = (",", ";", "\t", "|")
#: The delimiter of files with one column: an ASCII separator that no text has.
ONE_COLUMN = "\x1f"
#: Headers of files in which quotes are text: Darwin Core by GBIF, the Catalogue of Life, Kew's WCVP.
_DARWIN_CORE = frozenset(("gbifID", "occurrenceID", "taxonID", "dwc:taxonID", "taxonid", "plant_name_id"))
#: The most characters of a record of several lines: four times the plant that the API accepts.
_LONGEST_RECORD = 4_194_304
#: The most lines that are kept separate: a short string takes 80 bytes.
_MAX_LINES = 10_000
_UNCLOSED = Text("In column {column} a quote is opened and not closed.")


class Dialect(NamedTuple):
    """The format of a delimited file. `quote` is empty if none is used. `skips_blanks`: blanks may precede quotes."""

    delimiter: str
    quote: str
    skips_blanks: bool = False


class DelimitedTable:
    """The records of a file, of one line or of several in quotes; others get an error.

    `dialect` is as given or, where it was None, detected.
    """

    is_sheet = False
    other_tables = 0

    def __init__(
        self, text: TextFile, delimiter: str | None = None, quote: str | None = None, *, is_list: bool = False
    ) -> None:
        """Read the first lines; with `is_list`, they may be names without columns. Raises FileError and OSError."""
        csv.field_size_limit(MAX_PLANT_CHARACTERS)
        self._lines = _without_blanks(text.lines())
        lines = self._first_lines()
        if delimiter is None and (named := _SEPARATOR.match("".join(lines[:1]))):
            delimiter = named[1]
            self._lines = _without_blanks(islice(self._lines, 1, None))
            lines = self._first_lines()
        if not lines:
            raise text.error(Text("It has no header."))
        if _ANKI.match(lines[0]):
            raise text.error(Text("It is an export of Anki. Export it without HTML, and delete the lines with #."), 1)
        if any({"|", "-"} <= set(line) <= set(" |:-") for line in lines):
            raise text.error(Text("It is a table in Markdown. Copy the table as it is shown, or save it as CSV."), 1)
        sample = _below_title(lines)
        self.dialect = _detect_dialect(sample, delimiter, quote)
        if is_list and delimiter is None and _is_list(sample, self.dialect):
            self.dialect = Dialect(ONE_COLUMN, "")
        self._quote = self.dialect.quote
        #: Whether all cells are in quotes: then "" is a missing text, otherwise an empty one, as PlantDesk exports it.
        self._all_quoted = bool(self._quote) and sample[0].startswith(self._quote)
        self._text = text
        self._line = 0
        self._has_header = False
        #: The lines of the current record so far, and the number of their characters.
        self._raw: list[str] = []
        self._size = 0
        self._reader = _reader(self._feed_reader(), self.dialect)
        self._cell = _cell_pattern(self.dialect)

    def _first_lines(self) -> list[str]:
        """Return the first lines without their ends, and keep them to be read."""
        first = [*islice(self._lines, SAMPLE_ROWS)]
        self._lines = chain(first, self._lines)
        return [line.rstrip("\r\n") for _, line in first]

    def batches(self) -> Iterator[Batch]:
        """Yield all records. Raises FileError and OSError."""
        return batched((row, self._size) for row in iter(self._next, None))

    def _next(self) -> Row | None:
        """Return the next record, None at the end."""
        self._raw.clear()
        self._size = 0
        try:
            cells = next(self._reader, None)
        except csv.Error as error:
            return self._loose_row(error)
        if cells is None:
            return None
        self._has_header = True
        return Row(self._line, cells if all(cells) else self._empty_as_none(cells))

    def _empty_as_none(self, row: list[str]) -> list[str | None]:
        """Return the cells with None for the empty ones that are not in quotes."""
        raw = "".join(self._raw)
        if self._all_quoted or not self._quote or 2 * self._quote not in raw:
            return [cell or None for cell in row]
        cells, _ = self._cells(raw.rstrip("\r\n"))
        return [text if text or cell is not None else None for text, cell in zip(row, cells, strict=False)]

    def _loose_row(self, error: csv.Error) -> Row:
        """Return a record that is not strict CSV."""
        record = "".join(self._raw).rstrip("\r\n")
        cells, column = self._cells(record)
        if not column:
            self._has_header = True
            return Row(self._line, cells)
        if not self._has_header or "unexpected end" in str(error):
            raise self._text.error(_reason(error, column), self._line) from None
        return Row(self._line, error=_reason(error, column), source=record)

    def _cells(self, record: str) -> tuple[list[str | None], int]:
        """Return the cells of a record, None for those without text and quotes, and the number of a faulty one or 0."""
        cells: list[str | None] = []
        at = 0
        end = "begin"
        while end:
            match = self._cell.match(record, at)
            if match is None:
                return cells, len(cells) + 1
            quoted, plain, end = match.groups()
            cells.append(plain or None if quoted is None else quoted.replace(2 * self._quote, self._quote))
            at = match.end()
        return cells, 0

    def _feed_reader(self) -> Iterator[str]:
        """Yield the lines for the CSV reader, and keep the lines of the current record."""
        for number, line in self._lines:
            if not self._raw:
                self._line = number
                if "\0" in line and not (self._quote and self._quote in line):
                    raise self._text.error(Text("It has a NUL character."), number)
            self._raw.append(line)
            self._size += len(line)
            if len(self._raw) > 1:
                self._check_length()
            yield line

    def _check_length(self) -> None:
        if self._size > _LONGEST_RECORD:
            _, column = self._cells("".join(self._raw))
            raise self._text.error(_UNCLOSED.filled(column=column), self._line)
        if len(self._raw) > _MAX_LINES:
            self._raw = ["".join(self._raw)]


def _without_blanks(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Return the lines without blank ones at the start."""
    return dropwhile(lambda line: line[1].isspace(), lines)


def _reader(lines: Iterator[str] | list[str], dialect: Dialect) -> Iterator[list[str]]:
    delimiter, quote, skips_blanks = dialect
    if not quote:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=skips_blanks, strict=True)


def _cell_pattern(dialect: Dialect) -> re.Pattern[str]:
    """Return the pattern of a cell and the delimiter after it; its groups are quoted text, plain text and delimiter."""
    quote = dialect.quote or "\0"
    blanks = " *" if dialect.skips_blanks else ""
    # Spreadsheets also read blanks after the closing quote.
    quoted = rf"{blanks}{quote}([^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*){quote} *+"
    delimiter = re.escape(dialect.delimiter)
    return re.compile(rf"(?:{quoted}|((?!{blanks}{quote})[^{delimiter}]*+))({delimiter}|\Z)")


def _reason(error: csv.Error, column: int) -> Text:
    if "unexpected end" in str(error):
        return _UNCLOSED.filled(column=column)
    text = Text('In column {column} a quote in a quoted text is not doubled. Write it as "", also where it is \\".')
    return text.filled(column=column)


def _below_title(lines: list[str]) -> list[str]:
    """Return the lines from the header on; all if no title is above a header with any delimiter."""
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            if titles := count_title_rows(_reader(lines, Dialect(delimiter, '"'))):
                return lines[titles:]
    return lines


def _is_list(lines: list[str], dialect: Dialect) -> bool:
    """Return whether lines are names without columns: no header is known, and rows differ in length or have one cell.

    The same holds if a blank follows each comma, as in “Rose, Dog”.
    """
    known, is_regular, _ = _score(lines, dialect)
    has_words = dialect.delimiter == "," and not any(re.search(",[^ ]", line) for line in lines)
    return not known and (has_words or not is_regular) and not lines[0].startswith(dialect.quote)


def _detect_dialect(lines: list[str], delimiter: str | None, quote: str | None) -> Dialect:
    """Detect the dialect of a file by its first lines, at least one."""
    if quote is None:
        plain = [delimiter for delimiter in "\t|" if not _DARWIN_CORE.isdisjoint(lines[0].split(delimiter))]
        quote = "'" if lines[0].lstrip().startswith("'") else '"'
        if plain:
            delimiter = plain[0]
            quote = ""
    if delimiter is None:
        possible = [delimiter for delimiter in _DELIMITERS if delimiter in lines[0]]
        delimiter = max(possible, key=lambda candidate: _score(lines, Dialect(candidate, quote)), default=ONE_COLUMN)
    return Dialect(delimiter, quote, bool(quote) and _has_blanks(lines, delimiter, quote))


def _score(lines: list[str], dialect: Dialect) -> tuple[int, bool, int]:
    """Return how well a dialect fits: known headers, whether all rows have one length, the length of the first row."""
    try:
        rows = [row for row in _reader(lines, dialect) if row]
    except csv.Error:
        rows = [lines[0].split(dialect.delimiter)]
    widths = set(map(len, rows))
    known = sum(1 for cell in rows[0] if field_of_header(cell) is not None) if rows else 0
    return known, len(widths) == 1 and widths != {1}, max(map(len, rows[:1]), default=0)


def _has_blanks(lines: list[str], delimiter: str, quote: str) -> bool:
    """Return whether blanks are between a delimiter and a text in quotes; the last text may be incomplete."""
    text = rf"{quote}[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*(?:{quote}|\Z)"
    quoted = re.compile(rf"(?:^ *|{re.escape(delimiter)}( *)){text}", re.MULTILINE)
    return any(match[1] for match in quoted.finditer("\n".join(lines)))
