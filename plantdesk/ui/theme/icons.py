"""The icons: Lucide's drawings in the colours of the theme, sharp on every screen."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractButton, QPushButton
from shiboken6 import isValid

from plantdesk import resources
from plantdesk.ui.theme.colors import mixed
from plantdesk.ui.theme.metrics import ICON

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from plantdesk.ui.theme.colors import Colors

    IconTarget = QAction | QAbstractButton


_GAP = 4  # beside the 4 px that Qt leaves


class HasColors(Protocol):
    """Whoever knows the colours in force."""

    @property
    def colors(self) -> Colors:
        """The colours in force."""


class Icons:
    """Makes icons by Lucide's name and the name of a colour; those put on buttons and actions stay up to date."""

    def __init__(self, theme: HasColors) -> None:
        self._theme = theme
        self._made: dict[tuple[str, str, int, int], QIcon] = {}
        self._kept: WeakKeyDictionary[QObject, tuple[str, str, int]] = WeakKeyDictionary()

    def icon(self, name: str, color: str = "text", size: int = ICON, gap: int = 0) -> QIcon:
        """Return an icon in the colours of now, for a use that ends before the theme changes.

        `gap` is room between the drawing and a text that follows.
        """
        key = (name, color, size, gap)
        if key not in self._made:
            self._made[key] = self._render(name, color, size, gap)
        return self._made[key]

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        """Return a picture `size` logical pixels wide for a screen of that device pixel ratio."""
        return _drawn(name, self._theme.colors.color(color), size, ratio)

    def put_on(self, bearer: IconTarget, name: str, color: str = "text", size: int = ICON) -> None:
        """Give a button or an action its icon, again after each change of the theme."""
        self._kept[bearer] = (name, color, size)
        self._give(bearer, name, color, size)

    def rebuild(self) -> None:
        """Make all icons anew: the colours have changed."""
        self._made.clear()
        for bearer, (name, token, size) in list(self._kept.items()):
            if isValid(bearer):
                self._give(bearer, name, token, size)  # type: ignore[arg-type]

    def _give(self, bearer: IconTarget, name: str, color: str, size: int) -> None:
        gap = _GAP if isinstance(bearer, QPushButton) and bearer.text() else 0
        bearer.setIcon(self.icon(name, color, size, gap))
        if isinstance(bearer, QAbstractButton):
            bearer.setIconSize(QSize(size + gap, size))

    def _render(self, name: str, color: str, size: int, gap: int) -> QIcon:
        ink = self._theme.colors.color(color)
        faded = mixed(ink, self._theme.colors.color("window"), 0.45)
        icon = QIcon()
        for ratio in sorted({1.0, 2.0, 3.0, _screen_ratio()}):
            icon.addPixmap(_drawn(name, ink, size, ratio, gap), QIcon.Mode.Normal)
            icon.addPixmap(_drawn(name, faded, size, ratio, gap), QIcon.Mode.Disabled)
        return icon


def _screen_ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


@cache
def _drawing(name: str) -> str:
    file = resources.folder() / "icons" / "lucide" / f"{name}.svg"
    return file.read_text(encoding="utf-8").replace('stroke-width="2"', 'stroke-width="1.75"')


def _drawn(name: str, color: QColor, size: int, ratio: float, gap: int = 0) -> QPixmap:
    from PySide6.QtSvg import QSvgRenderer

    svg = _drawing(name).replace("currentColor", color.name())
    pixmap = QPixmap(round((size + gap) * ratio), round(size * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    start = gap * ratio if QGuiApplication.isRightToLeft() else 0
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(start, 0, size * ratio, size * ratio))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
