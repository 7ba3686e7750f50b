"""The icons: Lucide's SVG files in the colours of the theme, for every device pixel ratio."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractButton, QPushButton
from shiboken6 import isValid

from plantdesk.platform import paths
from plantdesk.ui.theme.colors import mixed
from plantdesk.ui.theme.metrics import ICON

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from plantdesk.ui.theme.colors import Colors
    from plantdesk.ui.theme.metrics import Metrics

    IconTarget = QAction | QAbstractButton


_GAP = 4  # beside the 4 px that Qt leaves


class HasColors(Protocol):
    """Provides the present colours and sizes."""

    @property
    def metrics(self) -> Metrics:
        """The present sizes."""

    @property
    def colors(self) -> Colors:
        """The present colours."""


class Icons:
    """Renders icons by Lucide's name and a colour's name; those of buttons and actions follow the theme."""

    def __init__(self, theme: HasColors) -> None:
        self._theme = theme
        self._cache: dict[tuple[str, str, int, int], QIcon] = {}
        self._targets: WeakKeyDictionary[IconTarget, tuple[str, str, int]] = WeakKeyDictionary()

    def icon(self, name: str, color: str = "text", size: int = ICON, gap: int = 0) -> QIcon:
        """Return an icon in the present colours, for use until the theme changes.

        `gap` is the space between the icon and a text behind it.
        """
        key = (name, color, size, gap)
        if key not in self._cache:
            self._cache[key] = self._render(name, color, size, gap)
        return self._cache[key]

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        """Return an icon as a pixmap, `size` logical pixels wide, for a device pixel ratio."""
        return _rendered(name, self._theme.colors.color(color), size, ratio)

    def put_on(self, target: IconTarget, name: str, color: str = "text", size: int = ICON) -> None:
        """Set the icon of a button or an action, and again after each change of the theme.

        `size` is that beside text of 13 px.
        """
        self._targets[target] = (name, color, size)
        self._set_icon(target, name, color, size)

    def rebuild(self) -> None:
        """Render all icons again, after the colours have changed."""
        self._cache.clear()
        for target, (name, color, size) in list(self._targets.items()):
            if isValid(target):
                self._set_icon(target, name, color, size)

    def _set_icon(self, target: IconTarget, name: str, color: str, size: int) -> None:
        size = self._theme.metrics.scaled(size)
        gap = _GAP if isinstance(target, QPushButton) and target.text() else 0
        target.setIcon(self.icon(name, color, size, gap))
        if isinstance(target, QAbstractButton):
            target.setIconSize(QSize(size + gap, size))

    def _render(self, name: str, color: str, size: int, gap: int) -> QIcon:
        foreground = self._theme.colors.color(color)
        faded = mixed(foreground, self._theme.colors.color("window"), 0.45)
        icon = QIcon()
        for ratio in sorted({1.0, 2.0, 3.0, _screen_ratio()}):
            icon.addPixmap(_rendered(name, foreground, size, ratio, gap), QIcon.Mode.Normal)
            icon.addPixmap(_rendered(name, faded, size, ratio, gap), QIcon.Mode.Disabled)
        return icon


def _screen_ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


@cache
def _svg(name: str) -> str:
    file = paths.resources_folder() / "icons" / "lucide" / f"{name}.svg"
    return file.read_text(encoding="utf-8").replace('stroke-width="2"', 'stroke-width="1.75"')


def _rendered(name: str, color: QColor, size: int, ratio: float, gap: int = 0) -> QPixmap:
    from PySide6.QtSvg import QSvgRenderer

    source = _svg(name).replace("currentColor", color.name())
    pixmap = QPixmap(round((size + gap) * ratio), round(size * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    start = gap * ratio if QGuiApplication.isRightToLeft() else 0
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(start, 0, size * ratio, size * ratio))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
