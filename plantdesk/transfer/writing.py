"""Writes plants as CSV, TSV, JSON or JSON Lines, in pieces of text.

CSV quotes every text and leaves a missing one empty, so that no tag (nothing) and an empty tag (`""`) differ, as
PostgreSQL does.
"""

from __future__ import annotations

import itertools
import json
from functools import lru_cache
from typing import TYPE_CHECKING

from plantdesk.domain.records import utc_time
from plantdesk.transfer.formats import FIELDS, Format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from plantdesk.domain.protocols import LinePage
    from plantdesk.domain.records import PlantRow

    #: Of `FIELDS`.
    Values = tuple[int, str, str | None, str | None, str, str]

#: Excel takes a cell that begins with one of these for a formula (OWASP, “CSV Injection”).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
#: The delimiter of each format of plain lines.
DELIMITERS = {Format.CSV: ",", Format.TSV: "\t"}
#: What is between the objects of each format of them.
SEPARATORS = {Format.JSON: ",\n", Format.JSON_LINES: "\n"}
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def pieces(batches: Iterator[list[PlantRow]], form: Format) -> Iterator[str]:
    """Yield the text of a file with these plants, line breaks included."""
    match form:
        case Format.JSON:
            return _framed(",\n".join(map(_object, batch)) for batch in batches)
        case Format.JSON_LINES:
            return ("".join(f"{_object(row)}\n" for row in batch) for batch in batches)
        case Format.EXCEL:
            return itertools.chain("\ufeff", _delimited(batches, ",", _excel_cell))
        case _:
            return _delimited(batches, DELIMITERS[form], _cell)


def csv_pieces(pages: Iterator[LinePage], form: Format) -> Iterator[str]:
    """Yield the text of a CSV or TSV file with these plants, line breaks included."""
    yield _header(DELIMITERS[form])
    for page in pages:
        yield page.text or _lines(page.rows, DELIMITERS[form], _cell)


def json_pieces(pages: Iterator[LinePage], form: Format) -> Iterator[str]:
    """Yield the text of a JSON or JSON Lines file with these plants, line breaks included."""
    separator = SEPARATORS[form]
    texts = (page.text or separator.join(map(_object, page.rows)) for page in pages)
    return _framed(texts) if form is Format.JSON else (f"{text}\n" for text in texts)


def _delimited(batches: Iterator[list[PlantRow]], delimiter: str, cell: Callable[[str | None], str]) -> Iterator[str]:
    yield _header(delimiter)
    for batch in batches:
        yield _lines(batch, delimiter, cell)


def _header(delimiter: str) -> str:
    return delimiter.join(FIELDS) + "\r\n"


def _lines(rows: list[PlantRow], delimiter: str, cell: Callable[[str | None], str]) -> str:
    return "".join(
        delimiter.join(
            (str(row.id), cell(row.name), cell(row.tag), cell(row.note), _time(row.added_at), cell(_source(row)))
        )
        + "\r\n"
        for row in rows
    )


def _cell(text: str | None) -> str:
    return "" if text is None else '"' + text.replace('"', '""') + '"'


def _excel_cell(text: str | None) -> str:
    return _cell(f"'{text}" if text is not None and text.startswith(_FORMULA) else text)


def _framed(texts: Iterator[str]) -> Iterator[str]:
    """Yield objects as an array."""
    separator = "[\n"
    for text in texts:
        yield separator + text
        separator = SEPARATORS[Format.JSON]
    yield "[]\n" if separator == "[\n" else "\n]\n"


def values_of(row: PlantRow) -> Values:
    """Return the values of the fields of a plant."""
    return row.id, row.name, row.tag, row.note, _time(row.added_at), _source(row)


def _object(row: PlantRow) -> str:
    members: dict[str, Any] = dict(zip(FIELDS, values_of(row), strict=True))
    members |= {"source_kind": str(row.source.kind), "source_name": row.source.label or None}
    return _ENCODE({name: value for name, value in members.items() if value is not None})


def _source(row: PlantRow) -> str:
    return f"{row.source.kind} {row.source.label}" if row.source.label else str(row.source.kind)


@lru_cache(maxsize=1024)  # an import gives all its plants the same
def _time(timestamp: int) -> str:
    return utc_time(timestamp).isoformat(timespec="milliseconds")
