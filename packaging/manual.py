"""The manual page and the completions of shells, from the command line's own words in plantdesk/options.py.

    build-env/python manual.py FOLDER     write plantdesk.1, plantdesk.bash, _plantdesk and plantdesk.fish

Own code: shtab has no fish, argparse-manpage adds sections of its own, and what is needed of the parser is little.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import project


class Option(NamedTuple):
    """One option or argument of a command."""

    names: tuple[str, ...]
    value: str
    help: str

    @property
    def is_file(self) -> bool:
        """Whether its value is a file's name."""
        return self.value == "FILE"


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
    options, inner, found = [], {}, []
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            inner = action.choices
            told = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
            for name, each in inner.items():
                found += _commands(each, (*path, name), told.get(name, ""))
        else:
            options.append(_option(action))
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    return [Command(path, does, usage, tuple(options), tuple(inner)), *found]


def _option(action: argparse.Action) -> Option:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    return Option(tuple(action.option_strings), value, (action.help or "").replace("%(default)s", str(action.default)))


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
    lines += [".SH EXAMPLES AND EXIT STATUS", ".nf", *(_troff(line) for line in epilog.splitlines()), ".fi"]
    lines += [".SH FILES", ".TP", r".I ~/.local/share/PlantDesk/plants.db", "The plants, an SQLite database.", ".TP"]
    lines += [r".I ~/.local/share/PlantDesk/runtime.json", "Where a running PlantDesk listens.", ".TP"]
    lines += [r".I ~/.config/PlantDesk/settings.json", "The settings.", ".TP"]
    lines += [r".I ~/.local/state/PlantDesk/log", "The logs."]
    return "\n".join(lines) + "\n"


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


# --- completions --------------------------------------------------------------------------------


def bash(found: list[Command]) -> str:
    """Return the completion of bash: words by the command that was typed so far."""
    cases = []
    for command in found:
        words = [*command.inner, *(name for option in command.options for name in option.names)]
        cases.append(f'        "{" ".join(command.path)}") words="{" ".join(words)}" ;;')
    files = "|".join(sorted({name for command in found for o in command.options if o.is_file for name in o.names}))
    valued = "|".join(
        sorted({n for command in found for o in command.options if o.value and not o.is_file for n in o.names})
    )
    paths = " ".join(f'"{" ".join(command.path)}"' for command in found if command.path)
    return f"""\
# bash completion for plantdesk, made from its command line
_plantdesk() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path="" word known words
    case $before in
        {files}) COMPREPLY=($(compgen -f -- "$current")); return ;;
        {valued}) COMPREPLY=(); return ;;
    esac
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        for known in {paths}; do
            [[ $known == "${{path:+$path }}$word" ]] && path=$known && break
        done
    done
    case $path in
{chr(10).join(cases)}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -F _plantdesk plantdesk
"""


def zsh(found: list[Command]) -> str:
    """Return the completion of zsh: one function for each command."""
    functions = []
    for command in found:
        name = "_".join(("_plantdesk", *command.path))
        specifications = [_zsh_option(option) for option in command.options]
        inner = [each for each in found if each.path[:-1] == command.path and each.path]
        if not inner:
            functions.append(f"{name}() {{\n  _arguments -S {' '.join(specifications)}\n}}")
            continue
        list_of = " ".join(_quoted(f"{each.path[-1]}:{each.does}") for each in inner)
        functions.append(
            f"{name}() {{\n  local state line\n"
            f"  _arguments -C {' '.join(specifications)} '1: :->command' '*:: :->rest'\n"
            f"  case $state in\n    command) local -a known=({list_of}); _describe command known ;;\n"
            f"    rest) (( $+functions[{name}_$line[1]] )) && {name}_$line[1] ;;\n  esac\n}}"
        )
    return "#compdef plantdesk\n" + "\n".join(reversed(functions)) + '\n_plantdesk "$@"\n'


def _zsh_option(option: Option) -> str:
    told = option.help.replace("[", "(").replace("]", ")").replace(":", r"\:")
    if not option.names:
        return _quoted(f":{option.value}:")
    value = f":{option.value}:" + ("_files" if option.is_file else "") if option.value else ""
    return " ".join(_quoted(f"{name}[{told}]{value}") for name in option.names)


def fish(found: list[Command]) -> str:
    """Return the completion of fish: one line for each word."""
    lines = ["# fish completion for plantdesk, made from its command line", "complete -c plantdesk -f"]
    tops = " ".join(command.path[0] for command in found if len(command.path) == 1)
    for command in found:
        path = command.path
        seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in path).replace(" and ", "; and ")
        when = seen or f"not __fish_seen_subcommand_from {tops}"
        inner = [each for each in found if each.path[:-1] == path and each.path]
        lines += [
            f"complete -c plantdesk -n {_quoted(when)} -a {each.path[-1]} -d {_quoted(each.does)}" for each in inner
        ]
        lines += [_fish_option(when, option) for option in command.options if option.names]
    return "\n".join(lines) + "\n"


def _fish_option(when: str, option: Option) -> str:
    names = " ".join(f"-l {n.removeprefix('--')}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
    value = (" -r -F" if option.is_file else " -x") if option.value else ""
    return f"complete -c plantdesk -n {_quoted(when)} {names}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "’") + "'"


def main(folder: Path) -> None:
    """Write the four files."""
    from plantdesk import options

    found = commands(options.parser())
    folder.mkdir(parents=True, exist_ok=True)
    day = time.strftime("%Y-%m-%d", time.gmtime(project.epoch()))
    files = {
        "plantdesk.1": page(found, options.DESCRIPTION, options.EPILOG, day),
        "plantdesk.bash": bash(found),
        "_plantdesk": zsh(found),
        "plantdesk.fish": fish(found),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
