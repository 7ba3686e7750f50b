"""The colours of the window by purpose, and of tags; light and dark."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from zlib import crc32

from PySide6.QtGui import QColor, QPalette

_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "sidebar",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "error",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "text",
    QPalette.ColorRole.PlaceholderText: "placeholder",
    QPalette.ColorRole.ToolTipBase: "surface",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "line",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "border",
    QPalette.ColorRole.Shadow: "border",
}
#: Degrees.
HUES = (16, 42, 70, 95, 130, 165, 188, 205, 230, 255, 290, 318)
#: The lightness of the dot of each hue, by whether the colours are dark: no hue stands out from the sidebar.
_DOT_LIGHTNESS = {
    False: (0.49, 0.37, 0.32, 0.34, 0.35, 0.34, 0.37, 0.46, 0.6, 0.61, 0.54, 0.53),
    True: (0.65, 0.5, 0.43, 0.45, 0.47, 0.46, 0.49, 0.62, 0.72, 0.73, 0.7, 0.69),
}


class Colors(NamedTuple):
    """A set of colours by their purpose, each as `#RRGGBB`."""

    is_dark: bool
    window: str
    sidebar: str
    surface: str
    line: str
    row_line: str
    text: str
    muted: str
    placeholder: str
    border: str
    accent: str
    on_accent: str
    selection: str
    focus: str
    error: str
    error_bg: str
    warning: str
    warning_bg: str
    info: str
    info_bg: str
    ok: str
    ok_bg: str
    toast: str
    on_toast: str
    toast_link: str

    @property
    def is_high_contrast(self) -> bool:
        """Whether these are the colours of `with_high_contrast`, so that every edge is visible."""
        return self.border == self.text

    def color(self, name: str) -> QColor:
        """Return the colour for a purpose, by the name of its attribute, such as “muted”."""
        return QColor(getattr(self, name))

    def hover(self, background: str = "surface") -> QColor:
        """Return the colour of a row or button under the pointer, on a background given by its field."""
        return mix_colors(self.color("selection"), self.color(background), 0.45)


LIGHT = Colors(
    is_dark=False,
    window="#F5F7F2",
    sidebar="#ECF0E7",
    surface="#FFFFFF",
    line="#DDE3D6",
    row_line="#E6EAE0",
    text="#1B2318",
    muted="#515C4B",
    placeholder="#667060",
    border="#7A8573",
    accent="#2C7A33",
    on_accent="#FFFFFF",
    selection="#D5E8CF",
    focus="#1F6B27",
    error="#B3261E",
    error_bg="#FCEDEB",
    warning="#7A5200",
    warning_bg="#FBF2DC",
    info="#1D5C9E",
    info_bg="#E9F1FA",
    ok="#23702B",
    ok_bg="#E6F3E3",
    toast="#26301F",
    on_toast="#F5F7F2",
    toast_link="#9ADB9E",
)

DARK = Colors(
    is_dark=True,
    window="#141812",
    sidebar="#181D16",
    surface="#1C211A",
    line="#31382D",
    row_line="#2C3229",
    text="#E7ECE2",
    muted="#AAB4A2",
    placeholder="#98A290",
    border="#7B8672",
    accent="#7DC683",
    on_accent="#0B1A0C",
    selection="#2C4A2F",
    focus="#9ADB9E",
    error="#FFB4AB",
    error_bg="#3A1F1C",
    warning="#F0C35A",
    warning_bg="#352B14",
    info="#A3CBFA",
    info_bg="#1B2B3C",
    ok="#8FD694",
    ok_bg="#1C3220",
    toast="#343C30",
    on_toast="#E7ECE2",
    toast_link="#9ADB9E",
)


def with_high_contrast(colors: Colors) -> Colors:
    """Return the colours for the high-contrast setting of the system: no grey text, every edge visible."""
    return colors._replace(
        muted=colors.text,
        placeholder=colors.text,
        border=colors.text,
        line=colors.border,
        row_line=colors.border,
    )


def mix_colors(front: QColor, back: QColor, opacity: float) -> QColor:
    """Return the colour of `front` painted over `back` with opacity `opacity`."""
    return QColor.fromRgbF(
        front.redF() * opacity + back.redF() * (1 - opacity),
        front.greenF() * opacity + back.greenF() * (1 - opacity),
        front.blueF() * opacity + back.blueF() * (1 - opacity),
    )


def make_palette(colors: Colors) -> QPalette:
    """Return the palette, for widgets that the style sheet does not cover."""
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, colors.color(name))
    faded = mix_colors(colors.color("text"), colors.color("window"), 0.5)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, faded)
    return palette


class PillColors(NamedTuple):
    """The colours of a pill, the rounded label of a tag."""

    background: QColor
    text: QColor


def hue_of(tag: str) -> int:
    """Return the position of a tag's hue in `HUES`, computed from the name."""
    return (crc32(tag.encode(errors="replace")) >> 4) % len(HUES)


@cache
def pill_colors(hue: int, *, dark: bool) -> PillColors:
    """Return the colours of a pill, with enough contrast for every hue."""
    fraction = HUES[hue] / 360
    if dark:
        return PillColors(QColor.fromHslF(fraction, 0.30, 0.20), QColor.fromHslF(fraction, 0.50, 0.86))
    return PillColors(QColor.fromHslF(fraction, 0.45, 0.90), QColor.fromHslF(fraction, 0.60, 0.19))


def dot_color(hue: int, colors: Colors) -> QColor:
    """Return the colour of a tag's dot in the sidebar; `hue` is its position in `HUES`."""
    return QColor.fromHslF(HUES[hue] / 360, 0.55, _DOT_LIGHTNESS[colors.is_dark][hue])
