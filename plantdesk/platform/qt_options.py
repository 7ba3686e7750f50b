"""Separates Qt's own command-line options (`-reverse`, `-platform offscreen`) from those of PlantDesk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SWITCHES = {"-reverse", "-widgetcount"}
_WITH_VALUE = {"-style", "-stylesheet", "-platform", "-platformpluginpath", "-platformtheme", "-plugin"}
_WITH_VALUE |= {"-qwindowgeometry", "-qwindowicon", "-qwindowtitle", "-session", "-display", "-geometry"}
#: PlantDesk's own options that have a value.
_OWN_WITH_VALUE = {"--database", "--port"}


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return Qt's options and the other arguments. A command and everything after it belongs to the others."""
    for_qt: list[str] = []
    others: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        length = _length(rest[0])
        (for_qt if length else others).extend(rest[: length or 1])
        if rest[0] in _OWN_WITH_VALUE:
            others.extend(rest[1:2])
            length = 2
        del rest[: length or 1]
    return for_qt, others + rest


def _length(argument: str) -> int:
    """Return the number of arguments of a Qt option with its value; 0 where it is not Qt's."""
    name, equals, _ = argument.partition("=")
    if name in _SWITCHES:
        return 1
    if name in _WITH_VALUE:
        return 1 if equals else 2
    return 0
