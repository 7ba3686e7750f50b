"""Writes files of plants: to a temporary file first, which replaces the file when all is written."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plantdesk import output
from plantdesk.atomic_replace import replaced_bytes, replaced_text
from plantdesk.transfer.formats import PIPE, Format
from plantdesk.transfer.writing import pieces, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.records import PlantRow

_PIECE = 65_536


def write_plants(file: Path, form: Format, batches: Iterator[list[PlantRow]], progress: Callable[[int], object]) -> int:
    """Write plants to a file, or to standard output for `-`, and return their number.

    `progress` is called with the plants that were written so far. Raises StoreError, OutputError, OSError.
    """
    count = 0

    def counted() -> Iterator[list[PlantRow]]:
        nonlocal count
        for batch in batches:
            yield batch
            count += len(batch)
            progress(count)

    if form is Format.XLSX:
        _write_workbook(file, counted())
        return count
    with _written(file) as write:
        for piece in pieces(counted(), form):
            write(piece)
    return count


def _write_workbook(file: Path, batches: Iterator[list[PlantRow]]) -> None:
    from plantdesk.transfer.workbooks import write_workbook

    values = ([values_of(row) for row in batch] for batch in batches)
    if str(file) != PIPE:
        with replaced_bytes(file.resolve()) as stream:
            write_workbook(stream, values)
        return
    with tempfile.TemporaryFile() as copy:
        write_workbook(copy, values)
        copy.seek(0)
        while piece := copy.read(_PIECE):
            output.write_data(piece)
    output.flush()


@contextmanager
def _written(file: Path) -> Iterator[Callable[[str], object]]:
    """Yield the function that writes a piece of text to `file`, or to standard output."""
    if str(file) == PIPE:
        yield output.write_data
        output.flush()
        return
    file = file.resolve()  # a symlink stays one
    if file.exists() and not file.is_file():  # a pipe or a device, which cannot be replaced
        with file.open("w", encoding="utf-8", newline="") as stream:
            yield stream.write
        return
    with replaced_text(file, newline="") as draft:
        yield draft.write
