"""Excel workbooks (.xlsx, .xlsm): the first sheet is read row by row, in memory that does not grow with the file."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, closing, contextmanager
from typing import IO, TYPE_CHECKING
from xml.parsers.expat import ExpatError

from plantdesk.transfer.tables import Batch
from plantdesk.transfer.text import FileError
from plantdesk.transfer.workbook_cells import CellFormats, SharedTexts, TextReader, unescaped
from plantdesk.transfer.workbook_parts import Parser, Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = tuple[int, list[str | None]]

#: What an Excel sheet holds.
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384
#: Rows of a batch, and cells, after which it ends.
_MAX_BATCH, _MAX_CELLS = 1000, 100_000
#: What a file raises that is no workbook, or is damaged.
_MALFORMED = (
    zipfile.BadZipFile,
    zlib.error,
    ExpatError,
    KeyError,
    IndexError,
    ValueError,
    EOFError,
    NotImplementedError,  # a compression that the standard library lacks
    RuntimeError,  # a password
)
#: The beginnings of a workbook, and of an old one, as which one with a password is encrypted.
_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_DIGITS = "0123456789"


class WorkbookTable:
    """The first sheet of a workbook."""

    def __init__(self, rows: Iterator[Row], name: str) -> None:
        self._rows, self._name = rows, name

    @property
    def layout(self) -> None:
        """None: the layout is found from the rows."""
        return

    def batches(self) -> Iterator[Batch]:
        """Yield all rows with a text, at least one. Raises FileError and OSError."""
        with _malformed(self._name):
            first = next(self._rows, None)
            if first is None:
                raise FileError(self._name, "Its first sheet is empty.")
            rows = itertools.chain([first], self._rows)
            while batch := [*_first_rows(rows)]:
                lines, cells = zip(*batch, strict=True)
                yield Batch(lines, [*cells], is_sheet=True)


def _first_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows of a batch."""
    cells = 0
    for count, row in enumerate(rows, 1):
        yield row
        cells += len(row[1])
        if count == _MAX_BATCH or cells >= _MAX_CELLS:
            return


@contextmanager
def opened_workbook(
    stream: IO[bytes], name: str, size: int, progress: Callable[[int], None], *, skipped: int = 0
) -> Iterator[WorkbookTable]:
    """Open a workbook without its first rows; `progress` is called with bytes. Raises FileError and OSError."""
    with ExitStack() as stack:
        if not stream.seekable():
            copy = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(stream, copy)
            stream = copy
        stream.seek(0)
        begin = stream.read(4)
        stream.seek(0)
        if begin == _OLD:
            raise FileError(
                name, "It has a password, or is an old workbook (.xls). Save it as .xlsx without a password."
            )
        if not begin:
            raise FileError(name, "It is empty (0 bytes), not an Excel workbook. Save it or copy it again.")
        if begin != _ZIP:
            raise FileError(name, "It is not an Excel workbook (.xlsx).")
        with _malformed(name):
            parts = Parts(stream, name, size, progress)
            book = _Book(parts, name)
            texts = stack.enter_context(closing(SharedTexts(stack.enter_context(tempfile.TemporaryFile()))))
            if book.texts in parts:
                texts.read(parts, book.texts, name)
        rows = _rows(parts, book, name, texts)
        yield WorkbookTable(itertools.dropwhile(lambda row: row[0] <= skipped, rows), name)


@contextmanager
def _malformed(name: str) -> Iterator[None]:
    try:
        yield
    except _MALFORMED as error:
        raise FileError(name, "It is a damaged Excel workbook, or another file that is named like one.") from error


class _Book:
    """The workbook's own part, which names the others."""

    def __init__(self, parts: Parts, name: str) -> None:
        """Raises KeyError where there is no sheet; the part of the shared texts may be missing."""
        self._ids: list[str] = []
        self._has_1904 = False
        main = {each.kind: each.target for each in parts.relations("").values()}["officeDocument"]
        parser = Parser(name)
        parser.on_start, parser.on_end = self._start, lambda tag: setattr(parser, "is_done", tag == "sheets")
        parts.parse(main, parser)
        relations = parts.relations(main)
        kinds = {each.kind: each.target for each in relations.values()}
        sheets = (relations[each] for each in self._ids if each in relations)
        self.sheet = {each.kind: each.target for each in [*sheets][::-1]}["worksheet"]
        self.texts = kinds.get("sharedStrings", "xl/sharedStrings.xml")
        self.formats = CellFormats(has_1904=self._has_1904)
        if kinds.get("styles", "") in parts:
            self.formats.read(parts, kinds["styles"], name)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "workbookPr":
            self._has_1904 = attributes.get("date1904") in {"1", "true"}
        elif tag == "sheet":
            self._ids += (value for key, value in attributes.items() if key.endswith(":id"))


def _rows(parts: Parts, book: _Book, name: str, texts: SharedTexts) -> Iterator[Row]:
    """Yield the rows with a text."""
    parser = Parser(name)
    sheet = _Sheet(parser, name, texts, book.formats)
    parser.on_start, parser.on_end = sheet.start, sheet.end
    for _ in parts.parsed(book.sheet, parser, is_table=True):
        yield from sheet.rows
        sheet.rows.clear()


class _Sheet:
    """Collects the rows of a sheet."""

    def __init__(self, parser: Parser, name: str, texts: SharedTexts, formats: CellFormats) -> None:
        #: The rows that are complete, without those that have no text.
        self.rows: list[Row] = []
        self._parser, self._name, self._texts, self._formats = parser, name, texts, formats
        self._inline = TextReader(parser)
        self._columns: dict[str, int] = {}
        self._row: list[str | None] = []
        self._count = self._number = self._column = 0
        self._kind, self._style, self._value = "", "", ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if tag == "c":
            reference = attributes.get("r")
            self._column = self._column + 1 if reference is None else self._column_of(reference.rstrip(_DIGITS))
            self._kind, self._style, self._value = attributes.get("t", "n"), attributes.get("s", "0"), ""
        elif tag == "v":
            self._parser.texts.clear()
        elif tag == "row":
            self._number = int(attributes.get("r", self._number + 1))
            self._count += 1
            if not max(self._number, self._count) <= _MAX_ROWS or self._number < 1:
                raise FileError(self._name, f"It has more than {_MAX_ROWS:,} rows.")
            self._column = -1
        else:
            self._inline.start(tag, attributes)

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "c":
            self._put(self._text())
        elif tag == "v":
            self._value = "".join(self._parser.texts)
        elif tag == "row":
            self._parser.end_item()
            if any(self._row):
                self.rows.append((self._number, self._row))
            self._row = []
        elif tag == "sheetData":
            self._parser.is_done = True
        else:
            self._inline.end(tag)

    def _text(self) -> str | None:
        text: str | None
        match self._kind, self._value:
            case "inlineStr", _:
                text = self._inline.text()
            case _, "":
                text = None
            case "s", number:
                text = self._texts[int(number)]
            case "str" | "e", value:
                text = unescaped(value)
            case "b", value:
                text = "FALSE" if value == "0" else "TRUE"
            case "d", value:
                text = value.replace("T", " ").removesuffix("Z").removesuffix(" 00:00:00")
            case _, value:  # "n" or unknown
                text = self._formats.text(value, self._style)
        return text

    def _put(self, text: str | None) -> None:
        if text is not None:
            self._row += [None] * (self._column - len(self._row) + 1)
            self._row[self._column] = text

    def _column_of(self, letters: str) -> int:
        """Return the position of a column, from 0."""
        column = self._columns.get(letters)
        if column is None:
            column = -1
            for letter in letters.upper()[:4]:
                column = 26 * (column + 1) + ord(letter) - ord("A")
            if not 0 <= column < _MAX_COLUMNS:
                raise FileError(self._name, f"It has more than {_MAX_COLUMNS:,} columns.")
            self._columns[letters] = column
        return column
