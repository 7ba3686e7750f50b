"""Reads Excel workbooks (.xlsx, .xlsm): the first sheet row by row; only the texts that cells share are kept.

The XML of the ZIP file is parsed piece by piece, with limits on all that a file can claim. Cells are read as shown, as
far as a plant may need it.
"""

from __future__ import annotations

import datetime as dt
import itertools
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import IO
from urllib.parse import unquote
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from plantdesk.domain.texts import Text
from plantdesk.transfer.columns import column_letters
from plantdesk.transfer.tables import Batch, Row, batched
from plantdesk.transfer.text import FileError

#: Unpacked bytes of a part other than a sheet and the shared texts.
_MAX_PART_BYTES = 16 * 1024 * 1024
#: Unpacked bytes of all parts.
_MAX_UNPACKED_BYTES = 4 * 1024**3
_MAX_PARTS = 10_000
#: Unpacked bytes above which the ratio of packing is limited.
_MIN_BYTES_FOR_RATIO_CHECK = 64 * 1024 * 1024
#: A ratio of packing that no table reaches.
_MAX_PACKING_RATIO = 150
#: Unpacked bytes of a row or shared text.
_MAX_ITEM_BYTES = 2 * 1024 * 1024
#: Levels of elements.
_MAX_DEPTH = 100
_READ_SIZE = 65_536
#: Shared texts; they are kept in memory.
_MAX_SHARED_TEXTS = 4_000_000
#: Characters of all shared texts.
_MAX_SHARED_CHARACTERS = 128 * 1024 * 1024
#: Number formats.
_MAX_FORMATS = 100_000
#: Characters of a number format.
_MAX_FORMAT_LENGTH = 255
#: Characters of a number.
_MAX_NUMBER_LENGTH = 50
_ESCAPED_CHARACTER = re.compile("_x([0-9A-Fa-f]{4})_")
_ONLY_ZEROS = re.compile("0+")
#: The built-in formats of dates and times by number; a file does not have their codes.
_BUILT_IN_FORMATS = {
    **dict.fromkeys([*range(14, 18), 22, *range(27, 37), *range(50, 59)], "yyyy"),
    **dict.fromkeys([*range(18, 22), 45, 47], "h:mm"),
    46: "[h]:mm",
}
#: The parts of a format without placeholders: quoted texts, escapes, padding, colours and conditions.
_FORMAT_LITERAL = re.compile(r'"[^"]*"|\\.|[_*].|\[(?!hh?\]|mm?\]|ss?\])[^][]*\]', re.IGNORECASE)
#: Day 0 of dates in a workbook that counts from 1900, with a 29 February 1900, and in one that counts from 1904.
_EPOCH_1900 = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - Excel knows no time zone
_EPOCH_1904 = dt.datetime(1904, 1, 1)  # noqa: DTZ001
_LEAP_DAY = 60
_NO_VALUE = Text(
    "Cell {cell} has a formula and no value. Open the file in a spreadsheet program and save it; then import it again."
)
#: Rows and columns of an Excel sheet.
_MAX_ROWS = 1_048_576
_MAX_COLUMNS = 16_384
#: Characters that a cell adds to the size of a batch.
_CELL_OVERHEAD = 10
#: The exceptions that reading a damaged workbook, or another file, may raise.
_MALFORMED = (
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    KeyError,
    IndexError,
    ValueError,
    EOFError,
    NotImplementedError,  # a compression that the standard library lacks
    RuntimeError,  # a password
)
#: The first bytes of a workbook.
_ZIP_SIGNATURE = b"PK\x03\x04"
#: The first bytes of an old or encrypted workbook.
_XLS_SIGNATURE = b"\xd0\xcf\x11\xe0"
_DIGITS = "0123456789"


class _Parts:
    """The XML files in the ZIP archive of a workbook. `progress` is called with the packed bytes of each read."""

    def __init__(self, stream: IO[bytes], name: str, size: int, progress: Callable[[int], None]) -> None:
        """Read the directory of the ZIP archive. Raises zipfile.BadZipFile, and FileError for a ZIP bomb."""
        self._name = name
        self._progress = progress
        self._archive = zipfile.ZipFile(stream)
        infos = self._archive.infolist()
        unpacked = sum(info.file_size for info in infos)
        packed = sum(info.compress_size for info in infos)
        is_bomb = unpacked > _MIN_BYTES_FOR_RATIO_CHECK and unpacked > _MAX_PACKING_RATIO * max(packed, 1)
        if is_bomb or unpacked > _MAX_UNPACKED_BYTES or len(infos) > _MAX_PARTS:
            raise FileError(name, Text("It unpacks to much more than a table would need."))
        self._infos = {info.filename.replace("\\", "/").lower(): info for info in infos}
        self._packed_fraction = size / max(unpacked, 1)

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._infos

    def read_relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the relationships of a part by their ids: the last word of the type, and the target.

        The part `""` is the whole file. Raises the exceptions of `read_elements`.
        """
        folder, name = posixpath.split(part)
        relations: dict[str, tuple[str, str]] = {}
        for element in self.read_elements(f"{folder}/_rels/{name}.rels".lstrip("/"), 2):
            if element.tag == "Relationship" and element.get("TargetMode") != "External":
                target = unquote(element.attrib["Target"]).replace("\\", "/")
                kind = element.attrib["Type"].rpartition("/")[2]
                relations[element.attrib["Id"]] = kind, posixpath.normpath(posixpath.join("/", folder, target))[1:]
        return relations

    def read_elements(self, part: str, depth: int, *, is_table: bool = False) -> Iterator[Element]:
        """Yield the elements down to a depth (1: the root) when they end, without the namespace prefix of the root.

        Children come before their parent, and are removed from it. With `is_table` the part may have any size, if each
        of its rows is short. Raises FileError, ExpatError, OSError, and KeyError for a missing part.
        """
        info = self._infos[part.lower()]
        if info.file_size > _MAX_PART_BYTES and not is_table:
            raise FileError(self._name, Text("Its part {part} is too large.", part=info.filename))
        builder = TreeBuilder()
        parser = expat.ParserCreate()
        top = builder.start("", {})
        parser.buffer_text = True
        # All three are written in C: no Python is executed before a row is complete.
        parser.StartElementHandler = builder.start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = builder.data
        parser.StartDoctypeDeclHandler = self._refuse
        size = 0
        data = b" "
        with self._archive.open(info) as stream:
            while data:
                data = stream.read(_READ_SIZE)
                self._progress(round(len(data) * self._packed_fraction))
                parser.Parse(data, not data)
                size += len(data)
                self._check_depth(top)
                root = next(iter(top), top)
                prefix = root.tag[: root.tag.find(":") + 1]
                for element in _pop_ended(top, depth, is_open=bool(data)):
                    for child in element.iter() if prefix else ():
                        child.tag = child.tag.removeprefix(prefix)
                    yield element
                    size = 0
                if size > _MAX_ITEM_BYTES:
                    text = Text("A row is longer than {longest:,} bytes.", longest=_MAX_ITEM_BYTES)
                    raise FileError(self._name, text)

    def _check_depth(self, element: Element) -> None:
        for _ in range(_MAX_DEPTH):
            if not len(element):
                return
            element = element[-1]
        self._refuse()

    def _refuse(self, *_arguments: object) -> None:
        raise FileError(self._name, Text("It has XML that no workbook needs."))


def _pop_ended(parent: Element, depth: int, *, is_open: bool) -> Iterator[Element]:
    """Yield and remove the ended children, down to a depth; if `is_open`, the last child has not ended."""
    children = parent[:]
    ended = children[:-1] if is_open else children
    for child in children:
        is_last = is_open and child is children[-1]
        if depth > 1:
            yield from _pop_ended(child, depth - 1, is_open=is_last)
        if not is_last:
            yield child
    del parent[: len(ended)]


class _Formats:
    """The number formats of a workbook: they tell dates from numbers."""

    def __init__(self, *, has_1904: bool) -> None:
        self._has_1904 = has_1904
        self._codes: list[str] = []

    def read(self, elements: Iterator[Element], name: str) -> None:
        """Read the part of styles. Raises FileError, OSError, and the exceptions in `_MALFORMED`."""
        codes: dict[int, str] = {}
        for element in elements:
            if element.tag == "numFmt":
                codes[int(element.attrib["numFmtId"])] = element.get("formatCode", "")[:_MAX_FORMAT_LENGTH]
            elif element.tag == "xf":
                number = int(element.get("numFmtId", 0))
                self._codes.append(codes[number] if number in codes else _BUILT_IN_FORMATS.get(number, ""))
            elif element.tag == "cellStyleXfs":  # the formats so far are of named styles, not of cells
                self._codes.clear()
            elif element.tag == "cellXfs":
                return
            if len(self._codes) + len(codes) > _MAX_FORMATS:
                raise FileError(name, Text("It has more formats than a table would need."))

    def format_value(self, value: str, style: str) -> str:
        """Return the text that Excel shows for a number in a cell; `style` is the index of its format."""
        index = int(style) if style.isdigit() else 0
        code = self._codes[index] if index < len(self._codes) else ""
        if len(value) > _MAX_NUMBER_LENGTH:
            return value
        try:
            return _format_number(value, code) if not _is_date(code) else self._format_date(float(value), code)
        except (ValueError, OverflowError):  # infinite, or a date beyond the year 9999
            return value

    def _format_date(self, days: float, code: str) -> str:
        """Return days since the epoch as a duration, a date or a time of day, depending on the code of the format."""
        time = dt.timedelta(milliseconds=round(days * 86_400_000))
        if "[" in _FORMAT_LITERAL.sub("", code):
            hours, seconds = divmod(round(time.total_seconds()), 3600)
            return f"{hours}:{seconds // 60:02}:{seconds % 60:02}"
        if 0 < days < _LEAP_DAY and not self._has_1904:
            time += dt.timedelta(days=1)
        moment = (_EPOCH_1904 if self._has_1904 else _EPOCH_1900) + time
        text = moment.isoformat(" ").removesuffix(" 00:00:00")
        return text if days >= 1 or self._has_1904 else moment.time().isoformat()


def _format_number(value: str, code: str) -> str:
    if not value.removeprefix("-").isdigit():
        number = float(value)
        if number != int(number):
            return str(number)
        value = str(int(Decimal(repr(number))))  # the shortest digits, as Excel shows them; int() adds others
    return str(int(value)).zfill(len(code) if _ONLY_ZEROS.fullmatch(code) else 0)


@lru_cache(maxsize=1024)
def _is_date(code: str) -> bool:
    return any(letter in "dmyhs" for letter in _FORMAT_LITERAL.sub("", code).partition(";")[0].lower())


def _unescape(text: str) -> str:
    """Return a text without the escapes of characters that XML cannot hold, `_x0000_`."""
    if "_x" not in text:
        return text
    if text == "_xFEFF_":  # PlantDesk 0.1 wrote this for an empty text
        return ""
    halves = _ESCAPED_CHARACTER.sub(lambda match: chr(int(match[1], 16)), text)
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@contextmanager
def _convert_malformed_errors(name: str) -> Iterator[None]:
    try:
        yield
    except _MALFORMED as error:
        reason = Text("It is a damaged Excel workbook, or another file that is named like one.")
        raise FileError(name, reason) from error


class WorkbookTable:
    """The first sheet of a workbook, without its first `skipped` rows."""

    is_sheet = True

    def __init__(
        self, stream: IO[bytes], name: str, size: int, progress: Callable[[int], None], skipped: int = 0
    ) -> None:
        """Read all but the sheets. `progress` is called with the bytes of each read. Raises FileError and OSError."""
        #: The number of other sheets with a text; they are not read. Known after `read_batches`.
        self.other_tables = 0
        self._name = name
        self._skipped = skipped
        _check_signature(stream, name)
        with _convert_malformed_errors(name):
            self._parts = parts = _Parts(stream, name, size, progress)
            book_part = dict(parts.read_relations("").values())["officeDocument"]
            relations = parts.read_relations(book_part)
            sheets = self._read_book(book_part)
            targets = (relations[sheet] for sheet in sheets if sheet in relations)
            self._sheets = [*dict.fromkeys(target for kind, target in targets if kind == "worksheet")]
            if not self._sheets:
                raise KeyError("worksheet")
            kinds = dict(relations.values())
            if kinds.get("styles", "") in parts:
                self._formats.read(parts.read_elements(kinds["styles"], 3), name)
            texts = kinds.get("sharedStrings", "xl/sharedStrings.xml")
            self._texts = self._read_shared_texts(texts) if texts in parts else []

    def read_batches(self) -> Iterator[Batch]:
        """Yield the rows that have a text, in batches. Raises FileError, also if there is no such row, and OSError."""
        first_sheet, *other_sheets = self._sheets
        with _convert_malformed_errors(self._name):
            rows = itertools.dropwhile(lambda row: row.line <= self._skipped, self._read_rows(first_sheet))
            first_rows = [*itertools.islice(rows, 1)]
            if not first_rows:
                raise FileError(self._name, Text("Its first sheet is empty."))
            yield from batched((row, _CELL_OVERHEAD * len(row.cells)) for row in itertools.chain(first_rows, rows))
            self.other_tables = sum(map(self._has_rows, other_sheets))
            self._texts.clear()  # an import keeps the table to its end

    def _read_book(self, part: str) -> list[str]:
        """Return the ids of the sheets, and set `_formats`, which needs to know from which year dates count."""
        ids = list[str]()
        has_1904 = False
        for element in self._parts.read_elements(part, 3):
            if element.tag == "workbookPr":
                has_1904 = element.get("date1904") in {"1", "true"}
            elif element.tag == "sheet":
                ids += (value for key, value in element.items() if key.endswith(":id"))
            elif element.tag == "sheets":
                break
        self._formats = _Formats(has_1904=has_1904)
        return ids

    def _read_shared_texts(self, part: str) -> list[str]:
        """Return the shared texts; cells refer to them by number."""
        texts = list[str]()
        size = 0
        for item in self._parts.read_elements(part, 2, is_table=True):
            if item.tag == "si":
                texts.append(_read_item_text(item))
                size += len(texts[-1])
                if len(texts) > _MAX_SHARED_TEXTS or size > _MAX_SHARED_CHARACTERS:
                    raise FileError(self._name, Text("It has more texts than a table would need."))
        return texts

    def _has_rows(self, sheet: str) -> bool:
        """Return whether a sheet has a text; True if it cannot be read."""
        try:
            return any(self._read_rows(sheet))
        except (FileError, *_MALFORMED):
            return True

    def _read_rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that have a text, or a formula without a value."""
        number = 0
        for element in self._parts.read_elements(sheet, 3, is_table=True):
            if element.tag == "sheetData":
                return
            if element.tag == "row":
                number = int(element.get("r", number + 1))
                if not 1 <= number <= _MAX_ROWS:
                    raise FileError(self._name, Text("It has more than {count:,} rows.", count=_MAX_ROWS))
                row = self._parse_row(number, element)
                if any(row.cells) or row.unfit:
                    yield row

    def _parse_row(self, number: int, element: Element) -> Row:
        """Convert the XML element of a row. A formula without a value becomes an unfit cell, refused if it is read."""
        cells = list[str | None]()
        formulas = dict[int, Text]()
        column = -1
        for cell in element.findall("c"):
            reference = cell.get("r")
            column = column + 1 if reference is None else _parse_column(reference.rstrip(_DIGITS))
            if not 0 <= column < _MAX_COLUMNS:
                raise FileError(self._name, Text("It has more than {count:,} columns.", count=_MAX_COLUMNS))
            kind = cell.get("t", "n")
            text = self._read_text(cell, kind)
            if text is not None:
                cells += [None] * (column - len(cells) + 1)
                cells[column] = text
            elif kind != "str" and cell.find("f") is not None:  # a text may be empty
                formulas[column] = _NO_VALUE.filled(cell=f"{column_letters(column)}{number}")
        return Row(number, cells, None, formulas)

    def _read_text(self, cell: Element, kind: str) -> str | None:
        """Return the text of a cell, by the type in its attribute `t`; None if it is empty."""
        text: str | None
        match kind, cell.findtext("v"):
            case "inlineStr", _:
                item = cell.find("is")
                text = "" if item is None else _read_item_text(item)
            case _, None | "":
                text = None
            case "s", number:
                if "-" in number:  # a list would count from its end
                    raise IndexError(number)
                text = self._texts[int(number)]
            case "str" | "e", value:
                text = _unescape(value)
            case "b", value:
                text = "FALSE" if value == "0" else "TRUE"
            case "d", value:
                text = value.replace("T", " ").removesuffix("Z").removesuffix(" 00:00:00")
            case _, value:  # "n" or unknown
                text = self._formats.format_value(value, cell.get("s", "0"))
        return text


@lru_cache(maxsize=1024)
def _parse_column(letters: str) -> int:
    """Return the position of a column by its letters, from 0. Other characters give any number; none is refused."""
    column = -1
    for letter in letters.upper()[:4]:
        column = 26 * (column + 1) + ord(letter) - ord("A")
    return column


def _check_signature(stream: IO[bytes], name: str) -> None:
    """Raise FileError for a file that does not begin as a workbook."""
    stream.seek(0)
    signature = stream.read(4)
    stream.seek(0)
    if signature == _XLS_SIGNATURE:
        reason = Text("It has a password, or is an old workbook (.xls). Save it as .xlsx without a password.")
        raise FileError(name, reason)
    if not signature:
        raise FileError(name, Text("It is empty (0 bytes), not an Excel workbook. Save it or copy it again."))
    if signature != _ZIP_SIGNATURE:
        raise FileError(name, Text("It is not an Excel workbook (.xlsx)."))


def _read_item_text(item: Element) -> str:
    """Return the text of an item, or of its runs, without phonetic guides."""
    text = item.findtext("t")
    return _unescape("".join([run.findtext("t", "") for run in item.findall("r")]) if text is None else text)
