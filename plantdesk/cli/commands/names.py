"""`plantdesk names`: makes the list of known names from a file, shows its origin, and removes it."""

from __future__ import annotations

import argparse

from plantdesk.cli.commands.export import parse_format_option
from plantdesk.cli.stores import show_progress
from plantdesk.cli.terminal import format_iso_time, format_local_time, interruptible, print_json
from plantdesk.domain.errors import NoStoreError, PlantDeskError
from plantdesk.domain.locations import StoreLocation
from plantdesk.domain.texts import Text, shortened
from plantdesk.platform import output
from plantdesk.transfer.files import input_file
from plantdesk.transfer.known_names import KnownNames, NamesListInfo
from plantdesk.transfer.name_lists import replace_list

_MAX_SOURCE_LENGTH = 100


def import_names(options: argparse.Namespace) -> int:
    """Replace the list by the names in a file. Raises PlantDeskError, such as UnknownFormatError, and OSError."""
    source = input_file(options.file)
    known = _open_known_names(options.database)
    with (
        interruptible("The list stays as it was."),
        show_progress("Reading the names") as show_fraction,
    ):
        file_format = parse_format_option(options)
        new_list, left_out = replace_list(known, source, source.fraction_reporter(show_fraction), file_format)
    output.report(f"Offered while a name is typed: {_format_title(new_list)}.")
    if left_out:
        output.report(f"Left out, as not accepted, not of plants or fungi, or not readable: {_format_count(left_out)}.")
    return 0


def info(options: argparse.Namespace) -> int:
    """Print size and origin of the list. Raises StoreError, and PlantDeskError if there is no list and no --json."""
    known = _open_known_names(options.database)
    if options.json:
        values: dict[str, object] = {"names": 0, "source": None, "made_at": None}
        if (listed := known.info()) is not None:
            values = {"names": listed.names, "source": listed.source, "made_at": format_iso_time(listed.made_at)}
        print_json(values)
    else:
        existing = _require_list(known)
        output.write(f"{_format_title(existing)}, {format_local_time(existing.made_at)}")
    return 0


def remove(options: argparse.Namespace) -> int:
    """Remove the list and report what it was. Raises StoreError, OSError, and PlantDeskError if there is no list."""
    known = _open_known_names(options.database)
    names_list = _require_list(known)
    known.remove()
    output.report(f"No longer offered: {_format_title(names_list)}.")
    return 0


def _open_known_names(database: StoreLocation) -> KnownNames:
    if not database.has_store():
        raise NoStoreError(file=database.name)
    return KnownNames(database.names_file)


def _require_list(known: KnownNames) -> NamesListInfo:
    if (names_list := known.info()) is None:
        raise PlantDeskError(Text("There is no list of known names. `plantdesk names import FILE` makes one."))
    return names_list


def _format_title(names_list: NamesListInfo) -> str:
    return f"{_format_count(names_list.names)} from “{shortened(names_list.source, _MAX_SOURCE_LENGTH)}”"


def _format_count(names: int) -> str:
    return "1 name" if names == 1 else f"{names:,} names"
