"""The completions of bash, zsh and fish, from the commands that `manual.py` finds in plantdesk/options.py.

Own code: shtab knows no fish and no names that only the program knows; argcomplete would be a part of the program
and run it at each press of Tab. Here the program is run for names of tokens and backups only.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linux.manual import Command, Option

_SWITCH = ("on", "off")
#: Kinds of values that the program is asked for.
_ASKED = {"tokens", "backups"}


def bash(found: list[Command]) -> str:
    """Return the completion of bash: one function, with the words of each command."""
    valued = _valued(found)
    by_kind = {kind: "|".join(_names_of(found, kind)) for kind in ("file", "switch", "")}
    cases = "\n".join(f'        "{" ".join(command.path)}") {_bash_case(found, command)} ;;' for command in found)
    return f"""\
# bash completion for plantdesk, made from its command line
_plantdesk_names() {{  # offer the names that the program knows, quoted as they have to be typed
    local name typed=${{1#[\\"\\']}}
    [[ $1 == [\\"\\']* ]] || typed=${{1//\\\\/}}
    while IFS= read -r name; do
        [[ -n $name && $name == "$typed"* ]] || continue
        [[ $1 == [\\"\\']* ]] || name=$(printf %q "$name")
        COMPREPLY+=("$name")
    done < <("${{COMP_WORDS[0]}}" __complete "$2" "${{COMP_WORDS[@]}}" 2>/dev/null)
}}
_plantdesk() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path="" last="" word known
    local inner="" options="" asked="" files=""
    COMPREPLY=()
    if [[ $current == "=" ]]; then  # bash cuts --option=value into three words
        current=""
    elif [[ $before == "=" ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    case $before in
        {by_kind["file"]}) compopt -o default; return ;;
        {by_kind["switch"]}) COMPREPLY=($(compgen -W "{" ".join(_SWITCH)}" -- "$current")); return ;;
        {by_kind[""]}) return ;;
    esac
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $last in
            {"|".join(valued)}) last=$word; continue ;;
        esac
        last=$word
        for known in {" ".join(f'"{" ".join(command.path)}"' for command in found if command.path)}; do
            [[ $known == "${{path:+$path }}$word" ]] && path=$known && break
        done
    done
    case $path in
{cases}
    esac
    if [[ $current == -* || -z $inner$asked$files ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return
    fi
    COMPREPLY=($(compgen -W "$inner" -- "$current"))
    [[ -z $asked ]] || _plantdesk_names "$current" "$asked"
    [[ -z $files ]] || compopt -o default  # where nothing else fits
}}
complete -F _plantdesk plantdesk
"""


def _bash_case(found: list[Command], command: Command) -> str:
    kinds = {option.kind for option in command.options if not option.names}
    inner = [*command.inner, *(_tops(found) if "commands" in kinds else ())]
    parts = [f'options="{" ".join(_option_names(command))}"']
    parts += [f'inner="{" ".join(inner)}"'] if inner else []
    parts += [f"asked={kind}" for kind in sorted(kinds & _ASKED)]
    parts += ["files=1"] if kinds & {"file", "backups"} else []
    return "; ".join(parts)


def zsh(found: list[Command]) -> str:
    """Return the completion of zsh: one function for each command."""
    functions = []
    for command in found:
        name = "_".join(("_plantdesk_at", *command.path))
        specifications = [_zsh_option(found, option) for option in command.options]
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
    return "\n".join(("#compdef plantdesk", _ZSH_NAMES, *reversed(functions), _ZSH_MAIN))


_ZSH_NAMES = """\
_plantdesk_names() {
  local -a names=("${(@f)$("${_plantdesk_words[1]}" __complete $1 "${(Q)_plantdesk_words[@]}" 2>/dev/null)}")
  [[ -n $names[1] ]] && compadd -- "${names[@]}"
}
_plantdesk_tokens() { _plantdesk_names tokens }
_plantdesk_backups() { _plantdesk_names backups; _files }"""
_ZSH_MAIN = """\
_plantdesk() {
  local -a _plantdesk_words=("${words[@]}")
  _plantdesk_at
}
_plantdesk "$@"
"""


def _zsh_option(found: list[Command], option: Option) -> str:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", r"\:")
    actions = {"file": "_files", "switch": f"({' '.join(_SWITCH)})", "commands": f"({' '.join(_tops(found))})"}
    action = actions.get(option.kind, f"_plantdesk_{option.kind}" if option.kind else "")
    if not option.names:
        return _quoted(f":{option.value}:{action}")
    value, separator = (f":{option.value}:{action}", "=") if option.value else ("", "")
    return " ".join(_quoted(f"{name}{separator}[{text}]{value}") for name in option.names)


def fish(found: list[Command]) -> str:
    """Return the completion of fish: one line for each word, for the command that was typed so far."""
    known = " ".join(_quoted(" ".join(command.path)) for command in found if command.path)
    lines = [_FISH_HEAD.replace("VALUED", " ".join(_valued(found))).replace("KNOWN", known)]
    for command in found:
        when = "-n " + _quoted(" ".join(("__plantdesk_at", *command.path)))
        inner = [each for each in found if each.path[:-1] == command.path and each.path]
        lines += [f"complete -c plantdesk {when} -a {each.path[-1]} -d {_quoted(each.does)}" for each in inner]
        lines += [_fish_option(found, when, option) for option in command.options]
    return "\n".join(line for line in lines if line) + "\n"


_FISH_HEAD = """\
# fish completion for plantdesk, made from its command line
function __plantdesk_at
    set -l path
    set -l last
    for word in (commandline -opc)[2..-1]
        if not contains -- "$last" VALUED
            contains -- (string join -- ' ' $path $word) KNOWN; and set path $path $word
        end
        set last $word
    end
    test "$path" = "$argv"
end
complete -c plantdesk -f"""


def _fish_option(found: list[Command], when: str, option: Option) -> str:
    asked = f" -a '(plantdesk __complete {option.kind} (commandline -opc) 2>/dev/null)'"
    values = {
        "file": " -F",
        "switch": f" -a '{' '.join(_SWITCH)}'",
        "commands": f" -a '{' '.join(_tops(found))}'",
        "tokens": asked,
        "backups": f"{asked} -F",
    }
    value = values.get(option.kind, "")
    if not option.names:
        return f"complete -c plantdesk {when}{value}" if value else ""
    names = " ".join(f"-l {n.removeprefix('--')}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
    needs = (" -r" if "-F" in value else " -x") if option.value else ""
    return f"complete -c plantdesk {when} {names}{needs}{value} -d {_quoted(option.help)}"


def _names_of(found: Iterable[Command], kind: str) -> list[str]:
    """Return the names of the options whose values are of a kind."""
    options = itertools.chain.from_iterable(command.options for command in found)
    return sorted({name for option in options if option.value and option.kind == kind for name in option.names})


def _valued(found: list[Command]) -> list[str]:
    return sorted(name for kind in ("file", "switch", "") for name in _names_of(found, kind))


def _option_names(command: Command) -> list[str]:
    return [name for option in command.options for name in option.names]


def _tops(found: Iterable[Command]) -> list[str]:
    return [command.path[0] for command in found if len(command.path) == 1]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "’") + "'"
