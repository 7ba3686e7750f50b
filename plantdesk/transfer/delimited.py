"""Reads the rows of CSV and TSV files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, dropwhile, islice
from typing import NamedTuple

from plantdesk.domain.texts import Text
from plantdesk.transfer.columns import SAMPLE_ROWS, count_title_rows, find_field
from plantdesk.transfer.tables import Batch, Row, batched
from plantdesk.transfer.text import MAX_PLANT_CHARACTERS, TextFile

#: A first line that tells Excel the delimiter.
_SEPARATOR = re.compile("sep=(.)", re.IGNORECASE)
#: The first line of an export of Anki.
_ANKI_HEADER = re.compile("#(?:separator|html|tags|columns|notetype|deck|guid)[^:]*:", re.IGNORECASE)
_DELIMITERS = (",", ";", "\t", "|")
#: The delimiter of files with one column: an ASCII separator that no text has.
ONE_COLUMN = "\x1f"
#: Headers of files in which quotes are text: Darwin Core by GBIF, the Catalogue of Life, Kew's WCVP.
_DARWIN_CORE = frozenset(("gbifID", "occurrenceID", "taxonID", "dwc:taxonID", "taxonid", "plant_name_id"))
#: The most characters of a record of several lines: four times the plant that the API accepts.
_MAX_RECORD_CHARACTERS = 4_194_304
#: The most lines that are kept separate: a short string takes 80 bytes.
_MAX_SEPARATE_LINES = 10_000
_UNCLOSED_QUOTE = Text("In column {column} a quote is opened and not closed.")


class Dialect(NamedTuple):
    """The format of a delimited file. `quote` is empty if quotes are text; `skips_blanks`: blanks may precede them."""

    delimiter: str
    quote: str
    skips_blanks: bool = False


class DelimitedTable:
    """Reads the records of a delimited file; quoted cells may have line breaks. A malformed record gets an error.

    `dialect` has the delimiter and the quote as given, or as detected where None was given.
    """

    is_sheet = False
    other_tables = 0

    def __init__(
        self, text: TextFile, delimiter: str | None = None, quote: str | None = None, *, is_list: bool = False
    ) -> None:
        """Detect the dialect by the first lines, with `is_list` perhaps only names. Raises FileError and OSError."""
        csv.field_size_limit(MAX_PLANT_CHARACTERS)
        self._lines = _without_blanks(text.read_lines())
        lines = self._peek_lines()
        if delimiter is None and (separator := _SEPARATOR.match("".join(lines[:1]))):
            delimiter = separator[1]
            self._lines = _without_blanks(islice(self._lines, 1, None))
            lines = self._peek_lines()
        if not lines:
            raise text.make_error(Text("It has no header."))
        if _ANKI_HEADER.match(lines[0]):
            reason = Text("It is an export of Anki. Export it without HTML, and delete the lines with #.")
            raise text.make_error(reason, 1)
        if any({"|", "-"} <= set(line) <= set(" |:-") for line in lines):
            reason = Text("It is a table in Markdown. Copy the table as it is shown, or save it as CSV.")
            raise text.make_error(reason, 1)
        sample = _skip_title(lines)
        self.dialect = _detect_dialect(sample, delimiter, quote)
        if is_list and delimiter is None and _is_list(sample, self.dialect):
            self.dialect = Dialect(ONE_COLUMN, "")
        self._quote = self.dialect.quote
        #: Whether all cells are in quotes: then "" is a missing text, otherwise an empty one, as PlantDesk exports it.
        self._is_all_quoted = bool(self._quote) and sample[0].startswith(self._quote)
        self._text_file = text
        self._record_line = 0
        self._has_header = False
        #: The lines of the current record so far, and the number of their characters.
        self._record_lines: list[str] = []
        self._record_size = 0
        self._reader = _create_reader(self._feed_reader(), self.dialect)
        self._cell_pattern = _compile_cell_pattern(self.dialect)

    def _peek_lines(self) -> list[str]:
        """Return the first lines without their ends, and keep them to be read."""
        first = [*islice(self._lines, SAMPLE_ROWS)]
        self._lines = chain(first, self._lines)
        return [line.rstrip("\r\n") for _, line in first]

    def read_batches(self) -> Iterator[Batch]:
        """Yield all records. Raises FileError and OSError."""
        return batched((row, self._record_size) for row in iter(self._read_record, None))

    def _read_record(self) -> Row | None:
        """Return the next record, with an `error` if it is malformed; None at the end. Raises FileError and OSError."""
        self._record_lines.clear()
        self._record_size = 0
        try:
            cells = next(self._reader, None)
        except csv.Error as error:
            return self._parse_loose_record(error)
        if cells is None:
            return None
        self._has_header = True
        return Row(self._record_line, cells if all(cells) else self._replace_empty_cells(cells))

    def _replace_empty_cells(self, row: list[str]) -> list[str | None]:
        """Return the cells with None for the empty ones that are not in quotes."""
        raw = "".join(self._record_lines)
        if self._is_all_quoted or not self._quote or 2 * self._quote not in raw:
            return [cell or None for cell in row]
        cells, _ = self._parse_cells(raw.rstrip("\r\n"))
        return [text if text or cell is not None else None for text, cell in zip(row, cells, strict=False)]

    def _parse_loose_record(self, error: csv.Error) -> Row:
        """Parse the current record less strictly than `csv`. Raises FileError for the header, or an open quote."""
        record = "".join(self._record_lines).rstrip("\r\n")
        cells, column = self._parse_cells(record)
        if not column:
            self._has_header = True
            return Row(self._record_line, cells)
        if not self._has_header or "unexpected end" in str(error):
            raise self._text_file.make_error(_describe_error(error, column), self._record_line) from None
        return Row(self._record_line, error=_describe_error(error, column), source=record)

    def _parse_cells(self, record: str) -> tuple[list[str | None], int]:
        """Return a record's cells, None for those without text and quotes, and the number of an invalid one, or 0."""
        cells: list[str | None] = []
        position = 0
        end = "begin"
        while end:
            match = self._cell_pattern.match(record, position)
            if match is None:
                return cells, len(cells) + 1
            quoted, plain, end = match.groups()
            cells.append(plain or None if quoted is None else quoted.replace(2 * self._quote, self._quote))
            position = match.end()
        return cells, 0

    def _feed_reader(self) -> Iterator[str]:
        """Yield the lines for the CSV reader, and keep the lines of the current record."""
        for number, line in self._lines:
            if not self._record_lines:
                self._record_line = number
                if "\0" in line and not (self._quote and self._quote in line):
                    raise self._text_file.make_error(Text("It has a NUL character."), number)
            self._record_lines.append(line)
            self._record_size += len(line)
            if len(self._record_lines) > 1:
                self._check_length()
            yield line

    def _check_length(self) -> None:
        if self._record_size > _MAX_RECORD_CHARACTERS:
            _, column = self._parse_cells("".join(self._record_lines))
            raise self._text_file.make_error(_UNCLOSED_QUOTE.filled(column=column), self._record_line)
        if len(self._record_lines) > _MAX_SEPARATE_LINES:
            self._record_lines = ["".join(self._record_lines)]


def _without_blanks(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Return the lines without blank ones at the start."""
    return dropwhile(lambda line: line[1].isspace(), lines)


def _create_reader(lines: Iterator[str] | list[str], dialect: Dialect) -> Iterator[list[str]]:
    delimiter, quote, skips_blanks = dialect
    if not quote:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=skips_blanks, strict=True)


def _compile_cell_pattern(dialect: Dialect) -> re.Pattern[str]:
    """Return the pattern of a cell and the delimiter after it; its groups are quoted text, plain text and delimiter."""
    quote = dialect.quote or "\0"
    blanks = " *" if dialect.skips_blanks else ""
    # Spreadsheets also read blanks after the closing quote.
    quoted = rf"{blanks}{quote}([^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*){quote} *+"
    delimiter = re.escape(dialect.delimiter)
    return re.compile(rf"(?:{quoted}|((?!{blanks}{quote})[^{delimiter}]*+))({delimiter}|\Z)")


def _describe_error(error: csv.Error, column: int) -> Text:
    if "unexpected end" in str(error):
        return _UNCLOSED_QUOTE.filled(column=column)
    text = Text('In column {column} a quote in a quoted text is not doubled. Write it as "", also where it is \\".')
    return text.filled(column=column)


def _skip_title(lines: list[str]) -> list[str]:
    """Return the lines from the header on; all if no title is above a header with any delimiter."""
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            if titles := count_title_rows(_create_reader(lines, Dialect(delimiter, '"'))):
                return lines[titles:]
    return lines


def _is_list(lines: list[str], dialect: Dialect) -> bool:
    """Return whether lines are names without columns: no header is known, and rows differ in length or have one cell.

    The same holds if a blank follows each comma, as in “Rose, Dog”.
    """
    known, is_regular, _ = _score_dialect(lines, dialect)
    has_words = dialect.delimiter == "," and not any(re.search(",[^ ]", line) for line in lines)
    return not known and (has_words or not is_regular) and not lines[0].startswith(dialect.quote)


def _detect_dialect(lines: list[str], delimiter: str | None, quote: str | None) -> Dialect:
    """Detect the dialect of a file by its first lines, at least one."""
    if quote is None:
        plain_delimiters = [delimiter for delimiter in "\t|" if not _DARWIN_CORE.isdisjoint(lines[0].split(delimiter))]
        quote = "'" if lines[0].lstrip().startswith("'") else '"'
        if plain_delimiters:
            delimiter = plain_delimiters[0]
            quote = ""
    if delimiter is None:
        candidates = [delimiter for delimiter in _DELIMITERS if delimiter in lines[0]]
        delimiter = max(
            candidates, key=lambda candidate: _score_dialect(lines, Dialect(candidate, quote)), default=ONE_COLUMN
        )
    return Dialect(delimiter, quote, bool(quote) and _has_blanks(lines, delimiter, quote))


def _score_dialect(lines: list[str], dialect: Dialect) -> tuple[int, bool, int]:
    """Return a key that is greatest for the best dialect: known headers, equally long rows, length of the first row."""
    try:
        rows = [row for row in _create_reader(lines, dialect) if row]
    except csv.Error:
        rows = [lines[0].split(dialect.delimiter)]
    widths = set(map(len, rows))
    known = sum(1 for cell in rows[0] if find_field(cell) is not None) if rows else 0
    return known, len(widths) == 1 and widths != {1}, max(map(len, rows[:1]), default=0)


def _has_blanks(lines: list[str], delimiter: str, quote: str) -> bool:
    """Return whether blanks are between a delimiter and a text in quotes; the last text may be incomplete."""
    text = rf"{quote}[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*(?:{quote}|\Z)"
    quoted = re.compile(rf"(?:^ *|{re.escape(delimiter)}( *)){text}", re.MULTILINE)
    return any(match[1] for match in quoted.finditer("\n".join(lines)))
