"""The commands that write and read files of plants: export, import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.command_parser import add_command, database_of
from plantdesk.plant_options import add_filter, filter_of
from plantdesk.transfer.formats import Format

if TYPE_CHECKING:
    import argparse

    from plantdesk.command_parser import Commands
    from plantdesk.parser import Parser


def add_to(commands: Commands) -> None:
    """Add the commands to those of the program."""
    _add_export(commands)


def _add_format(command: Parser) -> None:
    command.add_argument("--format", choices=list(Format), type=str, help="the format (default: by the file's name)")


def _format(options: argparse.Namespace) -> Format | None:
    return None if options.format is None else Format(options.format)


def _add_export(commands: Commands) -> None:
    does = "write plants to a file: CSV, TSV, JSON or JSON Lines"
    command = add_command(commands, "export", does, _run_export, "database")
    command.add_argument("file", metavar="FILE", type=Path, help="the file, replaced if it exists; -: standard output")
    _add_format(command)
    add_filter(command)


def _run_export(options: argparse.Namespace) -> int:
    from plantdesk.commands import export

    return export.run(database_of(options), options.file, _format(options), filter_of(options))
