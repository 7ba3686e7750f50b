"""Reads the rows of CSV and TSV files, as a rule a block of lines at a time."""

from __future__ import annotations

import csv
import itertools
import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.transfer.columns import field_of
from plantdesk.transfer.tables import Batch
from plantdesk.transfer.text import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plantdesk.transfer.text import TextFile

DELIMITERS = (",", ";", "\t", "|")
#: Of a file whose header has none of them: the ASCII character for the purpose, which no text has.
ONE_COLUMN = "\x1f"
#: Rows of a batch, where they are read one by one.
_MAX_ROWS = 5000
#: Lines by which the delimiter is detected.
_SAMPLED = 20


class Dialect(NamedTuple):
    """How a delimited file is written; an empty `quote`: without quotes."""

    delimiter: str
    quote: str


class DelimitedTable:
    """The rows of a file. The parts of `dialect` that are None are detected: then it is that of the file."""

    def __init__(self, text: TextFile, delimiter: str | None = None, quote: str | None = None) -> None:
        """Read the first lines. Raises FileError and OSError."""
        csv.field_size_limit(LONGEST)
        self._text = text
        blocks = text.blocks()
        lines, first = self._without_blanks(blocks)
        if delimiter is None and lines and lines[0][:4].lower() == "sep=" and lines[0][4:5]:  # Excel's
            delimiter, lines, first = lines[0][4], lines[1:], first + 1
        if not lines:
            raise text.error("It has no header.")
        self._blocks = itertools.chain([(first, lines)], ((text.line - len(each) + 1, each) for each in blocks))
        self.dialect = _detected(lines[:_SAMPLED], delimiter, quote)
        self._slow = _SlowReader(text, self._blocks, self.dialect)

    @property
    def layout(self) -> None:
        """The rows say it."""
        return

    def batches(self) -> Iterator[Batch]:
        """Yield all rows. Raises FileError and OSError."""
        for first, lines in self._blocks:
            batch = self._quickly_read(first, lines)
            if batch is not None:
                yield batch
            else:
                yield from self._slow.batches(first, lines)

    def _without_blanks(self, blocks: Iterator[list[str]]) -> tuple[list[str], int]:
        for lines in blocks:
            begin = next((at for at, line in enumerate(lines) if line and not line.isspace()), None)
            if begin is not None:
                return lines[begin:], self._text.line - len(lines) + begin + 1
        return [], 1

    def _quickly_read(self, first: int, lines: list[str]) -> Batch | None:
        """Return the rows where each is one line and no quoted text is empty; else None."""
        quote = self.dialect.quote
        text = "\n".join(lines)
        if "\0" in text or (quote and 2 * quote in text):
            return None
        try:
            rows = list(_reader(lines, self.dialect))
        except csv.Error:
            return None
        return Batch(range(first, first + len(lines)), rows, True) if len(rows) == len(lines) else None


class _SlowReader:
    """Reads records one by one: of several lines, with empty texts in quotes, or with errors."""

    def __init__(self, text: TextFile, blocks: Iterator[tuple[int, list[str]]], dialect: Dialect) -> None:
        self._text, self._blocks, self._quote = text, blocks, dialect.quote
        self._lines: deque[str] = deque()
        self._line = 0
        self._raw: list[str] = []
        self._size = 0
        self._has_doubled = False
        self._reader = _reader(self._fed(), dialect)
        quote, delimiter = dialect.quote or "\0", re.escape(dialect.delimiter)
        cell = rf"{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}|[^{delimiter}]*"
        self._cell = re.compile(rf"({cell})(?:{delimiter}|\Z)")

    def batches(self, first: int, lines: list[str]) -> Iterator[Batch]:
        """Yield the rows of a block, and of those after it that the last row reaches into. Raises FileError."""
        self._line = first - 1
        self._lines.extend(lines)
        while self._lines:
            numbers: list[int] = []
            rows: list[list[str | None]] = []
            while self._lines and len(rows) < _MAX_ROWS:
                rows.append(self._next())
                numbers.append(self._first_line)
            yield Batch(numbers, rows)

    @property
    def _first_line(self) -> int:
        return self._line - len(self._raw) + 1

    def _next(self) -> list[str | None]:
        self._raw.clear()
        self._has_doubled = False
        try:
            cells = next(self._reader, [])
        except csv.Error as error:
            raise self._text.error(_reason(error), self._first_line) from None
        if not self._has_doubled:
            return [cell or None for cell in cells]
        raw = self._cell.findall("".join(self._raw).rstrip("\r\n"))
        quoted = [cell.startswith(self._quote) for cell in raw]
        return [cell if cell or is_quoted else None for cell, is_quoted in zip(cells, quoted, strict=False)]

    def _fed(self) -> Iterator[str]:
        while True:
            while self._lines:
                line = self._lines.popleft() + "\n"
                self._line += 1
                self._check(line)
                yield line
            _, lines = next(self._blocks, (0, []))
            if not lines:
                return
            self._lines.extend(lines)

    def _check(self, line: str) -> None:
        self._raw.append(line)
        self._size = len(line) + (self._size if len(self._raw) > 1 else 0)
        self._has_doubled = self._has_doubled or bool(self._quote and 2 * self._quote in line)
        if "\0" in line and len(self._raw) == 1 and not (self._quote and self._quote in line):
            raise self._text.error("It has a NUL character.", self._line)
        if self._size > LONGEST:
            raise self._text.error("A quote is opened and not closed.", self._first_line)


def _reader(lines: Iterator[str] | list[str], dialect: Dialect) -> Iterator[list[str]]:
    if not dialect.quote:
        return csv.reader(lines, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)


def _reason(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "A quote is opened and not closed."
    if "new-line" in text:
        return "A line ends with CR alone. Save the file with other line ends."
    return f"It is not CSV: {text}."


def _detected(lines: list[str], delimiter: str | None, quote: str | None) -> Dialect:
    if quote is None:
        quote = "'" if lines and lines[0].lstrip().startswith("'") else '"'

    def score(delimiter: str) -> tuple[int, bool, int]:
        try:
            rows = [row for row in _reader(lines, Dialect(delimiter, quote)) if row]
        except csv.Error:
            rows = list(_reader(lines[:1], Dialect(delimiter, "")))
        widths = set(map(len, rows))
        known = sum(field_of(cell) is not None for cell in rows[0]) if rows else 0
        return known, len(widths) == 1 and widths != {1}, max(map(len, rows[:1]), default=0)

    found = max(DELIMITERS, key=score) if lines and any(each in lines[0] for each in DELIMITERS) else ONE_COLUMN
    return Dialect(delimiter or found, quote)
