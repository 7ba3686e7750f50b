"""Writes an Excel workbook (.xlsx) with one sheet, row by row."""

from __future__ import annotations

import re
import zipfile
from typing import IO, TYPE_CHECKING
from xml.sax.saxutils import escape

from plantdesk.domain.errors import PlantDeskError
from plantdesk.transfer.formats import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plantdesk.transfer.writing import Values

#: What an Excel sheet and cell hold, and digits of a number that Excel keeps exactly.
_MAX_ROWS, _MAX_TEXT, _MAX_DIGITS = 1_048_576, 32_767, 15
#: Bytes of a part without ZIP64, of which Excel warns.
_MAX_SIZE = 2**31 - 2**20
#: Characters that XML cannot hold, and what would be read as one of them; Excel escapes both.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
#: Characters of an escaped one.
_ESCAPE = 7
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


class WorkbookLimitError(PlantDeskError):
    """The export exceeds the limits of Excel."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Export as CSV for Excel instead.")


def fitting(batches: Iterable[Sequence[Values]]) -> Iterator[Sequence[Values]]:
    """Yield plants again. Raises WorkbookLimitError for one that does not fit in a sheet."""
    number = 1
    for batch in batches:
        if number + len(batch) > _MAX_ROWS:
            raise WorkbookLimitError(f"An Excel sheet has room for {_MAX_ROWS - 1:,} plants.")
        for row, values in enumerate(batch, number + 1):
            long = [field for field, text in zip(FIELDS[1:], values[1:], strict=True) if _is_too_long(text)]
            if long:
                reason = f"The {long[0]} of plant {values[0]}, row {row:,}, is longer than the {_MAX_TEXT:,} characters"
                raise WorkbookLimitError(f"{reason} of an Excel cell.")
        number += len(batch)
        yield batch


def _is_too_long(text: str | None) -> bool:
    return text is not None and len(text) > _MAX_TEXT // _ESCAPE and len(_escaped(text)) > _MAX_TEXT


def write_workbook(stream: IO[bytes], batches: Iterable[Sequence[Values]]) -> None:
    """Write a workbook with one sheet. Raises WorkbookLimitError, OSError."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, _XML + content)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write((_BEGIN + _row(1, map(_cell, FIELDS))).encode())
            number, size = 1, 0
            for batch in fitting(batches):
                rows = [_row(at, _plant_cells(values)) for at, values in enumerate(batch, number + 1)]
                number += len(rows)
                data = "".join(rows).encode()
                size += len(data)
                if size > _MAX_SIZE:
                    raise WorkbookLimitError("The sheet would be larger than 2 GB.")
                sheet.write(data)
            sheet.write(_END.encode())


def _row(number: int, cells: Iterable[str]) -> str:
    """Return a row; the cells begin with their attributes, and are empty where there is none."""
    filled = (f'<c r="{letter}{number}"{cell}</c>' for letter, cell in zip("ABCDEF", cells, strict=True) if cell)
    return f'<row r="{number}">{"".join(filled)}</row>'


def _plant_cells(values: Values) -> list[str]:
    plant_id, *texts = values
    is_exact = len(str(abs(plant_id))) <= _MAX_DIGITS
    cells = ["" if text is None else _cell(text) for text in texts]
    return [f"><v>{plant_id}</v>" if is_exact else _cell(str(plant_id)), *cells]


def _escaped(text: str) -> str:
    return _UNFIT.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def _cell(text: str) -> str:
    """Return a cell with a text, which a formula never is; an empty text is no empty cell."""
    escaped = _escaped(text)
    return f' t="inlineStr"><is><t xml:space="preserve">{escape(escaped)}</t></is>'
