"""The manual page: plantdesk.1.in, filled in from plantdesk/cli/options.py."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import project
from linux import completions
from plantdesk.cli import options
from plantdesk.platform import manual

if TYPE_CHECKING:
    from pathlib import Path


def main(*, to: Path) -> None:
    """Write the manual page and the completions."""
    to.mkdir(parents=True, exist_ok=True)
    files = {"plantdesk.1": page()}
    files |= {name: completions.completion(shell) for shell, name in completions.FILES.items()}
    for name, text in files.items():
        (to / name).write_text(text, encoding="utf-8", newline="\n")


def page() -> str:
    """Return the manual page in troff's man macros."""
    examples, environment, status = _epilog()
    (top, _), *rest = commands(options.parser())
    summary = project.DESCRIPTION.rstrip(".")
    values = {
        "DAY": time.strftime("%Y-%m-%d", time.gmtime(project.epoch())),
        "VERSION": project.VERSION,
        "SUMMARY": _troff(summary[0].lower() + summary[1:]),
        "DESCRIPTION": _troff(options.DESCRIPTION),
        "OPTIONS": _options(top, hidden=()),
        "COMMANDS": "\n".join(_command(*each) for each in rest if not each[0]._subparsers),  # noqa: SLF001
        "EXAMPLES": _troff(examples),
        "ENVIRONMENT": _described(environment),
        "EXIT_STATUS": "\n".join(map(_described, status)),
    }
    return project.filled(project.HERE / "linux" / "plantdesk.1.in", values)


def commands(parser: argparse.ArgumentParser, does: str = "") -> Iterator[tuple[argparse.ArgumentParser, str]]:
    """Yield the parser and those of its commands with their help texts, depth first."""
    yield parser, does
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            texts = {choice.dest: choice.help for choice in action._choices_actions}  # noqa: SLF001
            for name, each in action.choices.items():
                yield from commands(each, texts.get(name) or "")


def _command(parser: argparse.ArgumentParser, does: str) -> str:
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ").replace("[-h] ", "")
    text = manual.about(parser.prog.partition(" ")[2]) or _sentence(does)
    parts = [f".SS {_troff(usage)}", _paragraphs(text), _options(parser, hidden=("--help",))]
    return "\n".join(filter(None, parts))


def _paragraphs(text: str) -> str:
    """Return the Markdown of the manual in man macros: paragraphs, lists, and tables of two columns."""
    lines = []
    for block in text.replace("`", "").split("\n\n"):
        is_list = block.startswith("- ")
        if block.startswith("| "):
            lines += [_entry(*row.strip("| ").split(" | ", 1)) for row in block.splitlines()[2:]]
            continue
        for item in block.removeprefix("- ").split("\n- ") if is_list else [block]:
            lines += [r".IP \(bu 2" if is_list else ".PP", _troff(" ".join(item.split()))]
    return "\n".join(lines[1:] if lines[:1] == [".PP"] else lines)


def _options(parser: argparse.ArgumentParser, hidden: tuple[str, ...]) -> str:
    lines = []
    for action in parser._actions:  # noqa: SLF001
        is_listed = action.help != argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        if not is_listed or set(hidden).intersection(action.option_strings):
            continue
        names = ", ".join(rf"\fB{_troff(name)}\fR" for name in action.option_strings)
        value = "" if action.nargs == 0 else rf"\fI{_troff(str(action.metavar or action.dest.upper()))}\fR"
        text = (action.help or "").replace("%(default)s", str(action.default))
        lines += [".TP", f"{names} {value}".strip(), _troff(_sentence(text))]
    return "\n".join(lines)


def _epilog() -> tuple[str, str, list[str]]:
    """Return the examples, the variable, and the exit codes, which the help shows as paragraphs."""
    examples, _, rest = options.EPILOG.partition("\n\n")
    environment, _, status = rest.partition("\n")
    lines = [line.removeprefix("  ") for line in examples.splitlines()[1:]]
    codes = status.removeprefix("Exit codes: ").replace("\n", " ").rstrip(". ").split("; ")
    return "\n".join(lines), environment.rstrip("."), codes


def _described(text: str) -> str:
    """Return the first word as a term, and the others as its description."""
    term, _, description = text.partition(" ")
    return _entry(term, description)


def _entry(term: str, description: str) -> str:
    return f".TP\n\\fB{_troff(term)}\\fR\n{_troff(_sentence(description))}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _troff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    escaped = re.sub(r"[^\x00-\x7f]", lambda found: rf"\[u{ord(found[0]):04X}]", escaped)  # which any groff reads
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
