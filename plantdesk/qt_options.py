"""Qt's own command-line options (`-reverse`, `-platform offscreen`), among those of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SWITCHES = {"-reverse", "-widgetcount"}
_WITH_VALUE = {"-style", "-stylesheet", "-platform", "-platformpluginpath", "-platformtheme", "-plugin"}
_WITH_VALUE |= {"-qwindowgeometry", "-qwindowicon", "-qwindowtitle", "-session", "-display", "-geometry"}
#: Options of the window that take a value.
_OURS_WITH_VALUE = {"--database", "--port"}


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options of Qt, and the other arguments. A command and what is behind it is not Qt's."""
    of_qt: list[str] = []
    ours: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        length = _length(rest[0])
        (of_qt if length else ours).extend(rest[: length or 1])
        if rest[0] in _OURS_WITH_VALUE:
            ours.extend(rest[1:2])
            length = 2
        del rest[: length or 1]
    return of_qt, ours + rest


def _length(argument: str) -> int:
    """Return how many arguments an option of Qt takes, itself included; 0: it is none."""
    name, equals, _ = argument.partition("=")
    if name in _SWITCHES:
        return 1
    if name in _WITH_VALUE:
        return 1 if equals else 2
    return 0
