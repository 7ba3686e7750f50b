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

_encode_json = json.JSONEncoder(ensure_ascii=False).encode
#: The most rows of an Excel sheet.
_MAX_ROWS = 1_048_576
#: The most characters of an Excel cell.
_MAX_CELL_LENGTH = 32_767
#: The most digits of a number that Excel keeps exactly.
_MAX_DIGITS = 15
#: The most bytes of a part without ZIP64; Excel warns of ZIP64.
_MAX_SHEET_BYTES = 2**31 - 2**20
#: Characters that XML cannot hold, and texts that look like the escape of one; Excel escapes both.
_UNFIT_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_COLUMN_WIDTHS = (12, 40, 18, 40, 26, 20)
_MAIN_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS_NAMESPACE = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_CONTENT_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_CONTENT_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_RELATIONS_NAMESPACE}"><Relationship Id="rId1"'
    f' Type="{_DOCUMENT_NAMESPACE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN_NAMESPACE}" xmlns:r="{_DOCUMENT_NAMESPACE}"><sheets>'
    '<sheet name="Plants" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS_NAMESPACE}"><Relationship Id="rId1"'
    f' Type="{_DOCUMENT_NAMESPACE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
_SHEET_START = (
    f'{_XML_DECLARATION}<worksheet xmlns="{_MAIN_NAMESPACE}"><sheetViews><sheetView tabSelected="1" workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>'
    + "".join(
        f'<col min="{n}" max="{n}" width="{width}" customWidth="1"/>' for n, width in enumerate(_COLUMN_WIDTHS, 1)
    )
    + "</cols><sheetData>"
)
_SHEET_END = "</sheetData></worksheet>"
_READ_SIZE = 65_536


def text_pieces(batches: Iterator[list[PlantRow]], file_format: Format) -> Iterator[str]:
    """Yield the text of a file with these plants, line breaks included."""
    match file_format:
        case Format.JSON:
            return _format_array(",\n".join(map(_format_object, batch)) for batch in batches)
        case Format.JSON_LINES:
            return ("".join(f"{_format_object(row)}\n" for row in batch) for batch in batches)
        case Format.EXCEL:
            return itertools.chain("\ufeff", _format_rows(batches, ",", _quote_excel_cell))
        case _:
            return _format_rows(batches, "\t" if file_format is Format.TSV else ",", _quote_cell)


def _format_rows(
    batches: Iterator[list[PlantRow]], delimiter: str, quote: Callable[[str | None], str]
) -> Iterator[str]:
    yield delimiter.join(EXPORTED_FIELDS) + "\r\n"
    for batch in batches:
        yield "".join(
            f"{row.id}{delimiter}{quote(row.name)}{delimiter}{quote(row.tag)}{delimiter}{quote(row.note)}{delimiter}"
            f"{_format_time(row.added_at)}{delimiter}{quote(_format_source(row.source))}\r\n"
            for row in batch
        )


def _quote_cell(text: str | None) -> str:
    return "" if text is None else '"' + text.replace('"', '""') + '"'


def _quote_excel_cell(text: str | None) -> str:
    return _quote_cell(f"'{text}" if text is not None and text.startswith(FORMULA_STARTS) else text)


def _format_array(texts: Iterator[str]) -> Iterator[str]:
    separator = "[\n"
    for text in texts:
        yield separator + text
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _format_object(row: PlantRow) -> str:
    tag = "" if row.tag is None else f', "tag": {_encode_json(row.tag)}'
    note = "" if row.note is None else f', "note": {_encode_json(row.note)}'
    origin = f'"added_at": "{_format_time(row.added_at)}", {_format_source_members(row.source)}'
    return f'{{"id": {row.id}, "name": {_encode_json(row.name)}{tag}{note}, {origin}}}'


@lru_cache(maxsize=64)
def _format_source_members(source: Source) -> str:
    members = {"source": _format_source(source), "source_kind": source.kind}
    return _encode_json(members | ({"source_name": source.label} if source.label else {}))[1:-1]


def _format_source(source: Source) -> str:
    return f"{source.kind} {source.label}" if source.label else str(source.kind)


@lru_cache(maxsize=1024)  # an import gives all its plants the same
def _format_time(timestamp: int) -> str:
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
            archive.writestr(name, _XML_DECLARATION + content)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write((_SHEET_START + _format_row(1, EXPORTED_FIELDS)).encode())
            number = 1
            size = 0
            for batch in batches:
                if number + len(batch) > _MAX_ROWS:
                    raise WorkbookLimitError(Text("An Excel sheet has room for {count:,} plants.", count=_MAX_ROWS - 1))
                rows = (_format_row(row, _list_values(plant)) for row, plant in enumerate(batch, number + 1))
                data = "".join(rows).encode()
                number += len(batch)
                size += len(data)
                if size > _MAX_SHEET_BYTES:
                    raise WorkbookLimitError(Text("The sheet would be larger than 2 GB."))
                sheet.write(data)
            sheet.write(_SHEET_END.encode())


def _list_values(plant: PlantRow) -> Sequence[int | str | None]:
    """Return the cells of a plant; an ID with more digits than Excel keeps is a text."""
    plant_id = plant.id if len(str(abs(plant.id))) <= _MAX_DIGITS else str(plant.id)
    return plant_id, plant.name, plant.tag, plant.note, _format_time(plant.added_at), _format_source(plant.source)


def _format_row(number: int, values: Sequence[int | str | None]) -> str:
    """Return a row; missing cells are left out. A text is never a formula, and an empty one is no empty cell.

    Raises WorkbookLimitError for a text that does not fit in a cell.
    """
    cells = []
    for letter, field, value in zip("ABCDEF", EXPORTED_FIELDS, values, strict=True):
        if isinstance(value, int):
            cells.append(f'<c r="{letter}{number}"><v>{value}</v></c>')
        elif value is not None:
            text = _UNFIT_CHARACTER.sub(lambda match: f"_x{ord(match[0]):04X}_", value)
            if len(text) > _MAX_CELL_LENGTH:
                reason = Text(
                    "The {field} of plant {id}, row {row:,}, is longer than the {longest:,} characters "
                    "of an Excel cell."
                )
                reason = reason.filled(field=field, id=str(values[0]), row=number, longest=_MAX_CELL_LENGTH)
                raise WorkbookLimitError(reason)
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

    def read_pages() -> Iterator[list[PlantRow]]:
        nonlocal count
        for page in reader.pages(selection):
            yield page
            count += len(page)
            progress(count)

    if file_format is Format.XLSX:
        _write_workbook(file, read_pages())
    else:
        with _open_output(file) as write:
            for piece in text_pieces(read_pages(), file_format):
                write(piece)
    return count


def _write_workbook(file: Path, batches: Iterator[list[PlantRow]]) -> None:
    """Write a workbook to a file, or to standard output when it is complete."""
    if str(file) != STANDARD_STREAM:
        with open_target(file) as stream:
            write_workbook(stream, batches)
        return
    if output.is_terminal():
        raise PlantDeskError(Text("An Excel workbook cannot be shown on a terminal. Give the name of a file."))
    with tempfile.TemporaryFile() as buffer:
        write_workbook(buffer, batches)
        buffer.seek(0)
        while piece := buffer.read(_READ_SIZE):
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
