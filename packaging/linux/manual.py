"""The manual page and the completions of shells, from the command line's own words in plantdesk/options.py.

    build-env/python manual.py FOLDER     write plantdesk.1, plantdesk.bash, _plantdesk and plantdesk.fish

Own code: argparse-manpage adds sections of its own, and what is needed of the parser is little.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import project
from linux import completions
from plantdesk import options


class Option(NamedTuple):
    """One option or argument of a command."""

    names: tuple[str, ...]
    value: str
    help: str
    #: Of the value, for completions: file, switch, tokens, backups, commands, or nothing that could be completed.
    kind: str


class Command(NamedTuple):
    """One command, as it is typed, and what it takes."""

    path: tuple[str, ...]
    does: str
    usage: str
    options: tuple[Option, ...]
    inner: tuple[str, ...]


def commands(top: argparse.ArgumentParser) -> list[Command]:
    """Return every command, outermost first, depth first."""
    return _commands(top, (), "")


def _commands(parser: argparse.ArgumentParser, path: tuple[str, ...], does: str) -> list[Command]:
    own, inner, found = [], {}, []
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            inner = action.choices
            told = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
            for name, each in inner.items():
                found += _commands(each, (*path, name), told.get(name, ""))
        elif action.help != argparse.SUPPRESS:
            own.append(_option(action, path))
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    return [Command(path, does, usage, tuple(own), tuple(inner)), *found]


def _option(action: argparse.Action, path: tuple[str, ...]) -> Option:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    kind = {"FILE": "file", "on|off": "switch"}.get(value, "")
    if not action.option_strings:
        kind = options.COMPLETIONS.get(path, kind)
    text = (action.help or "").replace("%(default)s", str(action.default))
    return Option(tuple(action.option_strings), value, text, kind)


# --- the manual page ----------------------------------------------------------------------------


def page(found: list[Command], description: str, epilog: str, day: str) -> str:
    """Return the manual page in troff's man macros."""
    top, *rest = found
    lines = [f'.TH PLANTDESK 1 "{day}" "PlantDesk {project.version()}" "User commands"', ".SH NAME"]
    lines += [rf"plantdesk \- {_troff(_summary())}", ".SH SYNOPSIS", ".B plantdesk", r"[\fIOPTIONS\fR]", ".br"]
    lines += [".B plantdesk", r"\fICOMMAND\fR [\fIOPTIONS\fR]", ".SH DESCRIPTION", _troff(description)]
    lines += ["Without a command it opens the window.", ".SH OPTIONS", *_troff_options(top.options), ".SH COMMANDS"]
    for command in rest:
        if command.inner:
            continue
        lines += [".SS " + _troff(command.usage.replace("[-h] ", "")), _troff(_sentence(command.does))]
        lines += _troff_options(option for option in command.options if "--help" not in option.names)
    lines += [*_epilog(epilog), *_PAGE_API]
    lines += [".SH FILES", ".TP", r".I ~/.local/share/PlantDesk/plants.db", "The plants, an SQLite database.", ".TP"]
    lines += [
        r".I ~/.local/share/PlantDesk/run/",
        "Runtime files and sockets of running servers; see plantdesk info.",
        ".TP",
    ]
    lines += [r".I ~/.config/PlantDesk/settings.json", "The settings.", ".TP"]
    lines += [r".I ~/.local/state/PlantDesk/log", "The logs.", ".SH SEE ALSO", ".BR curl (1),", ".BR sqlite3 (1)"]
    return "\n".join(lines) + "\n"


_PAGE_API = [
    ".SH HTTP API",
    "While the window is open or plantdesk serve runs, POST /plants adds one plant, sent as JSON with the header",
    r"\(lqAuthorization: Bearer TOKEN\(rq. GET /openapi.json describes it, without a token.",
    "Nothing but this machine reaches it, and no web page. plantdesk info shows address and Unix domain socket.",
]


def _epilog(epilog: str) -> list[str]:
    """Return the sections of the examples, the environment and the exit status, which the help shows as paragraphs."""
    examples, _, rest = epilog.partition("\n\n")
    environment, _, status = rest.partition("\n")
    lines = [".SH EXAMPLES", ".nf", *(_troff(line.removeprefix("  ")) for line in examples.splitlines()[1:]), ".fi"]
    name, _, does = environment.partition(" ")
    lines += [".SH ENVIRONMENT", ".TP", rf"\fB{_troff(name)}\fR", _troff(_sentence(does.rstrip(".")))]
    codes = status.removeprefix("Exit codes: ").replace("\n", " ").rstrip(". ")
    return [*lines, ".SH EXIT STATUS", *_exit_codes(codes.split("; "))]


def _exit_codes(codes: list[str]) -> list[str]:
    return [
        line
        for code in codes
        for line in (".TP", rf"\fB{code.partition(' ')[0]}\fR", _sentence(code.partition(" ")[2]))
    ]


def _summary() -> str:
    return project.description().rstrip(".")[0].lower() + project.description().rstrip(".")[1:]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _troff_options(options: object) -> list[str]:
    lines = []
    for option in options:  # type: ignore[attr-defined]
        names = ", ".join(rf"\fB{_troff(name)}\fR" for name in option.names)
        value = rf"\fI{_troff(option.value)}\fR" if option.value else ""
        lines += [".TP", f"{names} {value}".strip(), _troff(_sentence(option.help))]
    return lines


def _troff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main(folder: Path) -> None:
    """Write the four files."""
    found = commands(options.parser())
    folder.mkdir(parents=True, exist_ok=True)
    day = time.strftime("%Y-%m-%d", time.gmtime(project.epoch()))
    files = {
        "plantdesk.1": page(found, options.DESCRIPTION, options.EPILOG, day),
        "plantdesk.bash": completions.bash(found),
        "_plantdesk": completions.zsh(found),
        "plantdesk.fish": completions.fish(found),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
