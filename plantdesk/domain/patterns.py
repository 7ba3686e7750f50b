"""Patterns that a user types, by the rules of RE2: their time grows with the text alone, whatever the pattern is.

https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol, cast

import re2

from plantdesk.domain.errors import PlantDeskError, Text

_NOT_CLOSED = Text("The bracket at {place} is not closed.")
#: What RE2 reports, and what users are shown.
_REASONS = {
    "missing )": _NOT_CLOSED,
    "missing ]": _NOT_CLOSED,
    "unexpected )": Text("The bracket at {place} closes nothing."),
    "trailing \\": Text("The backslash at {place} needs a character after it."),
    "no argument for repetition operator": Text("There is nothing to repeat before “{part}” at {place}."),
    "bad repetition operator": Text("“{part}” at {place} repeats what is repeated already."),
    "invalid repetition size": Text("“{part}” at {place} repeats too often."),
    "invalid escape sequence": Text("“{part}” at {place} has no meaning."),
    "invalid perl operator": Text("“{part}” at {place} is not supported: patterns follow the rules of RE2."),
    "invalid character class range": Text("“{part}” at {place} is not a range."),
}
_ESCAPED = re.compile(r"\\([\\0-9])")


class InvalidPatternError(PlantDeskError):
    """A pattern cannot be used."""

    text = Text("The pattern is not valid.")


class InvalidReplacementError(InvalidPatternError):
    """The replacement names a group that the pattern lacks."""

    text = Text("The pattern has no group {group}, which the replacement names.")


class Match(Protocol):
    """A match of a pattern in a text."""

    def span(self) -> tuple[int, int]:
        """Return where it begins and ends."""

    def __getitem__(self, group: int) -> str | None:
        """Return what a group has matched."""


def finder(pattern: str, *, any_case: bool) -> Callable[[str], Iterator[Match]]:
    """Return the function that yields the matches in a text. Raises InvalidPatternError."""
    return cast("Callable[[str], Iterator[Match]]", _compiled(pattern, any_case=any_case).finditer)


def template(pattern: str, replacement: str) -> Callable[[Match], str]:
    r"""Return the function that makes the replacement of a match: `\1` is its first group, `\0` all of it.

    Raises InvalidReplacementError, and InvalidPatternError for the pattern.
    """
    groups: int = _compiled(pattern, any_case=False).groups
    parts = _parts(replacement)
    for part in parts:
        if isinstance(part, int) and part > groups:
            raise InvalidReplacementError(group=f"\\{part}")
    return lambda match: "".join(part if isinstance(part, str) else match[part] or "" for part in parts)


def _parts(replacement: str) -> list[str | int]:
    """Return the texts of a replacement and the numbers of its groups, in their order."""
    texts = _ESCAPED.split(replacement)
    return [text if at % 2 == 0 or text == "\\" else int(text) for at, text in enumerate(texts)]


def _compiled(pattern: str, *, any_case: bool) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not any_case
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        message = bytes(error.args[0]).decode(errors="replace")
    except UnicodeEncodeError:
        message = ""
    reason, _, part = message.partition(": ")
    text = _REASONS.get(reason, Text("The pattern is not valid at {place}: “{part}”."))
    if "too large" in reason or not message:
        text = Text("The pattern is too large.") if message else InvalidPatternError.text
    raise InvalidPatternError(text, place=_place(pattern, reason, part), part=part)


def _place(pattern: str, reason: str, part: str) -> int:
    """Return the number of the character, from 1, that RE2's message is about."""
    if reason == "missing ]":
        return len(pattern) - len(part) + 1
    if reason not in {"missing )", "unexpected )"}:
        return (pattern.find(part) if part else len(pattern) - 1) + 1
    brackets: list[int] = []
    for found in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", pattern, re.DOTALL):
        if found[0] == "(":
            brackets.append(found.start())
        elif found[0] == ")":
            if not brackets:
                return found.start() + 1
            brackets.pop()
    return brackets[-1] + 1 if brackets else len(pattern)
