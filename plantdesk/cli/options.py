"""The command line: commands, options and help.

A command's module is imported only when the command runs, so that `plantdesk token` does not import Qt. argparse is in
the standard library and imports fast.
"""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.cli import plant_options, transfer_options
from plantdesk.cli.command_parser import add_command, add_database, add_port, database_of, sentence
from plantdesk.cli.parser import Parser, seconds, span, switch, whole_number

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from plantdesk.cli.command_parser import Commands, Run

DESCRIPTION = "Keep your plants in one place: in a window, from scripts over a local HTTP API, or by these commands."
EPILOG = """\
examples:
  plantdesk                         open the window
  plantdesk add --name "Monstera deliciosa" --tag office
  plantdesk list --tag office       the plants with this tag
  plantdesk undo                    take back the last edit or deletion
  plantdesk token create garden-sync --output garden-sync.token
                                    a token for a program
  plantdesk serve --port 8722       only the API, on another port

PLANTDESK_HOME=FOLDER moves all files of PlantDesk to FOLDER.
Exit codes: 0 done; 1 refused or failed, the reason is on standard error;
2 wrong usage; 3 PlantDesk is not running (info); 130 interrupted.
"""
#: What shells complete for the argument of a command, besides files.
COMPLETIONS = {
    ("restore",): "backups",
    ("token", "revoke"): "tokens",
    ("help",): "commands",
    ("tag", "rename"): "tags",
    ("tag", "merge"): "tags",
    ("tag", "remove"): "tags",
}
#: The hidden command by which completions get those names.
COMPLETE = "__complete"
#: The options that are also allowed before the command.
_GLOBAL = ("database", "port", "background")


def run(arguments: Sequence[str]) -> int:
    """Run the command in `arguments`; return its exit code. Raises SystemExit as argparse does."""
    if arguments[:1] == [COMPLETE] and len(arguments) > 1:
        from plantdesk.cli.commands import complete

        return complete.run(arguments[1], arguments[2:])
    options, unknown = parser().parse_known_args(arguments)
    if unknown:
        options.parser.refuse_unknown(unknown)
    _apply_global_options(options)
    command: Run = options.run
    return command(options)


def _apply_global_options(options: argparse.Namespace) -> None:
    """Move options before the command to the command; refuse those that it does not have."""
    for name in _GLOBAL:
        given = [vars(options).get(f"{level}_{name}") for level in ("top", "group")] + [vars(options).get(name)]
        values = [value for value in given if value is not None and value is not False]  # 0 is a port
        if values and name not in options.takes:
            options.parser.error(f"--{name} has no effect on this command")
        if len(values) > 1:
            options.parser.error(f"argument --{name}: may be given only once")
        setattr(options, name, values[0] if values else None)


def parser() -> Parser:
    """Return the parser of all commands."""
    top = Parser(prog="plantdesk", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument("-V", "--version", action="version", version=f"plantdesk {__version__}")
    add_database(top, "top_database")
    add_port(top, "top_port")
    top.add_argument(
        "--background", dest="top_background", action="store_true", help="open the window minimised, as at login"
    )
    top.set_defaults(run=_run_window, parser=top, takes=_GLOBAL)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    _add_add(commands)
    _add_backup(commands)
    _add_help(commands, top)
    _add_info(commands)
    _add_integration(commands)
    _add_openapi(commands)
    _add_restore(commands)
    _add_selfcheck(commands)
    _add_serve(commands)
    _add_token(commands)
    plant_options.add_to(commands)
    transfer_options.add_to(commands)
    return top


# --- commands ---


def _add_add(commands: Commands) -> None:
    command = add_command(commands, "add", "add one plant and print its ID", _run_add, "database")
    command.add_argument("--name", required=True, help="the plant's name")
    command.add_argument("--id", help="an unused whole number (default: the next free ID)")
    command.add_argument("--tag", help="the plant's type")


def _run_add(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import add

    return add.run(database_of(options), options.name, options.id, options.tag)


def _add_backup(commands: Commands) -> None:
    does = "back up all plants and print the path of the backup"
    command = add_command(commands, "backup", does, _run_backup, "database")
    command.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a new file (default: one in the folder of backups)"
    )
    command.add_argument("--list", action="store_true", help="list the backups instead")
    command.add_argument("--json", action="store_true", help="with --list: print JSON, for scripts")


def _run_backup(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import backup

    if options.list and options.file is not None:
        options.parser.error("FILE has no effect with --list")
    if options.json and not options.list:
        options.parser.error("--json has no effect without --list")
    if options.list:
        return backup.show(database_of(options, with_folder=False), as_json=options.json)
    return backup.run(database_of(options, with_folder=False), options.file)


def _add_help(commands: Commands, top: Parser) -> None:
    command = add_command(commands, "help", "show the help of a command", lambda options: _run_help(options, top))
    command.add_argument("command", metavar="COMMAND", nargs="*", help="a command (default: all)")


def _run_help(options: argparse.Namespace, top: Parser) -> int:
    top.parse_args([*options.command, "--help"])  # raises SystemExit
    return 0


def _add_info(commands: Commands) -> None:
    does = "show whether PlantDesk runs, its address and its database"
    command = add_command(commands, "info", does, _run_info, "database")
    command.add_argument("--json", action="store_true", help="print JSON, for scripts")
    command.add_argument("--wait", metavar="SECONDS", type=seconds, default=0.0, help="wait up to this time for it")


def _run_info(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import info

    return info.run(database_of(options, with_folder=False), as_json=options.json, wait=options.wait)


def _add_integration(commands: Commands) -> None:
    command = add_command(commands, "integration", "show or set how the system starts PlantDesk", _run_integration)
    command.add_argument("--login", type=switch, metavar="on|off", help="start PlantDesk when you log in")
    command.add_argument("--path", type=switch, metavar="on|off", help="add plantdesk to PATH (Windows)")


def _run_integration(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import integration

    return integration.run(login=options.login, path=options.path)


def _add_openapi(commands: Commands) -> None:
    add_command(commands, "openapi", "print the OpenAPI 3.1 document of the HTTP API", _run_openapi)


def _run_openapi(_options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import openapi

    return openapi.run()


def _add_restore(commands: Commands) -> None:
    does = "restore the plants of a backup, after a preview"
    command = add_command(commands, "restore", does, _run_restore, "database")
    command.add_argument("file", metavar="FILE", type=Path, help="a backup: a file, or a name in `backup --list`")
    command.add_argument("--dry-run", action="store_true", help="show only what would come back, go and change")
    command.add_argument("--look", dest="dry_run", action="store_true", help=SUPPRESS)  # its name in 0.1.0
    command.add_argument("--yes", action="store_true", help="do not ask")


def _run_restore(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import backup

    if options.dry_run and options.yes:
        options.parser.error("--yes has no effect with --dry-run")
    return backup.restore_backup(database_of(options), options.file, dry_run=options.dry_run, confirmed=options.yes)


def _add_selfcheck(commands: Commands) -> None:
    add_command(
        commands, "selfcheck", "report in JSON whether this installation is complete; needs no display", _run_selfcheck
    )


def _run_selfcheck(_options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import selfcheck

    return selfcheck.run()


def _add_serve(commands: Commands) -> None:
    does = "run the HTTP API without a window, until SIGTERM or Ctrl+C"
    command = add_command(commands, "serve", does, _run_serve, "database", "port")
    add_port(command, "port")
    command.add_argument(
        "--verbose",
        action="store_true",
        help="print a line for each request on standard error: time, token name, status and reason",
    )


def _run_serve(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import serve

    return serve.run(database_of(options), options.port, verbose=options.verbose)


def _add_token(commands: Commands) -> None:
    does = "create, list and revoke tokens, with which programs add plants"
    token = commands.add_parser("token", help=does, description=sentence(does))
    token.set_defaults(parser=token)
    add_database(token, "group_database")
    actions = token.add_subparsers(title="commands", metavar="COMMAND", required=True)
    does = "create a token and print it, only this once"
    create = add_command(actions, "create", does, _run_token_create, "database")
    create.add_argument("name", metavar="NAME", help="the program that will use it")
    create.add_argument(
        "--expires", metavar="TIME", type=span, help="how long it is valid: 12h, 90d, 52w (default: until revoked)"
    )
    create.add_argument(
        "--max-plants", metavar="N", type=whole_number, help="how many plants it may add (default: no limit)"
    )
    create.add_argument(
        "--output", metavar="FILE", type=Path, help="write it to a new file that only you can read instead"
    )
    shown = add_command(actions, "list", "list the tokens without their secrets", _run_token_list, "database")
    shown.add_argument("--json", action="store_true", help="print JSON, for scripts")
    revoke = add_command(actions, "revoke", "revoke a token at once", _run_token_revoke, "database")
    revoke.add_argument("name", metavar="NAME", help="its name")
    revoke.add_argument("--remove-plants", action="store_true", help="also delete the plants it added")


def _run_token_create(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import token

    limits = token.Limits(options.expires, options.max_plants)
    return token.create(database_of(options), options.name, limits, options.output)


def _run_token_list(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import token

    return token.show(database_of(options, with_folder=False), as_json=options.json)


def _run_token_revoke(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import token

    return token.revoke(database_of(options, with_folder=False), options.name, remove_plants=options.remove_plants)


def _run_window(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import window

    named: Path | None = options.database
    return window.run(named and named.absolute(), options.port, background=bool(options.background))
