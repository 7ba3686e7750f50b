"""Writes plants as CSV, TSV, JSON or JSON Lines, in pieces of text, or as an Excel workbook with one sheet.

A file is written under a temporary name, and replaces an existing one when it is complete.

CSV quotes every text and leaves a missing one empty, so that no tag (nothing) and an empty tag (`""`) differ, as
PostgreSQL does.
"""

from __future__ import annotations

import itertools
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import IO

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.records import PlantRow, Source, utc_time
from plantdesk.domain.selections import Selection
from plantdesk.domain.texts import Text
from plantdesk.platform import output
from plantdesk.transfer.files import open_target
from plantdesk.transfer.formats import EXPORTED_FIELDS, FORMULA_STARTS, STANDARD_STREAM, Format

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode
#: The most rows of an Excel sheet.
_MAX_ROWS = 1_048_576
#: The most characters of an Excel cell.
_MAX_TEXT = 32_767
#: The most digits of a number that Excel keeps exactly.
_MAX_DIGITS = 15
#: The most bytes of a part without ZIP64; Excel warns of ZIP64.
_MAX_SIZE = 2**31 - 2**20
#: Characters that XML cannot hold, and texts that look like the escape of one; Excel escapes both.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_WIDTHS = (12, 40, 18, 40, 26, 20)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" Type="{_DOCUMENT}/officeDocument"'
    ' Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>'
    '<sheet name="Plants" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1"'
    f' Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
_BEGIN = (
    f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView tabSelected="1" workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>'
    + "".join(f'<col min="{at}" max="{at}" width="{width}" customWidth="1"/>' for at, width in enumerate(_WIDTHS, 1))
    + "</cols><sheetData>"
)
_END = "</sheetData></worksheet>"
_PIECE = 65_536


def text_pieces(batches: Iterator[list[PlantRow]], file_format: Format) -> Iterator[str]:
    """Yield the text of a file with these plants, line breaks included."""
    match file_format:
        case Format.JSON:
            return _framed(",\n".join(map(_object, batch)) for batch in batches)
        case Format.JSON_LINES:
            return ("".join(f"{_object(row)}\n" for row in batch) for batch in batches)
        case Format.EXCEL:
            return itertools.chain("\ufeff", _delimited(batches, ",", _excel_cell))
        case _:
            return _delimited(batches, "\t" if file_format is Format.TSV else ",", _cell)


def _delimited(batches: Iterator[list[PlantRow]], delimiter: str, cell: Callable[[str | None], str]) -> Iterator[str]:
    yield delimiter.join(EXPORTED_FIELDS) + "\r\n"
    for batch in batches:
        yield "".join(
            f"{row.id}{delimiter}{cell(row.name)}{delimiter}{cell(row.tag)}{delimiter}{cell(row.note)}{delimiter}"
            f"{_time(row.added_at)}{delimiter}{cell(_source(row.source))}\r\n"
            for row in batch
        )


def _cell(text: str | None) -> str:
    return "" if text is None else '"' + text.replace('"', '""') + '"'


def _excel_cell(text: str | None) -> str:
    return _cell(f"'{text}" if text is not None and text.startswith(FORMULA_STARTS) else text)


def _framed(texts: Iterator[str]) -> Iterator[str]:
    """Yield objects as an array."""
    separator = "[\n"
    for text in texts:
        yield separator + text
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _object(row: PlantRow) -> str:
    tag = "" if row.tag is None else f', "tag": {_ENCODE(row.tag)}'
    note = "" if row.note is None else f', "note": {_ENCODE(row.note)}'
    origin = f'"added_at": "{_time(row.added_at)}", {_source_members(row.source)}'
    return f'{{"id": {row.id}, "name": {_ENCODE(row.name)}{tag}{note}, {origin}}}'


@lru_cache(maxsize=64)
def _source_members(source: Source) -> str:
    members = {"source": _source(source), "source_kind": source.kind}
    return _ENCODE(members | ({"source_name": source.label} if source.label else {}))[1:-1]


def _source(source: Source) -> str:
    return f"{source.kind} {source.label}" if source.label else str(source.kind)


@lru_cache(maxsize=1024)  # an import gives all its plants the same
def _time(timestamp: int) -> str:
    return utc_time(timestamp).isoformat(timespec="milliseconds")


class WorkbookLimitError(PlantDeskError):
    """The export exceeds the limits of Excel."""

    text = Text("{reason} Export as CSV for Excel instead.")

    def __init__(self, reason: Text) -> None:
        super().__init__(reason=reason)


def write_workbook(stream: IO[bytes], batches: Iterable[Sequence[PlantRow]]) -> None:
    """Write a workbook with one sheet. Raises WorkbookLimitError, OSError."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, _XML + content)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write((_BEGIN + _row(1, EXPORTED_FIELDS)).encode())
            number = 1
            size = 0
            for batch in batches:
                if number + len(batch) > _MAX_ROWS:
                    raise WorkbookLimitError(Text("An Excel sheet has room for {count:,} plants.", count=_MAX_ROWS - 1))
                data = "".join([_row(at, _values(plant)) for at, plant in enumerate(batch, number + 1)]).encode()
                number += len(batch)
                size += len(data)
                if size > _MAX_SIZE:
                    raise WorkbookLimitError(Text("The sheet would be larger than 2 GB."))
                sheet.write(data)
            sheet.write(_END.encode())


def _values(plant: PlantRow) -> Sequence[int | str | None]:
    plant_id = plant.id if len(str(abs(plant.id))) <= _MAX_DIGITS else str(plant.id)
    return plant_id, plant.name, plant.tag, plant.note, _time(plant.added_at), _source(plant.source)


def _row(number: int, values: Sequence[int | str | None]) -> str:
    """Return a row; missing cells are left out. A text is never a formula, and an empty one is no empty cell.

    Raises WorkbookLimitError for a text that does not fit in a cell.
    """
    cells = []
    for letter, field, value in zip("ABCDEF", EXPORTED_FIELDS, values, strict=True):
        if isinstance(value, int):
            cells.append(f'<c r="{letter}{number}"><v>{value}</v></c>')
        elif value is not None:
            text = _UNFIT.sub(lambda match: f"_x{ord(match[0]):04X}_", value)
            if len(text) > _MAX_TEXT:
                reason = Text(
                    "The {field} of plant {id}, row {row:,}, is longer than the {longest:,} characters "
                    "of an Excel cell."
                )
                raise WorkbookLimitError(reason.filled(field=field, id=str(values[0]), row=number, longest=_MAX_TEXT))
            text = f'<is><t xml:space="preserve">{escape(text, quote=False)}</t></is>'
            cells.append(f'<c r="{letter}{number}" t="inlineStr">{text}</c>')
    return f'<row r="{number}">{"".join(cells)}</row>'


def write_plants(
    file: Path, file_format: Format, reader: PlantReader, selection: Selection, progress: Callable[[int], object]
) -> int:
    """Write plants to a file, or to standard output for `-`, in insertion order, and return their number.

    `progress` is called with the number of plants written so far. Raises PlantDeskError and OSError.
    """
    count = 0

    def batches() -> Iterator[list[PlantRow]]:
        nonlocal count
        for page in reader.pages(selection):
            yield page
            count += len(page)
            progress(count)

    if file_format is Format.XLSX:
        _write_workbook(file, batches())
    else:
        with _open_output(file) as write:
            for piece in text_pieces(batches(), file_format):
                write(piece)
    return count


def _write_workbook(file: Path, batches: Iterator[list[PlantRow]]) -> None:
    if str(file) != STANDARD_STREAM:
        with open_target(file) as stream:
            write_workbook(stream, batches)
        return
    if output.is_terminal():
        raise PlantDeskError(Text("An Excel workbook cannot be shown on a terminal. Give the name of a file."))
    with tempfile.TemporaryFile() as copy:
        write_workbook(copy, batches)
        copy.seek(0)
        while piece := copy.read(_PIECE):
            output.write_data(piece)
    output.flush()


@contextmanager
def _open_output(file: Path) -> Iterator[Callable[[str], object]]:
    """Yield the function that writes a piece of text to `file`, or to standard output."""
    if str(file) == STANDARD_STREAM:
        yield output.write_data
        output.flush()
        return
    with open_target(file) as stream:
        yield lambda text: stream.write(text.encode())
