"""`plantdesk export`."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from plantdesk.cli.commands.stores import filter_of, open_read_only, selection_of
from plantdesk.cli.commands.terminal import cleaned_up_when_terminated, reported_when_interrupted
from plantdesk.transfer.files import is_replaced
from plantdesk.transfer.formats import WRITTEN, Format, format_of
from plantdesk.transfer.writing import write_plants

if TYPE_CHECKING:
    import argparse


def export_plants(options: argparse.Namespace) -> int:
    """Write plants to a file in insertion order; one that exists is replaced when all is written.

    Raises UnknownFormatError, other PlantDeskErrors, OSError.
    """
    file, requested = options.file, filter_of(options)
    form = format_of(file, requested_format(options), WRITTEN)
    outcome = "No file was written." if is_replaced(file) else "The output is incomplete."
    with ExitStack() as stack:
        stack.enter_context(cleaned_up_when_terminated())
        stack.enter_context(reported_when_interrupted(outcome))
        store = stack.enter_context(closing(open_read_only(options.database)))
        count = write_plants(file, form, store, selection_of(store, requested), lambda _count: None)
    print("Exported 1 plant." if count == 1 else f"Exported {count:,} plants.", file=sys.stderr)
    return 0


def requested_format(options: argparse.Namespace) -> Format | None:
    """Return the format in the option --format."""
    return None if options.format is None else Format(options.format)
