"""`plantdesk names`: makes the list of known names from a file, shows its origin, and removes it."""

from __future__ import annotations

import argparse

from plantdesk.cli.commands.export import requested_format
from plantdesk.cli.stores import show_progress
from plantdesk.cli.terminal import interruptible, iso_time, local_time, print_json
from plantdesk.domain.errors import NoStoreError, PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.texts import Text, shortened
from plantdesk.platform import output
from plantdesk.transfer.files import input_file
from plantdesk.transfer.known_names import KnownNames, NamesList
from plantdesk.transfer.name_lists import replace_list

_MAX_SOURCE = 100


def import_names(options: argparse.Namespace) -> int:
    """Make the list from a file. Raises StoreError, UnknownFormatError, PlantDeskError for its content, and OSError."""
    source = input_file(options.file)
    known = _known_names(options.database)
    with (
        interruptible("The list stays as it was."),
        show_progress("Reading the names") as show,
    ):
        file_format = requested_format(options)
        new_list, left_out = replace_list(known, source, source.fraction_reporter(show), file_format)
    output.report(f"Offered while a name is typed: {_title(new_list)}.")
    if left_out:
        output.report(f"Left out, as not accepted, not of plants or fungi, or not readable: {_counted(left_out)}.")
    return 0


def info(options: argparse.Namespace) -> int:
    """Print the origin of the list. Raises StoreError, and PlantDeskError if there is no list for a text."""
    known = _known_names(options.database)
    if options.json:
        about = known.about()
        values: dict[str, object] = {"names": 0, "source": None, "made_at": None}
        if about is not None:
            values = {"names": about.names, "source": about.source, "made_at": iso_time(about.made_at)}
        print_json(values)
    else:
        existing = _existing_list(known)
        output.write(f"{_title(existing)}, {local_time(existing.made_at)}")
    return 0


def remove(options: argparse.Namespace) -> int:
    """Remove the list. Raises StoreError, OSError, and PlantDeskError without a list."""
    known = _known_names(options.database)
    about = _existing_list(known)
    known.remove()
    output.report(f"No longer offered: {_title(about)}.")
    return 0


def _known_names(database: StoreLocation) -> KnownNames:
    if not database.check():
        raise NoStoreError(file=database.name)
    return KnownNames(database.names_file)


def _existing_list(known: KnownNames) -> NamesList:
    if (about := known.about()) is None:
        raise PlantDeskError(Text("There is no list of known names. `plantdesk names import FILE` makes one."))
    return about


def _title(about: NamesList) -> str:
    return f"{_counted(about.names)} from “{shortened(about.source, _MAX_SOURCE)}”"


def _counted(names: int) -> str:
    return "1 name" if names == 1 else f"{names:,} names"
