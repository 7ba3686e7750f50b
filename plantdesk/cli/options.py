"""The command line: commands, options and help.

A command names its function in `commands` as module.function. The module is imported when the command runs, so that
`plantdesk token` does not import Qt. The function gets the parsed options.
"""

from __future__ import annotations

import argparse
import atexit
import codecs
import gc
from argparse import SUPPRESS
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk import __version__
from plantdesk.cli.parser import (
    Parser,
    add_command,
    add_database,
    add_group,
    add_port,
    parse_duration,
    parse_integer,
    parse_seconds,
    parse_text,
    parse_time_ago,
)
from plantdesk.domain.duplicates import KeepRule
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.imports import OnConflict
from plantdesk.domain.texts import Text
from plantdesk.platform.manual import PAGES
from plantdesk.store import location_of
from plantdesk.transfer.formats import EXPORT_FORMATS, Format

if TYPE_CHECKING:
    from plantdesk.cli.parser import Commands


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
  plantdesk help files              a page of the manual: window, commands, api,
                                    files, data, desks, assistant,
                                    recipes, measurements, news

PLANTDESK_HOME=FOLDER moves all files of PlantDesk to FOLDER.
Exit codes: 0 done; 1 refused or failed, the reason is on standard error;
2 wrong usage; 3 the API is not running (info); 130 interrupted.
"""
#: The kind of names that a shell completes for the argument of a command or an option; for others, files.
COMPLETIONS = {
    ("restore",): "backups",
    ("token", "revoke"): "tokens",
    ("help",): "commands",
    ("tag", "rename"): "tags",
    ("tag", "merge"): "tags",
    ("tag", "remove"): "tags",
    ("--tag",): "tags",
    ("--tagged",): "tags",
}
#: The hidden command that prints those names.
COMPLETE_COMMAND = "__complete"
#: The number of new objects at which Python collects garbage: more than a command imports. With Python's own threshold
#: of 700, and its collection at the exit, garbage collection takes 80 ms of a command.
_COLLECTION_THRESHOLD = 100_000
#: The options that are also allowed before the command.
_GLOBAL_OPTIONS = ("database", "port", "background")
_JSON_HELP = "print JSON, for scripts"
_TIME_FORMATS = "12h, 7d, today, yesterday, 2026-11-21 or 2026-11-21T18:00"
_SEARCH_HELP = (
    'only those with these words and "phrases"; also tag:x, tag:x/, tag:none, note:x, from:x, added:today, '
    "7d or 2026-11, id:5-90; -word and -tag:x exclude (--search=-word)"
)
_FIELDS = ("id", "name", "tag", "note")
#: Encodings of Python that decode to half surrogate pairs, or are not for files.
_REFUSED_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7")
#: Titles in the help, each above the first command of a group.
_TITLES = {
    "get": "more for plants",
    "token": "for other programs",
    "backup": "for whole stores",
    "quick": "for this program",
}


def run(arguments: Sequence[str]) -> int:
    """Run the command in `arguments`; return its exit code. Raises SystemExit as argparse does, and PlantDeskError."""
    gc.set_threshold(_COLLECTION_THRESHOLD)
    atexit.register(gc.freeze)
    gc.enable()
    if arguments[:1] == [COMPLETE_COMMAND] and len(arguments) > 1:
        from plantdesk.cli.commands import complete

        return complete.run(arguments[1], arguments[2:])
    options, unknown = build_parser().parse_known_args(arguments)
    if unknown:
        options.parser.refuse_unknown(unknown)
    _apply_global_options(options)
    if "database" in options.global_options:
        options.database = location_of(options.database)
    module, _, function = options.run.partition(".")
    command: Callable[[argparse.Namespace], int] = getattr(import_module(f"plantdesk.cli.commands.{module}"), function)
    try:
        return command(options)
    except PlantDeskError as error:
        if "database" in options.global_options and not options.database.is_own:
            from plantdesk.cli.stores import add_database_option

            error.text = add_database_option(error.text, options.database)
        raise


def _apply_global_options(options: argparse.Namespace) -> None:
    """Set `_GLOBAL_OPTIONS` that were typed before the command as its own; refuse repeated or unaccepted ones."""
    for name in _GLOBAL_OPTIONS:
        level_values = [vars(options).get(f"{level}_{name}") for level in ("top", "group")] + [vars(options).get(name)]
        values = [value for value in level_values if value is not None and value is not False]  # 0 is a port
        if values and name not in options.global_options:
            options.parser.error(Text("--{name} has no effect on this command", name=name))
        if len(values) > 1:
            options.parser.error(Text("argument --{name}: may be given only once", name=name))
        setattr(options, name, values[0] if values else None)


def build_parser() -> Parser:
    """Return a parser that also stores the function and the parser of the command in the options."""
    top = Parser(prog="plantdesk", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument("-V", "--version", action="version", version=f"plantdesk {__version__}")
    add_database(top, "top_database")
    add_port(top, "top_port")
    top.add_argument(
        "--background", dest="top_background", action="store_true", help="start minimised or in the tray, as at login"
    )
    top.set_defaults(run="start.window", top=top, parser=top, global_options=_GLOBAL_OPTIONS)
    top.titles = _TITLES
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for add in _COMMAND_ADDERS:
        add(commands)
    return top


def _add_add(commands: Commands) -> None:
    command = add_command(commands, "add", "add one plant and print its ID", "plants.add", "database")
    command.add_argument("--name", help="the plant's name")
    command.add_argument("--like", metavar="ID", help="copy name, tag and note of this plant; other options win")
    command.add_argument("--id", help="an unused whole number (default: the next free ID)")
    command.add_argument("--tag", help="the plant's type")


def _add_backup(commands: Commands) -> None:
    summary = "back up all plants and print the path of the backup"
    command = add_command(commands, "backup", summary, "whole_store.backup", "database")
    command.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a new file (default: one in the folder of backups)"
    )
    command.add_flag("--list", "list the backups instead")
    command.add_flag("--json", "with --list: print JSON, for scripts")


def _add_copy(commands: Commands) -> None:
    summary = "copy a whole store to a new file or an empty database"
    command = add_command(commands, "copy", summary, "whole_store.copy")
    command.add_argument("source", metavar="FROM", help="a file, or postgresql://user@host/database")
    command.add_argument("target", metavar="TO", help="a new file, or a database without plants")
    command.add_flag("--json", "print the counts as JSON, for scripts")


def _add_migrate(commands: Commands) -> None:
    summary = "update a shared store to this version of PlantDesk, for all its computers"
    command = add_command(commands, "migrate", summary, "whole_store.migrate", "database")
    command.add_flag("--create", "make the store where the database has none")
    command.add_flag("--yes", "do not ask")


def _add_roles(commands: Commands) -> None:
    summary = "print the SQL of three roles for the users of a shared store; changes nothing"
    command = add_command(commands, "roles", summary, "whole_store.print_roles")
    command.add_argument("url", metavar="URL", help="the address: postgresql://host/database")


def _add_help(commands: Commands) -> None:
    summary = "show the help of a command, or a page of the manual"
    command = add_command(commands, "help", summary, "program.show_help")
    command_help = f"a command (default: all), or a page: {', '.join(PAGES)}"
    command.add_argument("command", metavar="COMMAND", nargs="*", help=command_help)


def _add_info(commands: Commands) -> None:
    summary = "show whether PlantDesk runs, its address and its database"
    command = add_command(commands, "info", summary, "info.info", "database")
    command.add_flag("--json", "print JSON, for scripts")
    text = "wait up to this time for it"
    command.add_argument("--wait", metavar="SECONDS", type=parse_seconds, default=0.0, help=text)


def _add_integration(commands: Commands) -> None:
    command = add_command(commands, "integration", "show or set how the system starts PlantDesk", "program.integration")
    command.add_argument("--login", choices=["on", "off"], metavar="on|off", help="start PlantDesk when you log in")
    command.add_argument("--path", choices=["on", "off"], metavar="on|off", help="add plantdesk to PATH (Windows)")


def _add_mcp(commands: Commands) -> None:
    summary = "let an assistant work with the plants (Model Context Protocol)"
    command = add_command(commands, "mcp", summary, "mcp.serve", "database")
    command.add_flag("--write", "let it add and change plants, not only read them")
    command.add_flag("--delete", "with --write: let it delete plants, too")
    limit_help = "how many plants one call may change (default: 1000)"
    command.add_argument("--limit", metavar="N", type=parse_integer, default=1000, help=limit_help)


def _add_openapi(commands: Commands) -> None:
    add_command(commands, "openapi", "print the OpenAPI 3.1 document of the HTTP API", "program.openapi")


def _add_quick(commands: Commands) -> None:
    add_command(commands, "quick", "open a small window to add one plant", "start.quick", "database")


def _add_restore(commands: Commands) -> None:
    summary = "restore the plants of a backup, after a preview"
    command = add_command(commands, "restore", summary, "whole_store.restore", "database")
    command.add_argument("file", metavar="FILE", type=Path, help="a backup: a file, or a name in `backup --list`")
    command.add_flag("--dry-run", "show only what would come back, go and change")
    command.add_argument("--look", dest="dry_run", action="store_true", help=SUPPRESS)  # its name in 0.1.0
    command.add_flag("--yes", "do not ask")


def _add_selfcheck(commands: Commands) -> None:
    add_command(commands, "selfcheck", "report in JSON whether this installation is complete", "program.selfcheck")


def _add_serve(commands: Commands) -> None:
    summary = "run the HTTP API without a window, until SIGTERM or Ctrl+C"
    command = add_command(commands, "serve", summary, "start.serve", "database", "port")
    add_port(command, "port")
    command.add_flag(
        "--verbose", "print a line for each request on standard error: time, token name, status and reason"
    )


def _add_token(commands: Commands) -> None:
    actions = add_group(commands, "token", "create, list and revoke tokens, with which programs add plants")
    summary = "create a token and print it, only this once"
    create = add_command(actions, "create", summary, "tokens.create", "database")
    create.add_argument("name", metavar="NAME", help="the program that will use it")
    text = "how long it is valid: 12h, 90d, 52w (default: until revoked)"
    create.add_argument("--expires", metavar="TIME", type=parse_duration, help=text)
    create.add_argument(
        "--max-plants", metavar="N", type=parse_integer, help="how many plants it may add (default: no limit)"
    )
    create.add_argument(
        "--output", metavar="FILE", type=Path, help="write it to a new file that only you can read instead"
    )
    listing = add_command(actions, "list", "list the tokens without their secrets", "tokens.list_tokens", "database")
    listing.add_flag("--json", "print JSON, for scripts")
    revoke = add_command(actions, "revoke", "revoke a token at once", "tokens.revoke", "database")
    revoke.add_argument("name", metavar="NAME", help="its name")
    revoke.add_flag("--remove-plants", "also delete the plants it added")


def _add_filter(command: Parser) -> None:
    """Add the options that `parse_filter_options` reads."""
    command.add_argument("--search", metavar="TEXT", type=parse_text, help=_SEARCH_HELP)
    command.add_argument("--tag", type=parse_text, help="only those with this tag; garden/: also with those below it")
    command.add_flag("--no-tag", "only those without a tag")
    _add_origin(command)


def _add_origin(command: Parser) -> None:
    source_help = "only those of: form, command, import, token, assistant, or a token's name"
    command.add_argument("--from", dest="source", metavar="SOURCE", help=source_help)
    since_help = f"only those added since: {_TIME_FORMATS}"
    command.add_argument("--since", metavar="TIME", type=parse_time_ago, help=since_help)


def _add_list(commands: Commands) -> None:
    command = add_command(commands, "list", "list plants, newest first", "plants.list_plants", "database")
    _add_filter(command)
    command.add_argument("--limit", metavar="N", type=parse_integer, help="list at most N plants")
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help=_JSON_HELP)
    formats.add_argument("--csv", action="store_true", help="print CSV, for spreadsheets")


def _add_get(commands: Commands) -> None:
    command = add_command(commands, "get", "show one plant", "plants.get", "database")
    command.add_argument("id", metavar="ID", help="its ID")
    command.add_flag("--json", _JSON_HELP)


def _add_edit(commands: Commands) -> None:
    command = add_command(commands, "edit", "change name, tag or note of plants", "plants.edit", "database")
    command.add_argument("id", metavar="ID", nargs="?", help="its ID")
    command.add_argument("--search", metavar="TEXT", type=parse_text, help="instead of an ID: all that `list` finds")
    tags = command.add_mutually_exclusive_group()
    tags.add_argument("--tagged", metavar="TAG", type=parse_text, help="instead of an ID: those `list --tag` finds")
    tags.add_argument("--untagged", action="store_true", help="instead of an ID: those without a tag")
    _add_origin(command)
    command.add_argument("--name", help="its new name")
    command.add_argument("--tag", help="its new tag")
    command.add_flag("--no-tag", "remove its tag")
    command.add_argument("--note", help='its new note; "": none')
    command.add_argument(
        "--replace", nargs=2, metavar=("OLD", "NEW"), type=parse_text, help="replace a text in the name"
    )
    fields = ["name", "note", "name,note"]
    fields_help = "where to replace and tidy up: name (default), note, or name,note"
    command.add_argument("--in", dest="fields", metavar="FIELDS", choices=fields, default="name", help=fields_help)
    command.add_flag("--ignore-case", "replace in upper and lower case")
    command.add_flag("--whole-words", "replace no parts of words")
    command.add_flag("--regex", "OLD is a pattern by the rules of RE2; \\1 in NEW is its first group")
    command.add_flag("--tidy", "remove blanks at the ends and all but one between words")
    command.add_argument("--quotes", choices=["curly", "straight"], help="make quotation marks typographic or straight")
    command.add_argument("--prefix", metavar="TEXT", type=parse_text, help="add a text before the name")
    command.add_argument("--suffix", metavar="TEXT", type=parse_text, help="add a text after the name")
    command.add_argument("--note-append", metavar="TEXT", type=parse_text, help="append a line to the note")
    command.add_flag("--dry-run", "change nothing; print the number and the first changes")
    command.add_flag("--yes", "do not ask when several plants change")


def _add_delete(commands: Commands) -> None:
    command = add_command(commands, "delete", "delete plants; undo brings them back", "plants.delete", "database")
    command.add_argument("ids", metavar="ID", nargs="*", help="IDs of plants")
    _add_filter(command)
    command.add_flag("--yes", "do not ask")


def _add_tag(commands: Commands) -> None:
    actions = add_group(commands, "tag", "list, rename, merge and remove tags")
    summary = "list the tags with the number of their plants"
    add_command(actions, "list", summary, "tags.list_tags", "database").add_flag("--json", _JSON_HELP)
    rename = add_command(actions, "rename", "rename a tag on all its plants", "tags.rename", "database")
    rename.add_argument("tag", metavar="TAG", help="the tag")
    rename.add_argument("new", metavar="NEW", help="a name that no other tag has")
    branch_help = "also the tags below it: with `garden` also `garden/bed 3`"
    rename.add_flag("--branch", branch_help)
    merge = add_command(actions, "merge", "give the plants of tags another tag", "tags.merge", "database")
    merge.add_argument("tags", metavar="TAG", nargs="+", help="the tags")
    merge.add_argument("into", metavar="INTO", help="the tag that they all get")
    remove = add_command(actions, "remove", "remove a tag from all its plants", "tags.remove", "database")
    remove.add_argument("tag", metavar="TAG", help="the tag")
    remove.add_flag("--branch", branch_help)


def _add_duplicates(commands: Commands) -> None:
    summary = "list plants that are alike but for case, accents, quotes and blanks, or merge them"
    command = add_command(commands, "duplicates", summary, "duplicates.duplicates", "database")
    by_help = "in what they are alike: name and tag (default), or name"
    command.add_argument("--by", choices=["name-tag", "name"], default="name-tag", help=by_help)
    command.add_flag("--json", _JSON_HELP)
    command.add_flag("--merge", "make one plant of each group, with the notes of all")
    keep_help = "with --merge: the plant that stays (default: lowest, by ID)"
    command.add_argument("--keep", choices=[rule.value for rule in KeepRule], help=keep_help)
    all_help = "with --merge: also plants that were added together, such as 20 x Salvia, or that agree in everything"
    command.add_flag("--all", all_help)
    _add_merge_options(command)


def _add_merge(commands: Commands) -> None:
    summary = "merge plants into another one, which gets the notes of all"
    command = add_command(commands, "merge", summary, "duplicates.merge", "database")
    command.add_argument("ids", metavar="ID", nargs="+", help="IDs of the plants that go")
    command.add_argument("--into", metavar="ID", required=True, help="the ID of the plant that stays")
    _add_merge_options(command)


def _add_merge_options(command: Parser) -> None:
    command.add_flag("--dry-run", "change nothing; print what the first groups become")
    command.add_flag("--yes", "do not ask when several plants go")


def _add_names(commands: Commands) -> None:
    actions = add_group(commands, "names", "import or remove the list of known names, which are offered while you type")
    summary = "make the list of a file with one name on each line, or a table with a column of names"
    import_command = add_command(actions, "import", summary, "names.import_names", "database")
    text = "the file; -: standard input, text without --format"
    import_command.add_argument("file", metavar="FILE", type=Path, help=text)
    _add_format(import_command, tuple(Format))
    info = add_command(actions, "info", "show what the list was made of", "names.info", "database")
    info.add_flag("--json", _JSON_HELP)
    add_command(actions, "remove", "remove the list", "names.remove", "database")


def _add_history(commands: Commands) -> None:
    summary = "list the changes of plants, newest first"
    command = add_command(commands, "history", summary, "history.list_changes", "database")
    command.add_argument("--limit", metavar="N", type=parse_integer, default=100, help="list at most N (default: 100)")
    command.add_argument("--since", metavar="TIME", type=parse_time_ago, help=f"only those since: {_TIME_FORMATS}")
    command.add_flag("--json", _JSON_HELP)


def _add_undo(commands: Commands) -> None:
    summary = "undo a change; again: the change before it"
    undo = add_command(commands, "undo", summary, "history.undo", "database")
    undo.add_argument(
        "number", metavar="NUMBER", nargs="?", type=parse_integer, help="a number in `history` (default: the latest)"
    )


def _add_redo(commands: Commands) -> None:
    add_command(commands, "redo", "take back the latest undo", "history.redo", "database")


def _add_watch(commands: Commands) -> None:
    summary = "print each plant that is added, changed or deleted, until Ctrl+C"
    command = add_command(commands, "watch", summary, "watch.watch", "database")
    command.add_flag("--json", "print a line of JSON for each, for scripts")
    command.add_argument(
        "--since", metavar="POSITION", help="print what came after this `position` of an earlier line first"
    )


def _add_format(command: Parser, formats: Sequence[Format]) -> None:
    format_help = "the format (default: by the file's name)"
    command.add_argument("--format", choices=[choice.value for choice in formats], help=format_help)


def _add_export(commands: Commands) -> None:
    summary = "write plants to a file: CSV, TSV, JSON, JSON Lines or Excel"
    command = add_command(commands, "export", summary, "export.export_plants", "database")
    command.add_argument("file", metavar="FILE", type=Path, help="the file, replaced if it exists; -: standard output")
    _add_format(command, EXPORT_FORMATS)
    _add_filter(command)


def _add_labels(commands: Commands) -> None:
    summary = "write labels of plants to a PDF file, to be printed on sheets"
    command = add_command(commands, "labels", summary, "export.labels", "database")
    command.add_argument("file", metavar="FILE", type=Path, help="the PDF file, replaced if it exists")
    command.add_argument("ids", metavar="ID", nargs="*", help="IDs of plants (default: all that the options select)")
    _add_filter(command)
    sheet_help = "part of the name of a sheet, such as L7159 (default: L7160); another one prints their names"
    command.add_argument("--sheet", default="L7160", type=parse_text, help=sheet_help)
    line_help = "a line of your own in place of tag and ID, with {name}, {tag}, {id} or {note}"
    command.add_argument("--line", default="", metavar="TEXT", type=parse_text, help=line_help)
    start_help = "the first label of the first sheet that is not used yet (default: 1)"
    command.add_argument("--start", default=1, metavar="NUMBER", type=parse_integer, help=start_help)


def _add_import(commands: Commands) -> None:
    summary = "add the plants of files: CSV, TSV, JSON, JSON Lines, Excel or PlantDesk; undo removes them"
    command = add_command(commands, "import", summary, "importing.import_plants", "database")
    command.add_argument("files", metavar="FILE", nargs="+", type=Path, help="the files; -: standard input")
    _add_format(command, tuple(Format))
    command.add_argument("--encoding", type=_parse_encoding, help="the encoding of the files, such as cp1252")
    command.add_flag("--no-header", "the first row is a plant; --map takes the numbers of columns, from 1")
    parse_line_count = partial(parse_integer, least=0)
    skip_help = "lines above the header, such as a title"
    command.add_argument("--skip-lines", metavar="NUMBER", type=parse_line_count, default=0, help=skip_help)
    command.add_flag("--dry-run", "show only what would be new, clash or be invalid")
    command.add_argument(
        "--map",
        metavar="FIELD=COLUMN",
        action="append",
        type=_parse_column,
        default=[],
        help="the column of id, name, tag or note, where its header is another word; several columns of the name: "
        "name=Genus+Species",
    )
    command.add_argument(
        "--on-clash",
        choices=[choice.value for choice in OnConflict],
        default="refuse",
        help="for an ID that another plant has: import nothing, skip the row, take a new ID, or replace the plant; "
        "of several rows with one ID the last",
    )
    command.add_flag("--skip-invalid", "import the other rows when some are invalid")
    command.add_argument("--rejects", metavar="FILE", type=Path, help="write the rows left out to a CSV file")
    command.add_argument("--tag", help="the tag of plants that have none in the file")
    command.add_flag("--json", "print the counts as JSON, for scripts")


def _parse_encoding(text: str) -> str:
    try:
        name = codecs.lookup(text).name
        "".encode(name)
    except (LookupError, UnicodeError):  # unknown, or a codec that is not for text
        name = ""
    if not name or name in _REFUSED_ENCODINGS:
        raise argparse.ArgumentTypeError(Text("“{text}” is not an encoding of text files", text=text))
    return name


def _parse_column(text: str) -> tuple[str, str]:
    field, separator, column = text.partition("=")
    if field not in _FIELDS or not separator:
        raise argparse.ArgumentTypeError(
            Text("“{text}” is not a column: give id, name, tag or note, as in name=Species", text=text)
        )
    return field, column


#: The functions that add commands, in the order of the help: the most frequent ones first.
_COMMAND_ADDERS: tuple[Callable[[Commands], None], ...] = (
    _add_add,
    _add_list,
    _add_edit,
    _add_delete,
    _add_import,
    _add_export,
    _add_undo,
    _add_serve,
    _add_get,
    _add_tag,
    _add_duplicates,
    _add_merge,
    _add_labels,
    _add_history,
    _add_redo,
    _add_watch,
    _add_names,
    _add_token,
    _add_openapi,
    _add_mcp,
    _add_backup,
    _add_restore,
    _add_copy,
    _add_migrate,
    _add_roles,
    _add_quick,
    _add_info,
    _add_integration,
    _add_selfcheck,
    _add_help,
)
