"""Writes files of plants: to a temporary file first, which replaces the file when all is written."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plantdesk import output
from plantdesk.atomic_replace import replaced_text
from plantdesk.transfer.formats import PIPE
from plantdesk.transfer.writing import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.records import PlantRow
    from plantdesk.transfer.formats import Format


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

    with _written(file) as write:
        for piece in pieces(counted(), form):
            write(piece)
    return count


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
