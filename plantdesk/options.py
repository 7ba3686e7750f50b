"""The command line's words: commands, options, and help.

A command's module is imported only when that command runs: `plantdesk token` must not wait for Qt. argparse, because it
comes with Python and costs hardly any start-up time.
"""

from __future__ import annotations

import argparse
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.settings import DEFAULT_PORT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - has no public name
    Run = Callable[[argparse.Namespace], int]

DESCRIPTION = "Keep your plants in one place: in a window, from scripts over a local HTTP API, or by these commands."
EPILOG = """\
examples:
  plantdesk                                        open the window
  plantdesk add --name "Monstera deliciosa" --tag office
  plantdesk token create garden-sync > token.txt   let a program in
  plantdesk serve --port 8722                      only the API, on another port

PLANTDESK_HOME=FOLDER moves everything that PlantDesk keeps.
Exit codes: 0 done; 1 refused or failed, the reason is on standard error; 2 wrong usage; 130 interrupted.
"""
_HIGHEST_PORT = 65535
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def run(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` name; return its exit code. Leaves by SystemExit as argparse has it."""
    options = parser().parse_args(arguments)
    command: Run = options.run
    return command(options)


def parser() -> argparse.ArgumentParser:
    """Return the whole command line."""
    top = argparse.ArgumentParser(
        prog="plantdesk",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"plantdesk {__version__}")
    _add_database(top, default=None)
    _add_port(top, default=None)
    top.add_argument("--background", action="store_true", help="open the window minimised, as at login")
    top.set_defaults(run=_run_window)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    _add_add(commands)
    _add_backup(commands)
    _add_info(commands)
    _add_integration(commands)
    _add_openapi(commands)
    _add_restore(commands)
    _add_selfcheck(commands)
    _add_serve(commands)
    _add_token(commands)
    return top


# --- the commands: what each takes, and the module that does it ---------------------------------


def _add_add(commands: Commands) -> None:
    command = _command(commands, "add", "add one plant and print its ID", _run_add)
    command.add_argument("--name", required=True, help="the plant's name")
    command.add_argument("--id", help="a whole number that no other plant has (default: the next free one)")
    command.add_argument("--tag", help="what type of plant it is")


def _run_add(options: argparse.Namespace) -> int:
    from plantdesk.commands import add

    return add.run(_database(options), options.name, options.id, options.tag)


def _add_backup(commands: Commands) -> None:
    command = _command(commands, "backup", "make a backup of all plants and print where it is", _run_backup)
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a new file (default: in the folder of backups)"
    )
    what.add_argument("--list", action="store_true", help="only show the backups that are there")


def _run_backup(options: argparse.Namespace) -> int:
    from plantdesk.commands import backup

    return backup.show(_database(options)) if options.list else backup.run(_database(options), options.file)


def _add_info(commands: Commands) -> None:
    command = _command(
        commands, "info", "tell whether PlantDesk runs, where it listens and where its data is", _run_info
    )
    command.add_argument("--json", action="store_true", help="answer in JSON, for scripts")


def _run_info(options: argparse.Namespace) -> int:
    from plantdesk.commands import info

    return info.run(_database(options), as_json=options.json)


def _add_integration(commands: Commands) -> None:
    command = _command(commands, "integration", "tell or set how the system starts PlantDesk", _run_integration)
    command.add_argument("--login", type=_switch, metavar="on|off", help="start PlantDesk when you log in")
    command.add_argument("--path", type=_switch, metavar="on|off", help="let terminals find plantdesk (Windows)")


def _run_integration(options: argparse.Namespace) -> int:
    from plantdesk.commands import integration

    return integration.run(options.login, options.path)


def _add_openapi(commands: Commands) -> None:
    _command(commands, "openapi", "print the description of the HTTP API (OpenAPI 3.1)", _run_openapi)


def _run_openapi(_options: argparse.Namespace) -> int:
    from plantdesk.commands import openapi

    return openapi.run()


def _add_restore(commands: Commands) -> None:
    command = _command(commands, "restore", "bring back the plants of a backup, with a look first", _run_restore)
    command.add_argument(
        "file", metavar="FILE", type=Path, help="a backup: a file, or a name that `backup --list` shows"
    )
    command.add_argument("--look", action="store_true", help="only tell what would come back, go and change")
    command.add_argument("--yes", action="store_true", help="do not ask")


def _run_restore(options: argparse.Namespace) -> int:
    from plantdesk.commands import backup

    return backup.bring_back(_database(options), options.file, only_look=options.look, confirmed=options.yes)


def _add_selfcheck(commands: Commands) -> None:
    _command(commands, "selfcheck", "tell in JSON whether this PlantDesk is whole; needs no display", _run_selfcheck)


def _run_selfcheck(_options: argparse.Namespace) -> int:
    from plantdesk.commands import selfcheck

    return selfcheck.run()


def _add_serve(commands: Commands) -> None:
    command = _command(commands, "serve", "run the HTTP API without a window, until SIGTERM or Ctrl+C", _run_serve)
    _add_port(command, default=argparse.SUPPRESS)


def _run_serve(options: argparse.Namespace) -> int:
    from plantdesk.commands import serve

    return serve.run(_database(options), options.port)


def _add_token(commands: Commands) -> None:
    token = commands.add_parser("token", help="let programs in, and shut them out", allow_abbrev=False)
    actions = token.add_subparsers(title="commands", metavar="COMMAND", required=True)
    create = _command(actions, "create", "make a token and print it, this once", _run_token_create)
    create.add_argument("name", metavar="NAME", help="the program that will use it")
    create.add_argument(
        "--expires", metavar="TIME", type=_span, help="how long it is good for: 12h, 90d, 52w (default: until revoked)"
    )
    _command(actions, "list", "show the tokens, without the secret itself", _run_token_list)
    revoke = _command(actions, "revoke", "make a token worthless at once", _run_token_revoke)
    revoke.add_argument("name", metavar="NAME", help="the name it was created under")


def _run_token_create(options: argparse.Namespace) -> int:
    from plantdesk.commands import token

    return token.create(_database(options), options.name, options.expires)


def _run_token_list(options: argparse.Namespace) -> int:
    from plantdesk.commands import token

    return token.show(_database(options))


def _run_token_revoke(options: argparse.Namespace) -> int:
    from plantdesk.commands import token

    return token.revoke(_database(options), options.name)


def _run_window(options: argparse.Namespace) -> int:
    from plantdesk.commands import window

    named: Path | None = options.database
    return window.run(named and named.absolute(), options.port, background=options.background)


# --- the parts they share -----------------------------------------------------------------------


def _command(commands: Commands, name: str, does: str, run: Run) -> argparse.ArgumentParser:
    description = f"{does[0].upper()}{does[1:]}."
    command = commands.add_parser(name, help=does, description=description, allow_abbrev=False)
    command.set_defaults(run=run)
    _add_database(command, default=argparse.SUPPRESS)  # so that it may stand before the command as well
    return command


def _add_database(command: argparse.ArgumentParser, default: object) -> None:
    command.add_argument(
        "--database", metavar="FILE", type=Path, default=default, help="the plant store to use (default: your own)"
    )


def _add_port(command: argparse.ArgumentParser, default: object) -> None:
    told = f"where the API listens; 0: any free port (default: as set in the window, at first {DEFAULT_PORT})"
    command.add_argument("--port", metavar="N", type=_port, default=default, help=told)


def _database(options: argparse.Namespace) -> Path:
    from plantdesk import paths

    chosen: Path | None = options.database
    return paths.database_file() if chosen is None else chosen.absolute()


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"“{text}” is no port: give a number from 0 to {_HIGHEST_PORT}")
    return int(text)


def _switch(text: str) -> bool:
    if text not in {"on", "off"}:
        raise argparse.ArgumentTypeError(f"“{text}” is neither on nor off")
    return text == "on"


def _span(text: str) -> timedelta:
    found = re.fullmatch(r"([1-9][0-9]{0,4})([hdw])", text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"“{text}” is no length of time: give hours, days or weeks, as in 12h, 90d, 52w"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
