"""Writes files of plants: to a temporary file first, which replaces the file when all is written."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from plantdesk.domain.errors import PlantDeskError, Text
from plantdesk.domain.protocols import LinePages
from plantdesk.domain.selections import Selection
from plantdesk.platform import output
from plantdesk.platform.atomic_replace import replaced_bytes, replaced_text
from plantdesk.transfer.files import checked_target, is_replaced
from plantdesk.transfer.formats import PIPE, Format
from plantdesk.transfer.writing import (
    DELIMITERS,
    SEPARATORS,
    csv_pieces,
    json_pieces,
    pieces,
    values_of,
    write_workbook,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.domain.protocols import PlantPages
    from plantdesk.domain.records import PlantRow
    from plantdesk.transfer.writing import Values

_Page = TypeVar("_Page")

_PIECE = 65_536


def write_plants(
    file: Path, form: Format, reader: PlantPages, selection: Selection, progress: Callable[[int], object]
) -> int:
    """Write plants to a file, or to standard output for `-`, in insertion order, and return their number.

    `progress` is called with the plants that were written so far. Raises PlantDeskError and OSError.
    """
    count = 0

    def counted(pages: Iterator[_Page], size: Callable[[_Page], int]) -> Iterator[_Page]:
        nonlocal count
        for page in pages:
            yield page
            count += size(page)
            progress(count)

    if form is Format.XLSX:
        _write_workbook(file, counted(reader.pages(selection), len))
        return count
    with _written(file) as write:
        lines = reader if selection == Selection() and isinstance(reader, LinePages) else None
        if lines is not None and form in {Format.CSV, Format.TSV}:
            texts = csv_pieces(counted(lines.csv_pages(DELIMITERS[form]), lambda page: page.plants), form)
        elif lines is not None and form in SEPARATORS:
            texts = json_pieces(counted(lines.json_pages(SEPARATORS[form]), lambda page: page.plants), form)
        else:
            texts = pieces(counted(reader.pages(selection), len), form)
        for piece in texts:
            write(piece)
    return count


def _write_workbook(file: Path, batches: Iterator[list[PlantRow]]) -> None:
    values = map(_values, batches)
    if str(file) != PIPE:
        with replaced_bytes(checked_target(file)) as stream:
            write_workbook(stream, values)
        return
    if output.is_terminal():
        raise PlantDeskError(Text("An Excel workbook cannot be shown on a terminal. Give the name of a file."))
    with tempfile.TemporaryFile() as copy:
        write_workbook(copy, values)
        copy.seek(0)
        while piece := copy.read(_PIECE):
            output.write_data(piece)
    output.flush()


def _values(batch: list[PlantRow]) -> list[Values]:
    return [values_of(row) for row in batch]


@contextmanager
def _written(file: Path) -> Iterator[Callable[[str], object]]:
    """Yield the function that writes a piece of text to `file`, or to standard output."""
    if str(file) == PIPE:
        yield output.write_data
        output.flush()
        return
    file = checked_target(file)
    if not is_replaced(file):
        with file.open("w", encoding="utf-8", newline="") as stream:
            yield stream.write
        return
    with replaced_text(file, newline="") as temporary:
        yield temporary.write
