"""Adds commands to the parser, and the options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.cli.parser import Parser, port
from plantdesk.platform.settings import DEFAULT_PORT

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Commands = argparse._SubParsersAction[Parser]  # noqa: SLF001 - has no public name
    Run = Callable[[argparse.Namespace], int]


def add_command(commands: Commands, name: str, does: str, run: Run, *takes: str) -> Parser:
    """Add a command; the global options in `takes` are also allowed before its name."""
    command = commands.add_parser(name, help=does, description=sentence(does))
    command.set_defaults(run=run, parser=command, takes=takes)
    if "database" in takes:
        add_database(command, "database")
    return command


def sentence(does: str) -> str:
    """Return the description of a command for the one-line text of its parent."""
    return f"{does[0].upper()}{does[1:]}."


def add_database(command: Parser, dest: str) -> None:
    """Add the option --database."""
    text = "the database of plants (default: your own)"
    command.add_argument("--database", dest=dest, metavar="FILE", type=Path, help=text)


def add_port(command: Parser, dest: str) -> None:
    """Add the option --port."""
    text = f"the port of the API; 0: any free port (default: the port set in the window, initially {DEFAULT_PORT})"
    command.add_argument("--port", dest=dest, metavar="N", type=port, help=text)


def database_of(options: argparse.Namespace, *, with_folder: bool = True) -> Path:
    """Return the database of a command. Creates the folder of the default one if `with_folder`."""
    from plantdesk.platform import paths

    chosen: Path | None = options.database
    return paths.database_file(with_folder=with_folder) if chosen is None else chosen.absolute()
