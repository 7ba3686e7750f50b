"""Regular expressions of users in the syntax of RE2: a search takes linear time, whatever the pattern is.

https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol, cast

import re2

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text

_ESCAPED = re.compile(r"\\([\\0-9])")


class InvalidPatternError(PlantDeskError):
    """A pattern is not valid in the syntax of RE2, or its replacement does not fit it."""

    text = Text("The pattern is not valid.")


class InvalidReplacementError(InvalidPatternError):
    """The replacement names a group that the pattern lacks."""

    text = Text("The pattern has no group {group}, which the replacement names.")


class Match(Protocol):
    """A match of a pattern in a text."""

    def span(self) -> tuple[int, int]:
        """Return the start and the end of the match."""

    def __getitem__(self, group: int) -> str | None:
        """Return the text that a group has matched; None for a group that took no part in the match."""


def compile_finder(pattern: str, *, ignore_case: bool) -> Callable[[str], Iterator[Match]]:
    """Compile a pattern; return the function that yields its matches in a text. Raises InvalidPatternError."""
    return cast("Callable[[str], Iterator[Match]]", _compile(pattern, ignore_case=ignore_case).finditer)


def compile_template(pattern: str, replacement: str) -> Callable[[Match], str]:
    r"""Return the function that makes the replacement of a match: `\1` is its first group, `\0` all of it.

    Raises InvalidReplacementError, and InvalidPatternError for the pattern.
    """
    groups: int = _compile(pattern, ignore_case=False).groups
    parts = _parse_replacement(replacement)
    for part in parts:
        if isinstance(part, int) and part > groups:
            raise InvalidReplacementError(group=f"\\{part}")
    return lambda match: "".join(part if isinstance(part, str) else match[part] or "" for part in parts)


def _parse_replacement(replacement: str) -> list[str | int]:
    """Return the parts of a replacement: texts, and numbers of groups."""
    texts = _ESCAPED.split(replacement)
    return [text if index % 2 == 0 or text == "\\" else int(text) for index, text in enumerate(texts)]


def _compile(pattern: str, *, ignore_case: bool) -> re2._Regexp:
    """Return the compiled pattern. Raises InvalidPatternError, also for a lone surrogate, which RE2 cannot take."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = bytes(error.args[0]).decode(errors="replace")
    except UnicodeEncodeError:
        raise InvalidPatternError from None
    raise InvalidPatternError(Text("The pattern is not valid. RE2 reports: {reason}"), reason=reason)
