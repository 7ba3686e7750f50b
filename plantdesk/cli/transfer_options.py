"""The commands that write and read files of plants: export, import."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.cli.command_parser import add_command, database_of
from plantdesk.cli.plant_options import add_filter, filter_of
from plantdesk.transfer.formats import WRITTEN, Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plantdesk.cli.command_parser import Commands
    from plantdesk.cli.parser import Parser

#: Of `OnClash`, which takes long to import.
_ON_CLASH = ("refuse", "skip", "new-id", "replace")
_FIELDS = ("id", "name", "tag", "note")
_MAX_LINES_DIGITS = 6
#: Encodings of Python that decode to half surrogate pairs, or are not for files.
_NO_FILE_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7")


def add_to(commands: Commands) -> None:
    """Add the commands to those of the program."""
    _add_export(commands)
    _add_import(commands)


def _add_format(command: Parser, forms: Sequence[Format]) -> None:
    command.add_argument(
        "--format", choices=[form.value for form in forms], help="the format (default: by the file's name)"
    )


def _format(options: argparse.Namespace) -> Format | None:
    return None if options.format is None else Format(options.format)


def _add_export(commands: Commands) -> None:
    does = "write plants to a file: CSV, TSV, JSON, JSON Lines or Excel"
    command = add_command(commands, "export", does, _run_export, "database")
    command.add_argument("file", metavar="FILE", type=Path, help="the file, replaced if it exists; -: standard output")
    _add_format(command, WRITTEN)
    add_filter(command)


def _run_export(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import export

    return export.run(database_of(options, with_folder=False), options.file, _format(options), filter_of(options))


def _add_import(commands: Commands) -> None:
    does = "add the plants of files: CSV, TSV, JSON, JSON Lines, Excel, Markdown or PlantDesk; undo removes them"
    command = add_command(commands, "import", does, _run_import, "database")
    command.add_argument("files", metavar="FILE", nargs="+", type=Path, help="the files; -: standard input")
    _add_format(command, tuple(Format))
    command.add_argument("--encoding", type=_encoding, help="the encoding of the files, such as cp1252")
    command.add_argument(
        "--no-header", action="store_true", help="the first row is a plant; --map takes the numbers of columns, from 1"
    )
    command.add_argument(
        "--skip-lines", metavar="NUMBER", type=_lines, default=0, help="lines above the header, such as a title"
    )
    command.add_argument("--dry-run", action="store_true", help="show only what would be new, clash or be invalid")
    command.add_argument(
        "--map",
        metavar="FIELD=COLUMN",
        action="append",
        type=_column,
        default=[],
        help="the column of id, name, tag or note, where its header is another word",
    )
    command.add_argument(
        "--on-clash",
        choices=_ON_CLASH,
        default="refuse",
        help="for an ID that another plant has: import nothing, skip the row, take a new ID, or replace the plant",
    )
    command.add_argument("--skip-invalid", action="store_true", help="import the other rows when some are invalid")
    command.add_argument("--rejects", metavar="FILE", type=Path, help="write the rows left out to a CSV file")
    command.add_argument("--tag", help="the tag of plants that have none in the file")
    command.add_argument("--json", action="store_true", help="print the counts as JSON, for scripts")


def _run_import(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import import_files
    from plantdesk.domain.import_batches import OnClash
    from plantdesk.transfer.columns import Columns
    from plantdesk.transfer.importing import Wanted
    from plantdesk.transfer.inputs import Reading

    if len(dict(options.map)) < len(options.map):
        options.parser.error("--map may name each field only once")
    columns = Columns(dict(options.map), has_header=not options.no_header)
    reading = Reading(_format(options), options.encoding, columns=columns, skipped_lines=options.skip_lines)
    wanted = Wanted(reading, OnClash(options.on_clash), options.skip_invalid, options.tag)
    database = database_of(options)
    return import_files.run(
        database, options.files, wanted, options.rejects, dry_run=options.dry_run, as_json=options.json
    )


def _encoding(text: str) -> str:
    import codecs

    try:
        name = codecs.lookup(text).name
        "".encode(name)
    except (LookupError, UnicodeError):  # unknown, or a codec that is not for text
        name = ""
    if not name or name in _NO_FILE_ENCODINGS:
        raise argparse.ArgumentTypeError(f"“{text}” is not an encoding of text files")
    return name


def _lines(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_LINES_DIGITS):
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of lines")
    return int(text)


def _column(text: str) -> tuple[str, str]:
    field, is_given, column = text.partition("=")
    if field not in _FIELDS or not is_given:
        raise argparse.ArgumentTypeError(f"“{text}” is not a column: give id, name, tag or note, as in name=Species")
    return field, column
