"""Qt's own command-line options (`-reverse`, `-platform offscreen`), which stand before those of PlantDesk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SWITCHES = {"-reverse", "-widgetcount"}
_WITH_VALUE = {"-style", "-stylesheet", "-platform", "-platformpluginpath", "-platformtheme", "-plugin"}
_WITH_VALUE |= {"-qwindowgeometry", "-qwindowicon", "-qwindowtitle", "-session", "-display", "-geometry"}


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the leading options of Qt, and the arguments behind them."""
    end = 0
    while end < len(arguments) and (length := _length(arguments[end])):
        end += length
    return list(arguments[:end]), list(arguments[end:])


def _length(argument: str) -> int:
    """Return how many arguments an option of Qt takes, itself included; 0: it is none."""
    name, equals, _ = argument.partition("=")
    if name in _SWITCHES:
        return 1
    if name in _WITH_VALUE:
        return 1 if equals else 2
    return 0
