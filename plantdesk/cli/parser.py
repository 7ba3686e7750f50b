"""The argparse subclass, the types of option values, and the options that commands share."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import override

from plantdesk import DEFAULT_PORT, LARGEST_PORT
from plantdesk.domain.folding import is_unicode
from plantdesk.domain.texts import Text, printable
from plantdesk.platform import output

_MAX_WAIT_SECONDS = 86_400
_DURATION_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class Parser(argparse.ArgumentParser):
    """A parser of the program or of one command, with texts, suggestions and titles of PlantDesk."""

    #: Titles in the help, each above a command.
    titles: Mapping[str, str] = {}

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as argparse's
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.register("action", None, _StoreOnce)
        self.color = False  # Python 3.14 colours the help, and the titles are inserted before plain lines

    def add_flag(self, name: str, summary: str) -> None:
        """Add an option without a value, False by default; `summary` is its help."""
        self.add_argument(name, action="store_true", help=summary)

    @override
    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Keep the value `--`, as in `--name=--`, of which argparse makes an empty list."""
        if action.option_strings and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)

    @override
    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:  # noqa: SLF001
            self.error(_with_suggestion(Text("there is no command “{name}”", name=value), value, action.choices))
        super()._check_value(action, value)

    @override
    def format_help(self) -> str:
        text = super().format_help()
        for command, title in self.titles.items():
            text = re.sub(rf"^(?=    {command}\b)", f"\n  {title}:\n", text, count=1, flags=re.MULTILINE)
        return text

    @override
    def print_help(self, file: object = None) -> None:
        """Print the help on standard output. Raises OutputError; argparse would ignore the failure."""
        output.write(self.format_help().rstrip())

    @override
    def error(self, message: Text | str) -> NoReturn:
        super().error(printable(str(message)))

    def refuse_unknown(self, arguments: Sequence[str]) -> None:
        """Report the first of the unknown `arguments`, with a suggestion, and raise SystemExit."""
        first = arguments[0]
        if first.startswith("-"):
            name = first.partition("=")[0]
            text = Text("there is no option {name} here", name=name)
            self.error(_with_suggestion(text, name, self._option_string_actions))
        hint = Text(" (a name is typed after --name)") if "--name" in self._option_string_actions else ""
        self.error(Text("“{argument}” is an unexpected argument{hint}", argument=first, hint=hint))


class _StoreOnce(argparse._StoreAction):  # noqa: SLF001 - has no public name
    """The argparse action that refuses a repeated option, since only one of its values would have an effect."""

    @override
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given: set[str] = vars(namespace).setdefault("given", set())
        if option_string is not None and self.dest in given:
            raise argparse.ArgumentError(self, str(Text("may be given only once")))
        given.add(self.dest)
        super().__call__(parser, namespace, values, option_string)


def _with_suggestion(text: Text, typed: str, known: Iterable[str]) -> Text:
    nearest = difflib.get_close_matches(typed, known, n=1)
    return Text("{problem}; did you mean {name}?", problem=text, name=nearest[0]) if nearest else text


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as 12h, 90d or 52w. Raises ArgumentTypeError, as all functions for option values do."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})([hdw])", text)
    if match is None:
        raise argparse.ArgumentTypeError(
            Text("“{text}” is not a duration: give hours, days or weeks, as in 12h, 90d, 52w", text=text)
        )
    return timedelta(**{_DURATION_UNITS[match[2]]: int(match[1])})


def parse_text(text: str) -> str:
    """Refuse lone surrogates, to which Python decodes bytes that are invalid in the terminal's encoding."""
    if not is_unicode(text):
        raise argparse.ArgumentTypeError(Text("“{text}” is not valid text", text=printable(text)))
    return text


def parse_time_ago(text: str) -> int:
    """Parse a duration before now, or a local date or time. Return milliseconds since 1970, UTC."""
    today = datetime.now(UTC).astimezone().date()
    days = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        time = datetime.now(UTC) - parse_duration(text)
    except argparse.ArgumentTypeError:
        try:
            time = datetime.fromisoformat(str(days.get(text.lower(), text))).astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            message = Text(
                "“{text}” is not a time: give 12h, 7d, today, yesterday, 2026-11-21, or 2026-11-21T18:00", text=text
            )
            raise argparse.ArgumentTypeError(message) from None
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def parse_integer(text: str, least: int = 1, most: int = 999_999_999) -> int:
    """Parse a whole number of at most nine digits, from `least` to `most`."""
    if re.fullmatch("[0-9]{1,9}", text) is None or not least <= int(text) <= most:
        problem = Text("“{text}” is not a whole number from {least} to {most}", text=text, least=least, most=most)
        raise argparse.ArgumentTypeError(problem)
    return int(text)


def parse_seconds(text: str) -> float:
    """Parse a number of seconds with up to three decimals, at most a day."""
    if re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text) is None or float(text) > _MAX_WAIT_SECONDS:
        raise argparse.ArgumentTypeError(
            Text("“{text}” is not a number of seconds from 0 to {most}", text=text, most=_MAX_WAIT_SECONDS)
        )
    return float(text)


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Parser]  # noqa: SLF001 - has no public name


def add_command(commands: Commands, name: str, summary: str, run: str, *global_options: str) -> Parser:
    """Add a command. `run` is its function as `module.function`; `global_options` are allowed before it, too."""
    command = commands.add_parser(name, help=summary, description=_to_sentence(summary))
    command.set_defaults(run=run, parser=command, global_options=global_options)
    if "database" in global_options:
        add_database(command, "database")
    return command


def add_group(commands: Commands, name: str, summary: str) -> Commands:
    """Add a command such as `token`, which needs a command after it; return the object to which these are added."""
    group = commands.add_parser(name, help=summary, description=_to_sentence(summary))
    group.set_defaults(parser=group)
    add_database(group, "group_database")
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True)


def _to_sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def add_database(command: Parser, dest: str) -> None:
    """Add the option --database, whose value is stored as `dest`."""
    text = "the database of plants (default: your own)"
    command.add_argument("--database", dest=dest, metavar="FILE", help=text)


def add_port(command: Parser, dest: str) -> None:
    """Add the option --port, whose value is stored as `dest`."""
    text = f"the port of the API; 0: any free port (default: the port set in the window, initially {DEFAULT_PORT})"
    parse_port = partial(parse_integer, least=0, most=LARGEST_PORT)
    command.add_argument("--port", dest=dest, metavar="N", type=parse_port, help=text)
