"""Reads the rows of CSV and TSV files, as a rule a block of lines at a time, and the header lines of Anki."""

from __future__ import annotations

import csv
import html
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import Text
from plantdesk.domain.strict_json import Unread
from plantdesk.transfer.columns import SAMPLED, Layout, field_of, mapped, title_rows
from plantdesk.transfer.tables import Batch
from plantdesk.transfer.text import LONGEST

if TYPE_CHECKING:
    from plantdesk.transfer.text import TextFile


_KEYS = re.compile(
    r"#(separator|html|tags|columns|notetype|deck|guid|(?:notetype|deck|tags|guid) column):(.*)", re.IGNORECASE
)
_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "pipe": "|", "colon": ":"}
_BREAK = re.compile(r"<br\s*/?>|</(?:div|p|li)>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
#: A number of a character that Python refuses to read.
_NO_CHARACTER = re.compile(r"&#[0-9]{8,};?")


class AnkiHeader(NamedTuple):
    """What the first lines say; `layout` has the columns by the number of cells in a row."""

    lines: int
    values: dict[str, str]

    @property
    def delimiter(self) -> str:
        """The delimiter; a tab where none is given."""
        name = self.values.get("separator", "tab").strip()
        return _SEPARATORS.get(name.lower(), name[:1] or "\t")

    @property
    def is_html(self) -> bool:
        """Whether the fields are HTML."""
        return self.values.get("html", "").strip().lower() == "true"

    def layout(self, width: int) -> Layout:
        """Return the columns of rows with `width` cells: the first field of a note is the name, the next its note."""
        names = self.values.get("columns", "").split(self.delimiter) if "columns" in self.values else []
        names += [str(at) for at in range(len(names) + 1, width + 1)]
        special = {kind: self._column(f"{kind} column") for kind in ("tags", "notetype", "deck", "guid")}
        fields = [at for at in range(len(names)) if at not in special.values()]
        found = mapped(names, {}) | ({"tag": special["tags"]} if special["tags"] is not None else {})
        rest = [at for at in fields if at not in found.values()]
        for field in ("name", "note"):
            if field not in found and rest:
                found[field] = rest.pop(0)
        return Layout(names, has_header=False, fields=found)

    def _column(self, key: str) -> int | None:
        number = self.values.get(key, "").strip()
        return int(number) - 1 if number.isascii() and number.isdigit() and int(number) else None


def anki_header(lines: Sequence[str]) -> AnkiHeader | None:
    """Return the header that lines begin with, or None."""
    values: dict[str, str] = {}
    for count, line in enumerate(lines):
        found = _KEYS.fullmatch(line.rstrip("\r"))
        if found is None:
            return AnkiHeader(count, values) if values else None
        values[found[1].lower()] = found[2]
    return AnkiHeader(len(lines), values) if values else None


def without_html(text: str | None) -> str | None:
    """Return a field as text."""
    if text is None or ("<" not in text and "&" not in text):
        return text
    plain = _NO_CHARACTER.sub("\ufffd", _TAG.sub("", _BREAK.sub("\n", text)))
    return html.unescape(plain).replace("\xa0", " ").strip()


DELIMITERS = (",", ";", "\t", "|")
#: Of a file whose header has none of them: the ASCII character for the purpose, which no text has.
ONE_COLUMN = "\x1f"
#: Columns of Darwin Core as GBIF exports it, of the Catalogue of Life and of Kew's WCVP: quotes are text there.
_DARWIN_CORE = frozenset(("gbifID", "occurrenceID", "taxonID", "dwc:taxonID", "taxonid", "plant_name_id"))
#: Rows of a batch, where they are read one by one.
_MAX_ROWS = 5000
#: Characters of a record of several lines: four times the plant that the API takes. Its lines are joined when there are
#: so many, as a short one takes 80 bytes.
_LONGEST_RECORD, _MAX_LINES = 4_194_304, 10_000
#: Columns of a block that is split at once.
_MAX_WIDTH = 1000


#: Blank lines that end with CR alone, above the header of a file with other ends of lines as well.
_BLANK_LINES = re.compile(r"\A(?:[^\S\r]*\r)+")
_UNCLOSED = Text("In column {column} a quote is opened and not closed.")


class Dialect(NamedTuple):
    """How a delimited file is written; an empty `quote`: without quotes. `skips_blanks`: those before a cell."""

    delimiter: str
    quote: str
    skips_blanks: bool = False


class DelimitedTable:
    """The rows of a file. The parts of `dialect` that are None are detected: then it is that of the file."""

    def __init__(
        self, text: TextFile, delimiter: str | None = None, quote: str | None = None, *, is_list: bool = False
    ) -> None:
        """Read the first lines; with `is_list`, they may be names without columns. Raises FileError and OSError."""
        csv.field_size_limit(LONGEST)
        self._text = text
        blocks = text.blocks()
        lines, first = self._without_blanks(blocks)
        if delimiter is None and lines and lines[0][:4].lower() == "sep=" and lines[0][4:5]:  # Excel's
            delimiter, lines, first = lines[0][4], lines[1:], first + 1
        self._anki = anki_header(lines[:SAMPLED])
        if self._anki is not None:
            delimiter, lines, first = self._anki.delimiter, lines[self._anki.lines :], first + self._anki.lines
        begin = _first_text(lines)
        if begin is None:
            raise text.error(Text("It has no header."))
        lines, first = [_BLANK_LINES.sub("", lines[begin]), *lines[begin + 1 :]], first + begin
        self._blocks = ((text.first, block) for block in blocks)
        sample = _below_title(lines[:SAMPLED])
        self.dialect = _detected(sample, delimiter, quote)
        if is_list and self._anki is None and _is_list(sample, self.dialect):
            self.dialect = Dialect(ONE_COLUMN, "")
        quote = self.dialect.quote
        #: Where even the header is in quotes, "" is no text; else it is an empty one, as PlantDesk exports it.
        self._all_quoted = bool(quote) and sample[0].startswith(quote)
        self._slow = _SlowReader(text, self._blocks, self.dialect, all_quoted=self._all_quoted)
        self._first = first, lines

    @property
    def layout(self) -> Layout | None:
        """The layout that Anki's header names, else None: it is found from the rows."""
        if self._anki is None:
            return None
        width = 0
        with suppress(csv.Error):  # which `batches` reports with its line
            width = len(next(_reader(self._first[1], self.dialect), []))
        return self._anki.layout(width)

    def batches(self) -> Iterator[Batch]:
        """Yield all rows. Raises FileError and OSError."""
        if self._anki is None or not self._anki.is_html:
            yield from self._batches()
            return
        for batch in self._batches():
            rows = [[without_html(cell) for cell in row] for row in batch.by_row()]
            yield batch._replace(rows=rows, columns=None)

    def _batches(self) -> Iterator[Batch]:
        first, lines = self._first
        yield from self._slow.batches(first, lines)
        for first, block in self._blocks:
            batch = self._plain(first, block) or self._parsed(first, block.split("\n"))
            if batch is not None:
                yield batch._replace(texts=block)
            else:
                yield from self._slow.batches(first, block.split("\n"))

    def _without_blanks(self, blocks: Iterator[str]) -> tuple[list[str], int]:
        for block in blocks:
            lines = block.split("\n")
            begin = _first_text(lines)
            if begin is not None:
                return lines[begin:], self._text.line - len(lines) + begin + 1
        return [], 1

    def _plain(self, first: int, block: str) -> Batch | None:
        """Return the columns of a block without quotes whose lines have equally many cells, else None."""
        delimiter, quote, skips_blanks = self.dialect
        if "\r" in block:
            block = block.replace("\r\n", "\n").removesuffix("\r")
        if skips_blanks or (quote and quote in block) or "\0" in block or "\r" in block:
            return None
        width = block.partition("\n")[0].count(delimiter) + 1
        if width > _MAX_WIDTH:
            return None
        cells = block.replace("\n", f"{delimiter}\n{delimiter}").split(delimiter)
        ends = cells[width :: width + 1]
        lines = range(first, self._text.line + 1)
        if not ends.count("\n") == len(ends) == len(lines) - 1 or len(cells) % (width + 1) != width:
            return None
        return Batch(lines, (), True, [cells[at :: width + 1] for at in range(width)])

    def _parsed(self, first: int, lines: list[str]) -> Batch | None:
        """Return the rows of a block where each is one line and no quoted text is empty; else None."""
        quote = self.dialect.quote
        has_empty = bool(quote) and not self._all_quoted and any(2 * quote in line for line in lines)
        if has_empty or any("\0" in line for line in lines):
            return None
        try:
            rows = list(_reader(lines, self.dialect))
        except csv.Error:
            return None
        return Batch(range(first, first + len(lines)), rows, True) if len(rows) == len(lines) else None


class _SlowReader:
    """Reads records one by one: of several lines, with empty texts in quotes, or with errors."""

    def __init__(
        self, text: TextFile, blocks: Iterator[tuple[int, str]], dialect: Dialect, *, all_quoted: bool
    ) -> None:
        self._text, self._blocks, self._all_quoted = text, blocks, all_quoted
        self._delimiter, self._quote, _ = dialect
        self._lines: deque[str] = deque()
        self._line = self._first_line = 0
        self._raw: list[str] = []
        self._size = 0
        self._has_doubled = False
        self._errors: dict[int, Unread] = {}
        self._has_header = False
        self._reader = _reader(self._fed(), dialect)
        quote, delimiter = dialect.quote or "\0", re.escape(dialect.delimiter)
        blanks = " *" if dialect.skips_blanks else ""
        cell = rf"{blanks}{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}|[^{delimiter}]*"
        self._cell = re.compile(rf"({cell})(?:{delimiter}|\Z)")
        #: The same with blanks behind the closing quote, which spreadsheets read as well.
        quoted = rf"{blanks}{quote}([^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*){quote} *+"
        self._loose_cell = re.compile(rf"(?:{quoted}|((?!{blanks}{quote})[^{delimiter}]*+))({delimiter}|\Z)")

    def batches(self, first: int, lines: list[str]) -> Iterator[Batch]:
        """Yield the rows of a block, and of those after it that the last row reaches into. Raises FileError."""
        self._line = first - 1
        self._add(lines)
        while self._lines:
            numbers: list[int] = []
            rows: list[list[str | None]] = []
            texts: list[str] = []
            while self._lines and len(rows) < _MAX_ROWS:
                rows.append(self._next())
                numbers.append(self._first_line)
                texts.append("".join(self._raw))
            yield Batch(numbers, rows, errors=dict(self._errors), texts=texts)
            self._errors.clear()

    def _next(self) -> list[str | None]:
        self._raw.clear()
        self._has_doubled = False
        try:
            row = next(self._reader, [])
        except csv.Error as error:
            record = "".join(self._raw).rstrip("\r\n")
            cells, column = self._loose_cells(record)
            if column and (not self._has_header or "unexpected end" in str(error)):
                raise self._text.error(_reason(error, column), self._first_line) from None
            if column:
                self._errors[self._first_line] = Unread(_reason(error, column), record)
                return []
            self._has_header = True
            return cells
        self._has_header = True
        if not self._has_doubled or self._all_quoted or all(row):
            return [cell or None for cell in row]
        raw = self._cell.findall("".join(self._raw).rstrip("\r\n"))
        quoted = [cell.lstrip(" ").startswith(self._quote) for cell in raw]
        return [cell if cell or is_quoted else None for cell, is_quoted in zip(row, quoted, strict=False)]

    def _loose_cells(self, record: str) -> tuple[list[str | None], int]:
        """Return the cells of a record with blanks behind closing quotes, and 0 or the number of the faulty column."""
        cells: list[str | None] = []
        at, end = 0, self._delimiter
        while end:
            found = self._loose_cell.match(record, at)
            if found is None:
                return cells, len(cells) + 1
            quoted, plain, end = found.groups()
            cells.append(plain or None if quoted is None else quoted.replace(2 * self._quote, self._quote))
            at = found.end()
        return cells, 0

    def _fed(self) -> Iterator[str]:
        while True:
            while self._lines:
                part = self._lines.popleft()
                self._check(part)
                self._line += part.endswith("\n")
                yield part
            block = next(self._blocks, None)
            if block is None:
                return
            self._add(block[1].split("\n"))

    def _add(self, lines: list[str]) -> None:
        """Add lines; CR alone ends one as well, unless it is in quotes."""
        self._lines.extend(part for line in lines for part in StringIO(f"{line}\n", newline=""))

    def _check(self, line: str) -> None:
        if not self._raw:
            self._first_line = self._line + 1
        self._raw.append(line)
        self._size = len(line) + (self._size if len(self._raw) > 1 else 0)
        self._has_doubled = self._has_doubled or bool(self._quote and 2 * self._quote in line)
        if "\0" in line and len(self._raw) == 1 and not (self._quote and self._quote in line):
            raise self._text.error(Text("It has a NUL character."), self._first_line)
        if self._size > _LONGEST_RECORD and len(self._raw) > 1:
            _, column = self._loose_cells("".join(self._raw))
            raise self._text.error(_UNCLOSED.filled(column=column), self._first_line)
        if len(self._raw) > _MAX_LINES:
            self._raw = ["".join(self._raw)]


def _reader(lines: Iterator[str] | list[str], dialect: Dialect) -> Iterator[list[str]]:
    delimiter, quote, skips_blanks = dialect
    if not quote:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=skips_blanks, strict=True)


def _first_text(lines: list[str]) -> int | None:
    """Return the position of the first line that is not blank."""
    return next((at for at, line in enumerate(lines) if line and not line.isspace()), None)


def _reason(error: csv.Error, column: int) -> Text:
    if "unexpected end" in str(error):
        return _UNCLOSED.filled(column=column)
    text = Text('In column {column} a quote in a quoted text is not doubled. Write it as "", also where it is \\".')
    return text.filled(column=column)


def _below_title(lines: list[str]) -> list[str]:
    """Return the lines from the header on, whatever the delimiter; all where there is no title."""
    for each in DELIMITERS:
        with suppress(csv.Error):
            if titles := title_rows(_reader(lines, Dialect(each, '"'))):
                return lines[titles:]
    return lines


def _is_list(lines: list[str], dialect: Dialect) -> bool:
    """Whether lines have no columns: there is no header, and each comma is one between words, as in “Rose, Dog”."""
    delimiter, quote, _ = dialect
    if any(map(field_of, lines[0].split(delimiter))) or lines[0].startswith(quote):
        return False
    return delimiter == ONE_COLUMN or (delimiter == "," and not any(re.search(",[^ ]", line) for line in lines))


def _detected(lines: list[str], delimiter: str | None, quote: str | None) -> Dialect:
    lines = [*islice((part for line in lines for part in StringIO(line, newline="")), SAMPLED)]
    if quote is None and lines:
        plain = (each for each in "\t|" if not _DARWIN_CORE.isdisjoint(lines[0].rstrip("\r").split(each)))
        delimiter, quote = next(((each, "") for each in plain), (delimiter, None))
    if quote is None:
        quote = "'" if lines and lines[0].lstrip().startswith("'") else '"'

    def score(delimiter: str) -> tuple[int, bool, int]:
        try:
            rows = [row for row in _reader(lines, Dialect(delimiter, quote)) if row]
        except csv.Error:
            rows = [lines[0].split(delimiter)]
        widths = set(map(len, rows))
        known = sum(field_of(cell) is not None for cell in rows[0]) if rows else 0
        return known, len(widths) == 1 and widths != {1}, max(map(len, rows[:1]), default=0)

    found = max(DELIMITERS, key=score) if lines and any(each in lines[0] for each in DELIMITERS) else ONE_COLUMN
    found = delimiter or found
    return Dialect(found, quote, bool(quote) and _has_blanks(lines, found, quote))


def _has_blanks(lines: list[str], delimiter: str, quote: str) -> bool:
    """Whether there is a blank between a delimiter and a text in quotes; the last one may not be closed yet."""
    text = rf"{quote}[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*(?:{quote}|\Z)"
    quoted = re.compile(rf"(?:^ *|{re.escape(delimiter)}( *)){text}", re.MULTILINE)
    return any(found[1] for found in quoted.finditer("\n".join(lines)))
