"""The colours of tags: one of twelve hues each, given by the tag's name or chosen by the user."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor

from plantdesk.ui.theme.colors import Colors, contrast

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Degrees.
HUES = (16, 42, 70, 95, 130, 165, 188, 205, 230, 255, 290, 318)
#: The contrast of a dot with the sidebar, in light and in dark colours: no hue stands out.
_DOT_CONTRAST = {False: 3.7, True: 6.5}


class PillColors(NamedTuple):
    """The colours of a tag's pill."""

    background: QColor
    text: QColor


class TagColors(QObject):
    """The hue of each tag; `changed`: the user has chosen others."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chosen: dict[str, int] = {}

    @property
    def chosen(self) -> Mapping[str, int]:
        """The chosen hues, as positions in `HUES`."""
        return self._chosen

    def set_chosen(self, chosen: Mapping[str, int]) -> None:
        """Use these hues, and for all other tags those of their names."""
        self._chosen = {**chosen}
        self.changed.emit()

    def hue(self, tag: str) -> int:
        """Return the position of a tag's hue in `HUES`."""
        return self._chosen.get(tag, (crc32(tag.encode(errors="replace")) >> 4) % len(HUES))

    def pill(self, tag: str, *, dark: bool) -> PillColors:
        """Return the colours of a tag's pill."""
        return pill_colors(self.hue(tag), dark=dark)


@cache
def pill_colors(hue: int, *, dark: bool) -> PillColors:
    """Return the colours of a pill, with enough contrast for every hue."""
    fraction = HUES[hue] / 360
    if dark:
        return PillColors(QColor.fromHslF(fraction, 0.30, 0.20), QColor.fromHslF(fraction, 0.50, 0.86))
    return PillColors(QColor.fromHslF(fraction, 0.45, 0.90), QColor.fromHslF(fraction, 0.60, 0.19))


@cache
def dot_color(hue: int, colors: Colors) -> QColor:
    """Return the colour of a dot on the sidebar, of the same contrast for every hue."""
    sidebar, requested = colors.color("sidebar"), _DOT_CONTRAST[colors.dark]
    steps = [number / 100 for number in range(10, 91)]
    for lightness in steps if colors.dark else reversed(steps):
        color = QColor.fromHslF(HUES[hue] / 360, 0.55, lightness)
        if contrast(color, sidebar) >= requested:
            return color
    return colors.color("text")
