"""Excel workbooks (.xlsx): the first sheet is read and written row by row.

Texts that XML cannot hold are written as Excel does, `_x0000_`; an empty text as `_xFEFF_`, as an empty cell is none.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, cast
from xml.etree.ElementTree import ParseError

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.xml.constants import SHARED_STRINGS
from typing_extensions import override

from plantdesk.errors import PlantDeskError
from plantdesk.transfer.formats import FIELDS
from plantdesk.transfer.tables import Batch
from plantdesk.transfer.text import FileError
from plantdesk.transfer.workbook_parts import Archive, SharedTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from openpyxl.cell.cell import Cell, MergedCell
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

    from plantdesk.transfer.writing import Values

_BATCH = 1000
#: What an Excel sheet and cell hold, and digits of a number that Excel keeps exactly.
_MAX_ROWS, _MAX_TEXT, _MAX_DIGITS = 1_048_576, 32_767, 15
_EMPTY = "_xFEFF_"
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ZEROS = re.compile("0+")
#: What openpyxl raises for a file that is no workbook, or is damaged.
_MALFORMED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    NotImplementedError,
    RuntimeError,  # a password
)


class WorkbookTable:
    """The first sheet of a workbook."""

    def __init__(self, reader: _Reader, name: str) -> None:
        self._reader, self._name = reader, name

    @property
    def layout(self) -> None:
        """None: the layout is found from the rows."""
        return

    def batches(self) -> Iterator[Batch]:
        """Yield all rows from the first that is not blank on. Raises FileError and OSError."""
        with _malformed(self._name):
            numbered = enumerate(map(_texts, self._sheet_rows()), 1)
            rows = itertools.dropwhile(lambda row: not any(row[1]), numbered)
            width = 0
            while batch := [*itertools.islice(rows, _BATCH)]:
                width = width or len(batch[0][1])
                lines, cells = zip(*batch, strict=True)
                yield Batch(lines, [[*row, *(None,) * (width - len(row))] for row in cells])
        if not width:
            raise FileError(self._name, "Its first sheet is empty.")

    def _sheet_rows(self) -> Iterator[Sequence[Cell | MergedCell]]:
        for sheet in self._reader.wb.worksheets[:1]:
            if isinstance(sheet, ReadOnlyWorksheet):
                sheet.reset_dimensions()  # what the file says about them may be wrong
            yield from sheet.iter_rows()


@contextmanager
def opened_workbook(
    stream: IO[bytes], name: str, size: int, progress: Callable[[int], None]
) -> Iterator[WorkbookTable]:
    """Open a workbook; `progress` is called with bytes that were read. Raises FileError and OSError."""
    with tempfile.TemporaryFile() as copy, tempfile.TemporaryFile() as texts_file:
        if not stream.seekable():
            shutil.copyfileobj(stream, copy)
            stream = copy
        with _malformed(name):
            archive = Archive(stream, name, size, progress)
            reader = _Reader(stream, read_only=True, data_only=True, keep_links=False)
            reader.archive.close()
            reader.archive = archive
        try:
            with _malformed(name):
                reader.texts_file = texts_file
                reader.read()
            yield WorkbookTable(reader, name)
        finally:
            archive.close()
            texts: object = reader.shared_strings
            if isinstance(texts, SharedTexts):
                texts.close()


class _Reader(ExcelReader):
    """Keeps the shared texts in `texts_file`."""

    texts_file: IO[bytes]

    @override
    def read_strings(self) -> None:
        for part in self.package.Override:
            if part.ContentType == SHARED_STRINGS:
                with self.archive.open(part.PartName[1:]) as texts:
                    self.shared_strings = cast("list[str]", SharedTexts(texts, self.texts_file))


@contextmanager
def _malformed(name: str) -> Iterator[None]:
    try:
        yield
    except _MALFORMED as error:
        reason = "It is not an Excel workbook (.xlsx), or it is damaged or has a password."
        raise FileError(name, reason) from error


def _texts(cells: Sequence[Cell | MergedCell]) -> list[str | None]:
    return [None if cell.value is None else _text(cell) for cell in cells]


def _text(cell: Cell | MergedCell) -> str:
    """Return the text of a cell as it is shown, as far as a plant may need it."""
    match cell.value:
        case str() as value:
            text = _unescaped(value)
        case bool() as value:
            text = str(value).upper()
        case int() | float() as value if value == int(value):
            zeros = len(cell.number_format) if _ZEROS.fullmatch(cell.number_format or "") else 0
            text = str(int(value)).zfill(zeros)
        case datetime() as value:
            text = value.isoformat(" ").removesuffix(" 00:00:00")
        case value:
            text = str(value)
    return text


def _unescaped(text: str) -> str:
    if "_x" not in text:
        return text
    if text == _EMPTY:
        return ""
    halves = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return halves.encode("utf-16", "surrogatepass").decode("utf-16")


# --- writing ---


def write_workbook(stream: IO[bytes], batches: Iterable[Sequence[Values]]) -> None:
    """Write a workbook with one sheet. Raises WorkbookLimitError and OSError."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Plants")
    sheet.freeze_panes = "A2"
    for letter, width in zip("ABCDEF", (12, 40, 18, 40, 26, 20), strict=True):
        sheet.column_dimensions[letter].width = width
    try:
        sheet.append(FIELDS)
        for number, values in enumerate(itertools.chain.from_iterable(batches), 2):
            sheet.append(_cells(sheet, number, values))
    finally:
        book.save(stream)  # also after a failure: it removes openpyxl's temporary file


class WorkbookLimitError(PlantDeskError):
    """The export exceeds the limits of Excel."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Export as CSV for Excel instead.")


def _cells(sheet: WriteOnlyWorksheet, number: int, values: Values) -> list[int | Cell | None]:
    if number > _MAX_ROWS:
        raise WorkbookLimitError(f"An Excel sheet has room for {_MAX_ROWS - 1:,} plants.")
    plant_id, *texts = values
    is_exact = len(str(abs(plant_id))) <= _MAX_DIGITS
    cells = [None if text is None else _cell(sheet, text) for text in texts]
    return [plant_id if is_exact else _cell(sheet, str(plant_id)), *cells]


def _cell(sheet: WriteOnlyWorksheet, text: str) -> Cell:
    """Return a cell with a text that Excel does not take for a formula."""
    escaped = _UNFIT.sub(lambda found: f"_x{ord(found[0]):04X}_", text) or _EMPTY
    if len(escaped) > _MAX_TEXT:
        raise WorkbookLimitError(f"An Excel cell has room for {_MAX_TEXT:,} characters, and a plant has more.")
    cell = WriteOnlyCell(sheet, escaped)
    cell.data_type = "s"
    return cell
