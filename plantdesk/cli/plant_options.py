"""The commands that read and change plants: list, get, edit, delete, tag, history, undo, redo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.cli.command_parser import add_command, add_database, database_of, sentence
from plantdesk.cli.parser import time_ago, unicode_text, whole_number

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from plantdesk.cli.command_parser import Commands
    from plantdesk.cli.commands.filters import Filter
    from plantdesk.cli.parser import Parser

_JSON = "print JSON, for scripts"
#: SQLite accepts expressions up to a depth of 1,000.
_MAX_WORDS = 300
_SEARCH = (
    'only those with these words and "phrases"; also tag:x, tag:none, from:x, added:today, 7d or 2026-11, id:5-90; '
    "-word and -tag:x exclude (--search=-word)"
)


def add_to(commands: Commands) -> None:
    """Add the commands to those of the program."""
    _add_list(commands)
    _add_get(commands)
    _add_edit(commands)
    _add_delete(commands)
    _add_tag(commands)
    _add_history(commands)


def _database(options: argparse.Namespace) -> Path:
    return database_of(options, with_folder=False)  # these commands do not create a database


def add_filter(command: Parser) -> None:
    """Add the options that select plants."""
    command.add_argument("--search", metavar="TEXT", type=unicode_text, help=_SEARCH)
    command.add_argument("--tag", type=unicode_text, help="only those with this tag")
    command.add_argument("--no-tag", action="store_true", help="only those without a tag")
    command.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        help="only those of: form, command, import, token, or a token's name",
    )
    command.add_argument(
        "--since", metavar="TIME", type=time_ago, help="only those added since: 12h, 7d, 2026-11-21 or 2026-11-21T18:00"
    )


def filter_of(options: argparse.Namespace) -> Filter:
    """Return the filter of the options that `add_filter` added."""
    from plantdesk.cli.commands.filters import Filter

    if options.no_tag and options.tag is not None:
        options.parser.error("--no-tag has no effect with --tag")
    if options.search is not None and len(options.search.split()) > _MAX_WORDS:
        options.parser.error(f"--search takes at most {_MAX_WORDS} words")
    return Filter(options.search, options.tag, options.no_tag, options.source, options.since)


def _add_list(commands: Commands) -> None:
    command = add_command(commands, "list", "list plants, newest first", _run_list, "database")
    add_filter(command)
    command.add_argument("--limit", metavar="N", type=whole_number, help="list at most N plants")
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help=_JSON)
    formats.add_argument("--csv", action="store_true", help="print CSV, for spreadsheets")


def _run_list(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import plants

    form = plants.Form.JSON if options.json else plants.Form.CSV if options.csv else plants.Form.TEXT
    return plants.show_list(_database(options), filter_of(options), options.limit, form)


def _add_get(commands: Commands) -> None:
    command = add_command(commands, "get", "show one plant", _run_get, "database")
    command.add_argument("id", metavar="ID", help="its ID")
    command.add_argument("--json", action="store_true", help=_JSON)


def _run_get(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import plants

    return plants.show(_database(options), options.id, as_json=options.json)


def _add_edit(commands: Commands) -> None:
    command = add_command(commands, "edit", "change name, tag or note of a plant", _run_edit, "database")
    command.add_argument("id", metavar="ID", help="its ID")
    command.add_argument("--name", help="its new name")
    command.add_argument("--tag", help="its new tag")
    command.add_argument("--no-tag", action="store_true", help="remove its tag")
    command.add_argument("--note", help='its new note; "": none')


def _run_edit(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import plants

    if options.no_tag and options.tag is not None:
        options.parser.error("--no-tag has no effect with --tag")
    if not options.no_tag and (options.name, options.tag, options.note) == (None, None, None):
        options.parser.error("give --name, --tag, --no-tag or --note")
    wanted = plants.Wanted(options.name, options.tag, options.no_tag, options.note)
    return plants.edit(_database(options), options.id, wanted)


def _add_delete(commands: Commands) -> None:
    command = add_command(commands, "delete", "delete plants; undo brings them back", _run_delete, "database")
    command.add_argument("ids", metavar="ID", nargs="*", help="IDs of plants")
    add_filter(command)
    command.add_argument("--yes", action="store_true", help="do not ask")


def _run_delete(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import filters, plants
    from plantdesk.domain.search import parse_search

    wanted = filter_of(options)
    if bool(options.ids) == (wanted != filters.Filter()):
        options.parser.error("give either IDs, or --search, --tag, --no-tag, --from or --since")
    if wanted.text is not None and parse_search(wanted.text).is_everything:
        options.parser.error("--search needs a word, since an empty one selects all plants")
    return plants.delete(_database(options), options.ids, wanted, confirmed=options.yes)


def _add_tag(commands: Commands) -> None:
    does = "list, rename, merge and remove tags"
    tag = commands.add_parser("tag", help=does, description=sentence(does))
    tag.set_defaults(parser=tag)
    add_database(tag, "group_database")
    actions = tag.add_subparsers(title="commands", metavar="COMMAND", required=True)
    shown = add_command(actions, "list", "list the tags with the number of their plants", _run_tag_list, "database")
    shown.add_argument("--json", action="store_true", help=_JSON)
    rename = add_command(actions, "rename", "rename a tag on all its plants", _run_tag_rename, "database")
    rename.add_argument("tag", metavar="TAG", help="the tag")
    rename.add_argument("new", metavar="NEW", help="a name that no other tag has")
    merge = add_command(actions, "merge", "give the plants of tags another tag", _run_tag_merge, "database")
    merge.add_argument("tags", metavar="TAG", nargs="+", help="the tags")
    merge.add_argument("into", metavar="INTO", help="the tag that they all get")
    remove = add_command(actions, "remove", "remove a tag from all its plants", _run_tag_remove, "database")
    remove.add_argument("tag", metavar="TAG", help="the tag")


def _run_tag_list(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import tags

    return tags.show(_database(options), as_json=options.json)


def _run_tag_rename(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import tags

    return tags.rename(_database(options), options.tag, options.new)


def _run_tag_merge(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import tags

    return tags.merge(_database(options), options.tags, options.into)


def _run_tag_remove(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import tags

    return tags.remove(_database(options), options.tag)


def _add_history(commands: Commands) -> None:
    does = "list the changes of plants, newest first"
    command = add_command(commands, "history", does, _run_history, "database")
    command.add_argument("--limit", metavar="N", type=whole_number, default=100, help="list at most N (default: 100)")
    command.add_argument("--json", action="store_true", help=_JSON)
    does = "undo a change; again: the change before it"
    undo = add_command(commands, "undo", does, _run_undo, "database")
    undo.add_argument(
        "number", metavar="NUMBER", nargs="?", type=whole_number, help="a number in `history` (default: the latest)"
    )
    add_command(commands, "redo", "take back the latest undo", _run_redo, "database")


def _run_history(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import history

    return history.show(_database(options), options.limit, as_json=options.json)


def _run_undo(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import history

    return history.undo(_database(options), options.number)


def _run_redo(options: argparse.Namespace) -> int:
    from plantdesk.cli.commands import history

    return history.redo(_database(options))
