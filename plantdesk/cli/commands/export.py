"""`plantdesk export`."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from plantdesk.cli.commands.filters import selection_of
from plantdesk.cli.commands.opening import open_read_only
from plantdesk.cli.commands.termination import cleaned_up_when_terminated, reported_when_interrupted
from plantdesk.transfer.exporting import write_plants
from plantdesk.transfer.formats import WRITTEN, format_of
from plantdesk.transfer.targets import is_replaced

if TYPE_CHECKING:
    from pathlib import Path

    from plantdesk.cli.commands.filters import Filter
    from plantdesk.transfer.formats import Format


def run(database: Path, file: Path, given: Format | None, wanted: Filter) -> int:
    """Write plants to `file` in insertion order; a file that exists is replaced when all is written.

    Raises UnknownFormatError, other PlantDeskErrors, OSError.
    """
    form = format_of(file, given, WRITTEN)
    outcome = "No file was written." if is_replaced(file) else "The output is incomplete."
    with cleaned_up_when_terminated(), reported_when_interrupted(outcome), closing(open_read_only(database)) as store:
        count = write_plants(file, form, store, selection_of(store, wanted), lambda _count: None)
    print("Exported 1 plant." if count == 1 else f"Exported {count:,} plants.", file=sys.stderr)
    return 0
