"""The theme of the application: light or dark colours, text size, icons, and the style.

It sets palette and colours itself, as Qt's do not follow the desktop reliably on Linux. The style is Fusion with
rounded menus. Mnemonics are underlined while Alt is held, as on other desktops. The icons are SVG files of Lucide.
"""

from __future__ import annotations

import logging
import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QGuiApplication,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPixmap,
    QRegion,
    QWindow,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QMenu,
    QProxyStyle,
    QPushButton,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.platform import paths
from plantdesk.platform.settings import MAX_TEXT_SCALE, MIN_TEXT_SCALE, ThemeMode
from plantdesk.ui.theme.colors import DARK, LIGHT, make_palette, mix_colors, with_high_contrast
from plantdesk.ui.theme.metrics import ICON, FontRole, S, make_metrics
from plantdesk.ui.theme.style_sheet import make_style_sheet

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

    from plantdesk.ui.theme.portal import PortalScheme

    IconTarget = QAction | QAbstractButton


_GAP = 4  # beside the 4 px that Qt leaves

_log = logging.getLogger(__name__)
_ALT = Qt.KeyboardModifier.AltModifier


class Icons:
    """Renders icons by their name and a name of a colour; icons of buttons and actions follow the theme."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._cache: dict[tuple[str, str, int, int], QIcon] = {}
        self._renderers: dict[str, QSvgRenderer] = {}
        self._targets: WeakKeyDictionary[IconTarget, tuple[str, str, int]] = WeakKeyDictionary()

    def icon(self, name: str, color: str = "text", size: int = ICON, gap: int = 0) -> QIcon:
        """Return an icon in the present colours, with a `gap` before the text; it does not follow the theme."""
        key = (name, color, size, gap)
        if key not in self._cache:
            self._cache[key] = self._render_icon(name, color, size, gap)
        return self._cache[key]

    def paint(self, painter: QPainter, rect: QRect, name: str, color: str = "muted") -> None:
        """Paint an icon into a square, in the colour with this name."""
        self.icon(name, color, rect.width()).paint(painter, rect)

    def put_on(self, target: IconTarget, name: str, color: str = "text", size: int = ICON) -> None:
        """Give a button or an action an icon that follows the theme; `size` is the size beside text of 13 px."""
        self._targets[target] = (name, color, size)
        self._set_icon(target, name, color, size)

    def rebuild(self) -> None:
        """Render the icons again in the present colours, and put them on their buttons and actions."""
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

    def _render_icon(self, name: str, color: str, size: int, gap: int) -> QIcon:
        foreground = self._theme.colors.color(color)
        faded = mix_colors(foreground, self._theme.colors.color("window"), 0.45)
        icon = QIcon()
        for ratio in sorted({1.0, 2.0, 3.0, _find_screen_ratio()}):
            pixmap = self._render_pixmap(name, foreground, size, ratio, gap)
            icon.addPixmap(pixmap, QIcon.Mode.Normal)
            icon.addPixmap(_tint(pixmap, faded), QIcon.Mode.Disabled)
        return icon

    def _render_pixmap(self, name: str, color: QColor, size: int, ratio: float, gap: int) -> QPixmap:
        pixmap = QPixmap(round((size + gap) * ratio), round(size * ratio))
        pixmap.fill(Qt.GlobalColor.transparent)
        start = gap * ratio if QGuiApplication.isRightToLeft() else 0
        painter = QPainter(pixmap)
        self._get_renderer(name).render(painter, QRectF(start, 0, size * ratio, size * ratio))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        return _tint(pixmap, color)

    def _get_renderer(self, name: str) -> QSvgRenderer:
        """Return the renderer of a black icon, loaded from its SVG file at the first call."""
        if name not in self._renderers:
            from PySide6.QtSvg import QSvgRenderer

            file = paths.resources_folder() / "icons" / "lucide" / f"{name}.svg"
            try:
                source = file.read_text(encoding="utf-8").replace('stroke-width="2"', 'stroke-width="1.75"')
            except OSError as error:  # package removed meanwhile; an error in a paint event ends the process
                _log.warning("An icon is missing: %s", error)
                source = "<svg/>"
            self._renderers[name] = QSvgRenderer(QByteArray(source.replace("currentColor", "black").encode()))
        return self._renderers[name]


def _find_screen_ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


def _tint(pixmap: QPixmap, color: QColor) -> QPixmap:
    result = QPixmap(pixmap)
    painter = QPainter(result)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(result.rect(), color)
    painter.end()
    return result


class Theme(QObject):
    """The appearance of an application. Create one before the window, so that its first paint has the colours."""

    #: Colours, icons or sizes have changed.
    changed = Signal()

    def __init__(
        self,
        app: QApplication,
        mode: ThemeMode = ThemeMode.SYSTEM,
        text_scale: float = 1.0,
    ) -> None:
        super().__init__()
        self._app = app
        self._hints = app.styleHints()
        self._accessibility = self._hints.accessibility()  # PySide deletes it without a reference
        self._system_font = QFont(app.font())
        #: The chosen mode; `colors.is_dark` is its present result.
        self.mode = mode
        self.text_scale = text_scale
        self.colors = LIGHT
        self.metrics = make_metrics(self._system_font, text_scale)
        self.icons = Icons(self)
        self._style = Style(app)
        app.setStyle(self._style)
        self._hints.colorSchemeChanged.connect(self._apply)
        self._accessibility.contrastPreferenceChanged.connect(self._apply)
        self._set_color_scheme()
        self._apply()

    def font(self, role: FontRole = FontRole.BODY, weight: QFont.Weight | None = None) -> QFont:
        """Return the font of a role, for text in paint code, in its default weight or another one."""
        font = self.metrics.font(role)
        if weight is not None:
            font.setWeight(weight)
        return font

    def set_mode(self, mode: ThemeMode) -> None:
        """Set whether the colours follow the system, or are always light or dark."""
        self.mode = mode
        self._set_color_scheme()
        self._apply()

    def set_text_scale(self, scale: float) -> None:
        """Make all text `scale` times as large as the system's, within limits."""
        self.text_scale = min(max(scale, MIN_TEXT_SCALE), MAX_TEXT_SCALE)
        self._apply()

    def _set_color_scheme(self) -> None:
        """Pass the mode to Qt, for title bars and native dialogs."""
        schemes = {ThemeMode.LIGHT: Qt.ColorScheme.Light, ThemeMode.DARK: Qt.ColorScheme.Dark}
        self._hints.setColorScheme(schemes.get(self.mode, Qt.ColorScheme.Unknown))

    def _is_dark(self) -> bool:
        if self.mode is not ThemeMode.SYSTEM:
            return self.mode is ThemeMode.DARK
        scheme = self._hints.colorScheme()
        if scheme is Qt.ColorScheme.Unknown:
            return self._portal is not None and self._portal.is_dark is True
        return scheme is Qt.ColorScheme.Dark

    @cached_property
    def _portal(self) -> PortalScheme | None:
        """The colour scheme of the desktop portal; None without a session bus."""
        if sys.platform == "linux" and _has_session_bus():
            from plantdesk.ui.theme.portal import PortalScheme

            portal = PortalScheme(self)
            portal.changed.connect(self._apply)
            return portal
        return None

    @Slot()
    def _apply(self) -> None:
        """Set palette, font, style sheet and icons for mode, contrast and text size, if they change."""
        colors = DARK if self._is_dark() else LIGHT
        needs_contrast = self._accessibility.contrastPreference() is Qt.ContrastPreference.HighContrast
        colors = with_high_contrast(colors) if needs_contrast else colors
        metrics = make_metrics(self._system_font, self.text_scale)
        sheet = make_style_sheet(colors, metrics, paths.resources_folder() / "icons" / "indicators")
        if self._app.styleSheet() == sheet and (colors, metrics) == (self.colors, self.metrics):
            return
        self.colors = colors
        self.metrics = metrics
        self._app.setPalette(make_palette(colors))
        self._app.setFont(metrics.font(FontRole.BODY))
        self._app.setStyleSheet(sheet)
        self.icons.rebuild()
        self.changed.emit()


def _has_session_bus() -> bool:
    """Return whether there is a session bus; without one, Qt would start one."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS")) or (folder is not None and Path(folder, "bus").exists())


class Style(QProxyStyle):
    """Fusion with rounded menus, and mnemonics that are underlined while Alt is held in the focused window."""

    def __init__(self, app: QApplication) -> None:
        super().__init__("fusion")
        self._is_underlined = False
        self._window: QWindow | None = None
        app.focusWindowChanged.connect(self._on_window_changed)
        self._on_window_changed(app.focusWindow())

    @override
    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,
    ) -> int:
        if hint is QStyle.StyleHint.SH_UnderlineShortcut:
            return int(self._is_underlined)
        return super().styleHint(hint, option, widget, returnData)

    @override
    def polish(self, *args: Any) -> Any:
        """Watch menus to set a mask when they are resized, as Qt does not ask a style with a style sheet for it."""
        if isinstance(args[0], QMenu):
            args[0].installEventFilter(self)
        return super().polish(*args)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QMenu):
            if event.type() is QEvent.Type.Resize:
                round_corners(watched)
        elif isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Alt:
            is_held = event.type() is QEvent.Type.KeyPress or QApplication.activePopupWidget() is not None
            self._set_underlined(underlined=is_held and sys.platform != "darwin")
        elif self._is_underlined and isinstance(event, QKeyEvent | QMouseEvent) and not event.modifiers() & _ALT:
            self._set_underlined(underlined=False)  # the key was released while a menu was open
        return False

    @Slot(QWindow)
    def _on_window_changed(self, window: QWindow | None) -> None:
        if self._window is not None and isValid(self._window):
            self._window.removeEventFilter(self)
        self._window = window
        if window is not None:
            window.installEventFilter(self)
        self._set_underlined(underlined=False)

    def _set_underlined(self, *, underlined: bool) -> None:
        if underlined is not self._is_underlined:
            self._is_underlined = underlined
            for widget in QApplication.topLevelWidgets():
                widget.update()


def round_corners(popup: QWidget) -> None:
    """Cut off the corners outside the border; a transparent background would be black without a compositor."""
    path = QPainterPath()
    path.addRoundedRect(popup.rect(), S, S)
    popup.setMask(QRegion(path.toFillPolygon().toPolygon()))
