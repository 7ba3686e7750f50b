"""`plantdesk export`."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from plantdesk import output
from plantdesk.atomic_replace import replaced_text
from plantdesk.commands.opening import open_existing_store
from plantdesk.commands.plants import selection_of
from plantdesk.transfer.formats import PIPE, format_of
from plantdesk.transfer.writing import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plantdesk.commands.plants import Filter
    from plantdesk.records import PlantRow
    from plantdesk.transfer.formats import Format


def run(database: Path, file: Path, given: Format | None, wanted: Filter) -> int:
    """Write plants to `file` in their order of arrival; a file that exists is replaced when all is written.

    Raises UnknownFormatError, UnknownSourceError, StoreError, OutputError, OSError.
    """
    form = format_of(file, given)
    count = 0

    def counted(batches: Iterator[list[PlantRow]]) -> Iterator[list[PlantRow]]:
        nonlocal count
        for batch in batches:
            count += len(batch)
            yield batch

    with closing(open_existing_store(database)) as store, closing(store.reader()) as reader:
        selection = selection_of(store, wanted)
        with _written(file) as write:
            for piece in pieces(counted(reader.pages(selection)), form):
                write(piece)
    print("Exported 1 plant." if count == 1 else f"Exported {count:,} plants.", file=sys.stderr)
    return 0


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
