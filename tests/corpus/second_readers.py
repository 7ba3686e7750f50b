"""Reads files as other programs do: by python-calamine, and by Python's csv and json."""

import csv
import datetime as dt
import io
import json
from pathlib import Path

from python_calamine import CalamineWorkbook, SheetTypeEnum

Rows = list[list[str]]

_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "none": "\x1f"}


def rows_of(file: Path, reader: str) -> Rows:
    """Return the rows of a table that are not blank, read by `calamine` or `csv ENCODING DELIMITER`."""
    kind, *options = reader.split()
    rows = _sheet(file) if kind == "calamine" else _delimited(file, *options)
    return [row for row in rows if any(cell.strip() for cell in row)]


def objects_of(file: Path, reader: str) -> list[dict[str, object]]:
    """Return the objects of a JSON or JSON Lines file."""
    text = file.read_text(encoding="utf-8-sig")
    found = json.loads(text) if reader == "json" else [json.loads(line) for line in text.splitlines() if line.strip()]
    return [each for each in found if isinstance(each, dict)]


def _sheet(file: Path) -> Rows:
    with CalamineWorkbook.from_path(str(file)) as book:
        first = next(each.name for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet)
        rows = book.get_sheet_by_name(first).to_python(skip_empty_area=False)
    return [[_shown(cell) for cell in row] for row in rows]


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).upper()
        case float() if value == int(value):
            return str(int(value))
        case dt.datetime():
            return value.isoformat(" ").removesuffix(" 00:00:00")
        case dt.timedelta():
            hours, seconds = divmod(round(value.total_seconds()), 3600)
            return f"{hours}:{seconds // 60:02}:{seconds % 60:02}"
    return str(value)


def _delimited(file: Path, encoding: str, delimiter: str) -> Rows:
    csv.field_size_limit(2**24)
    text = file.read_bytes().decode(encoding)
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=_DELIMITERS[delimiter])]
