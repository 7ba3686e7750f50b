"""Excel workbooks (.xlsx, .xlsm): the first sheet is read row by row, and only the texts that cells share are kept.

The XML of the ZIP file is parsed piece by piece, with limits on all that a file can claim. Cells are read as they are
shown, as far as a plant may need it.
"""

from __future__ import annotations

import datetime as dt
import itertools
import posixpath
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import unquote
from xml.parsers.expat import ExpatError

from plantdesk.domain.errors import Text
from plantdesk.transfer.tables import Batch
from plantdesk.transfer.text import FileError
from plantdesk.transfer.xml_parser import Parser

if TYPE_CHECKING:
    #: The number of a row, its cells, and the columns of formulas without a value.
    Row = tuple[int, list[str | None], list[int]]


#: Unpacked bytes of a part other than a sheet and the shared texts, of all parts, and parts.
_MAX_PART, _MAX_ALL, _MAX_PARTS = 16 * 1024 * 1024, 4 * 1024**3, 10_000
#: Unpacked bytes from which a ratio that no table reaches counts.
_MAX_UNPACKED, _MAX_RATIO = 64 * 1024 * 1024, 150
#: Unpacked bytes between the ends of two rows or shared texts.
_MAX_ITEM = 2 * 1024 * 1024
_MAX_RELATIONS = 10_000
_PIECE = 65_536


class Relation(NamedTuple):
    """A relationship of a part: its `kind` is the last word of its type, `target` the full name of a part."""

    kind: str
    target: str


class Parts:
    """The parts of a workbook; `progress` is called with packed bytes."""

    def __init__(self, stream: IO[bytes], name: str, size: int, progress: Callable[[int], None]) -> None:
        """Raises zipfile.BadZipFile, and FileError for a ZIP bomb."""
        self._name, self._progress = name, progress
        self._archive = zipfile.ZipFile(stream)
        infos = self._archive.infolist()
        unpacked, packed = sum(each.file_size for each in infos), sum(each.compress_size for each in infos)
        is_bomb = unpacked > _MAX_UNPACKED and unpacked > _MAX_RATIO * max(packed, 1)
        if is_bomb or unpacked > _MAX_ALL or len(infos) > _MAX_PARTS:
            raise FileError(name, Text("It unpacks to much more than a table would need."))
        self._infos = {each.filename.replace("\\", "/").lower(): each for each in infos}
        self._fraction = size / max(unpacked, 1)

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._infos

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relationships of a part by their ids; `""` is the whole file. Raises as `parsed`."""
        folder, name = posixpath.split(part)
        found: dict[str, Relation] = {}

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "Relationship" and attributes.get("TargetMode") != "External":
                target = unquote(attributes["Target"]).replace("\\", "/")
                kind = attributes["Type"].rpartition("/")[2]
                found[attributes["Id"]] = Relation(kind, posixpath.normpath(posixpath.join("/", folder, target))[1:])
                if len(found) > _MAX_RELATIONS:
                    raise FileError(self._name, Text("It has more parts than a table would need."))

        parser = Parser(self._name)
        parser.on_start = start
        self.parse(f"{folder}/_rels/{name}.rels".lstrip("/"), parser)
        return found

    def parse(self, part: str, parser: Parser) -> None:
        """Parse a part that is no table. Raises as `parsed`."""
        for _ in self.parsed(part, parser):
            pass

    def parsed(self, part: str, parser: Parser, *, is_table: bool = False) -> Iterator[None]:
        """Parse a part up to its end, or until the parser is done; yield after each piece.

        A table may have any size, if each of its rows is short. Raises FileError, expat.ExpatError, OSError, and
        KeyError for a missing part.
        """
        info = self._infos[part.lower()]
        if info.file_size > _MAX_PART and not is_table:
            raise FileError(self._name, Text("Its part {part} is too large.", part=info.filename))
        with self._archive.open(info) as stream:
            while not parser.is_done:
                data = stream.read(_PIECE)
                self._progress(round(len(data) * self._fraction))
                parser.feed(data, _MAX_ITEM if is_table else _MAX_PART)
                yield


#: Shared texts, which are kept in memory, and their characters.
_MAX_TEXTS, _MAX_SIZE = 4_000_000, 128 * 1024 * 1024
#: Formats, and characters of a format and of a number.
_MAX_FORMATS, _MAX_CODE, _MAX_NUMBER = 100_000, 255, 50
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_ZEROS = re.compile("0+")
#: The formats of dates and times that Excel does not describe in the file, by number.
_BUILT_IN = {
    **dict.fromkeys([*range(14, 18), 22, *range(27, 37), *range(50, 59)], "yyyy"),
    **dict.fromkeys([*range(18, 22), 45, 47], "h:mm"),
    46: "[h]:mm",
}
#: Texts, colours and conditions in a format, and what is only as wide as a letter.
_LITERAL = re.compile(r'"[^"]*"|\\.|[_*].|\[(?!hh?\]|mm?\]|ss?\])[^][]*\]', re.IGNORECASE)
#: The day 0 of dates, by whether the workbook counts from 1904; the other workbooks count a day too many in 1900.
_EPOCHS = {False: dt.datetime(1899, 12, 30), True: dt.datetime(1904, 1, 1)}  # noqa: DTZ001 - Excel knows no time zone
_LEAP_DAY = 60


class CellFormats:
    """The formats of numbers, by which dates are known."""

    def __init__(self, *, has_1904: bool) -> None:
        self._has_1904 = has_1904
        self._codes: list[str] = []

    def read(self, parts: Parts, part: str, name: str) -> None:
        """Read the part of styles. Raises FileError, OSError, and what a damaged workbook raises."""
        parser = Parser(name)
        codes: dict[int, str] = {}
        is_used = False

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal is_used
            if tag == "numFmt" and not is_used:
                codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")[:_MAX_CODE]
            elif tag == "cellXfs":
                is_used = True
            elif tag == "xf" and is_used:
                number = int(attributes.get("numFmtId", 0))
                self._codes.append(codes[number] if number in codes else _BUILT_IN.get(number, ""))
            if len(self._codes) + len(codes) > _MAX_FORMATS:
                raise FileError(name, Text("It has more formats than a table would need."))

        def end(tag: str) -> None:
            parser.is_done = tag == "cellXfs"

        parser.on_start, parser.on_end = start, end
        parts.parse(part, parser)

    def text(self, value: str, style: str) -> str:
        """Return the text of a number in a style."""
        at = int(style) if style.isdigit() else 0
        code = self._codes[at] if at < len(self._codes) else ""
        if len(value) > _MAX_NUMBER:
            return value
        try:
            return _number(value, code) if not _is_date(code) else self._date(float(value), code)
        except (ValueError, OverflowError):  # infinite, or a date beyond the year 9999
            return value

    def _date(self, days: float, code: str) -> str:
        time = dt.timedelta(milliseconds=round(days * 86_400_000))
        if "[" in _LITERAL.sub("", code):
            hours, seconds = divmod(round(time.total_seconds()), 3600)
            return f"{hours}:{seconds // 60:02}:{seconds % 60:02}"
        if 0 < days < _LEAP_DAY and not self._has_1904:
            time += dt.timedelta(days=1)
        moment = _EPOCHS[self._has_1904] + time
        text = moment.isoformat(" ").removesuffix(" 00:00:00")
        return text if days >= 1 or self._has_1904 else moment.time().isoformat()


def _number(value: str, code: str) -> str:
    if not value.removeprefix("-").isdigit():
        number = float(value)
        if number != int(number):
            return str(number)
        value = str(int(Decimal(repr(number))))  # the digits that identify it, as Excel shows; int() adds others
    return str(int(value)).zfill(len(code) if _ZEROS.fullmatch(code) else 0)


@lru_cache(maxsize=1024)
def _is_date(code: str) -> bool:
    return any(letter in "dmyhs" for letter in _LITERAL.sub("", code).partition(";")[0].lower())


def unescaped(text: str) -> str:
    """Return a text without the escapes of characters that XML cannot hold, `_x0000_`."""
    if "_x" not in text:
        return text
    if text == "_xFEFF_":  # what PlantDesk 0.1 wrote for an empty text
        return ""
    halves = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shared_texts(parts: Parts, part: str, name: str) -> list[str]:
    """Return the texts that cells name by number. Raises FileError, OSError, and what a damaged workbook raises."""
    parser = Parser(name)
    reader = TextReader(parser)
    texts: list[str] = []
    size = 0

    def end(tag: str) -> None:
        nonlocal size
        reader.end(tag)
        if tag == "si":
            parser.end_item()
            texts.append(reader.text())
            size += len(texts[-1])
            if len(texts) > _MAX_TEXTS or size > _MAX_SIZE:
                raise FileError(name, Text("It has more texts than a table would need."))

    parser.on_start, parser.on_end = reader.start, end
    for _ in parts.parsed(part, parser, is_table=True):
        pass
    return texts


class TextReader:
    """The text of an item: its own, and those of its runs, but no phonetic guide."""

    def __init__(self, parser: Parser) -> None:
        self._parser, self._found, self._is_guide = parser, [""], False

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        """Begin an element."""
        if tag == "t":
            self._parser.texts.clear()
        elif tag == "rPh":
            self._is_guide = True

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "t" and not self._is_guide:
            self._found += self._parser.texts
        elif tag == "rPh":
            self._is_guide = False

    def text(self) -> str:
        """Return the text since the last call."""
        text = unescaped("".join(self._found))
        self._found.clear()
        return text


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
    """The first sheet of a workbook; `others` are the rows of each other one."""

    layout = None

    def __init__(self, rows: Iterator[Row], others: Iterable[Iterator[Row]], name: str) -> None:
        self._rows, self._others, self._name = rows, others, name
        #: Sheets that are not read and have a text, known after `batches`.
        self.other_tables = 0

    def batches(self) -> Iterator[Batch]:
        """Yield all rows with a text, at least one. Raises FileError and OSError."""
        with _malformed(self._name):
            first = next(self._rows, None)
            if first is None:
                raise FileError(self._name, Text("Its first sheet is empty."))
            rows = itertools.chain([first], self._rows)
            while batch := [*_first_rows(rows)]:
                lines, cells, formulas = zip(*batch, strict=True)
                unsaved = {line: columns for line, columns in zip(lines, formulas, strict=True) if columns}
                yield Batch(lines, [*cells], is_sheet=True, formulas=unsaved)
            self.other_tables = sum(map(_has_rows, self._others))


def _has_rows(sheet: Iterator[Row]) -> bool:
    """Return whether a sheet has a text; True if it cannot be read."""
    try:
        return any(sheet)
    except (FileError, *_MALFORMED):
        return True


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
            reason = Text("It has a password, or is an old workbook (.xls). Save it as .xlsx without a password.")
            raise FileError(name, reason)
        if not begin:
            raise FileError(name, Text("It is empty (0 bytes), not an Excel workbook. Save it or copy it again."))
        if begin != _ZIP:
            raise FileError(name, Text("It is not an Excel workbook (.xlsx)."))
        with _malformed(name):
            parts = Parts(stream, name, size, progress)
            book = _Book(parts, name)
            texts = shared_texts(parts, book.texts, name) if book.texts in parts else []
        sheets = (_rows(parts, sheet, _Sheet(name, texts, book.formats)) for sheet in book.sheets)
        yield WorkbookTable(itertools.dropwhile(lambda row: row[0] <= skipped, next(sheets)), sheets, name)


@contextmanager
def _malformed(name: str) -> Iterator[None]:
    try:
        yield
    except _MALFORMED as error:
        reason = Text("It is a damaged Excel workbook, or another file that is named like one.")
        raise FileError(name, reason) from error


class _Book:
    """The workbook's own part, which names the others."""

    def __init__(self, parts: Parts, name: str) -> None:
        """Raises KeyError if there is no sheet; the part of the shared texts may be missing."""
        self._ids: list[str] = []
        self._has_1904 = False
        main = {each.kind: each.target for each in parts.relations("").values()}["officeDocument"]
        parser = Parser(name)
        parser.on_start, parser.on_end = self._start, lambda tag: setattr(parser, "is_done", tag == "sheets")
        parts.parse(main, parser)
        relations = parts.relations(main)
        kinds = {each.kind: each.target for each in relations.values()}
        sheets = (relations[each] for each in self._ids if each in relations)
        self.sheets = [*dict.fromkeys(each.target for each in sheets if each.kind == "worksheet")]
        if not self.sheets:
            raise KeyError("worksheet")
        self.texts = kinds.get("sharedStrings", "xl/sharedStrings.xml")
        self.formats = CellFormats(has_1904=self._has_1904)
        if kinds.get("styles", "") in parts:
            self.formats.read(parts, kinds["styles"], name)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "workbookPr":
            self._has_1904 = attributes.get("date1904") in {"1", "true"}
        elif tag == "sheet":
            self._ids += (value for key, value in attributes.items() if key.endswith(":id"))


def _rows(parts: Parts, part: str, sheet: _Sheet) -> Iterator[Row]:
    """Yield the rows of a sheet with a text."""
    for _ in parts.parsed(part, sheet, is_table=True):
        yield from sheet.rows
        sheet.rows.clear()


class _Sheet(Parser):
    """Collects the rows of a sheet."""

    def __init__(self, name: str, texts: list[str], formats: CellFormats) -> None:
        super().__init__(name)
        self.on_start, self.on_end = self._start_element, self._end_element
        #: The rows that are complete, without those that have no text.
        self.rows: list[Row] = []
        self._shared, self._formats = texts, formats
        self._inline = TextReader(self)
        self._columns: dict[str, int] = {}
        self._row: list[str | None] = []
        self._formulas: list[int] = []
        self._is_formula = False
        self._count = self._number = self._column = 0
        self._kind, self._style, self._value = "", "", ""

    def _start_row(self, number: str | None) -> None:
        self._number = self._number + 1 if number is None else int(number)
        self._count += 1
        if not max(self._number, self._count) <= _MAX_ROWS or self._number < 1:
            raise FileError(self._name, Text("It has more than {count:,} rows.", count=_MAX_ROWS))
        self._column = -1

    def _end_row(self) -> None:
        if any(self._row) or self._formulas:
            self.rows.append((self._number, self._row, self._formulas))
        self._row, self._formulas = [], []

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "c":
            reference = attributes.get("r")
            self._column = self._column + 1 if reference is None else self._column_of(reference.rstrip(_DIGITS))
            self._kind, self._style, self._value = attributes.get("t", "n"), attributes.get("s", "0"), ""
            self._is_formula = False
            self._cell_depth = self._depth
        elif tag == "f":
            self._is_formula = True
        elif tag == "v" and self._depth == self._cell_depth + 1:  # not that of an extension
            self.texts.clear()
        elif tag == "row":
            self._start_row(attributes.get("r"))
        else:
            self._inline.start(tag, attributes)

    def _end_element(self, tag: str) -> None:
        if tag == "c":
            text = self._text()
            if text is None and self._is_formula and self._kind != "str":  # which may be empty
                self._formulas.append(self._column)
            self._put(text)
        elif tag == "v" and self._depth == self._cell_depth:
            self._value = "".join(self.texts)
        elif tag == "row":
            self.end_item()
            self._end_row()
        elif tag == "sheetData":
            self.is_done = True
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
                if "-" in number:  # a list would count from its end
                    raise IndexError(number)
                text = self._shared[int(number)]
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
                raise FileError(self._name, Text("It has more than {count:,} columns.", count=_MAX_COLUMNS))
            self._columns[letters] = column
        return column
