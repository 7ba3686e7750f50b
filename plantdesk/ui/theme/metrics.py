"""Distances and sizes in logical pixels, and fonts by role; sizes and fonts derive from one text size."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetrics, QGuiApplication

#: Distances between widgets, and margins.
XS = 4
S = 8
M = 12
L = 16
XL = 20
XXL = 24
#: From the edge of a pane to its text.
EDGE = XL

ICON = 16
ICON_BUTTON = 26
ICON_LARGE = 48

_MIN_TEXT_PX = 12
#: The text size for which the lengths were designed, in pixels.
_DESIGN_TEXT_PX = 13


class FontRole(StrEnum):
    """The role of a piece of text: a value of the dynamic property `role` in the style sheet."""

    BODY = "body"
    CAPTION = "caption"
    PILL = "pill"
    TITLE = "title"


_SIZE_FACTORS = {
    FontRole.BODY: 1.0,
    FontRole.CAPTION: 0.9,
    FontRole.PILL: 0.9,
    FontRole.TITLE: 1.4,
}


class Metrics(NamedTuple):
    """The sizes in pixels that follow from the text size; `points` are font sizes, `scale` is the factor of lengths."""

    points: dict[FontRole, float]
    scale: float
    line: int
    control: int
    row: int
    compact_row: int
    header: int

    def scaled(self, pixels: int) -> int:
        """Return a length, designed for text of 13 px, for the present text size."""
        return round(pixels * self.scale)

    def font(self, role: FontRole) -> QFont:
        """Return the application's font in a role, medium for pills, regular for the body, else semibold."""
        font = QFont(QGuiApplication.font())
        font.setPointSizeF(self.points[role])
        if role is not FontRole.BODY:
            font.setWeight(QFont.Weight.Medium if role is FontRole.PILL else QFont.Weight.DemiBold)
        return font

    def fixed_font(self) -> QFont:
        """Return the system's font with characters of equal width, in the size of the body."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.points[FontRole.BODY])
        return font


def make_metrics(system_font: QFont, scale: float) -> Metrics:
    """Return the sizes for a text `scale` times as large as the system's; no text gets below 12 px."""
    base = QFontInfo(system_font).pointSizeF() * scale
    dots = QGuiApplication.primaryScreen().logicalDotsPerInch()
    minimum = _MIN_TEXT_PX * 72 / dots
    points = {role: max(base * factor, minimum) for role, factor in _SIZE_FACTORS.items()}
    font = QFont(system_font)
    font.setPointSizeF(points[FontRole.BODY])
    line = QFontMetrics(font).height()
    return Metrics(
        points=points,
        scale=max(1.0, font.pointSizeF() * dots / 72 / _DESIGN_TEXT_PX),
        line=line,
        control=max(34, _round_to_even(line + 16)),
        row=max(34, _round_to_even(line + 14)),
        compact_row=max(28, _round_to_even(line + 8)),
        header=max(34, _round_to_even(line + 18)),
    )


def with_tabular_digits(font: QFont | None = None) -> QFont:
    """Return `font` with digits of equal width; without one, a font that changes nothing else in a widget."""
    result = QFont(font) if font is not None else QFont()
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def _round_to_even(pixels: int) -> int:
    return pixels + pixels % 2
