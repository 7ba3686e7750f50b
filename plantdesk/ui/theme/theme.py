"""The theme of the application: light or dark, text size, and whether animations are allowed.

It owns both palettes, because on Linux neither Qt's palette nor its colour scheme follow the desktop reliably.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainterPath, QRegion, QWindow
from PySide6.QtWidgets import QApplication, QMenu, QProxyStyle, QStyle, QStyleHintReturn, QStyleOption, QWidget
from shiboken6 import isValid

from plantdesk.platform import paths
from plantdesk.ui.qt import override
from plantdesk.ui.theme.colors import (
    DARK,
    LIGHT,
    TagColors,
    ThemeMode,
    in_high_contrast,
    open_portal,
    palette_of,
)
from plantdesk.ui.theme.icons import Icons
from plantdesk.ui.theme.metrics import FontRole, S, metrics_of
from plantdesk.ui.theme.style_sheet import style_sheet

if TYPE_CHECKING:
    from plantdesk.ui.theme.portal import PortalScheme


SMALLEST_SCALE, LARGEST_SCALE = 0.5, 3.0


class Theme(QObject):
    """The appearance of an application started with STYLE_ARGUMENTS. Create one, before the content of the window."""

    changed = Signal()

    def __init__(
        self,
        app: QApplication,
        mode: ThemeMode = ThemeMode.SYSTEM,
        text_scale: float = 1.0,
        portal: PortalScheme | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._app = app
        self._hints = app.styleHints()
        self._accessibility = self._hints.accessibility()  # kept: PySide forgets it together with its last reference
        self._system_font = QFont(app.font())
        #: The chosen mode; `colors.dark` is its present result.
        self.mode = mode
        self.text_scale = text_scale
        self._portal = portal
        self.colors = LIGHT
        self.metrics = metrics_of(self._system_font, text_scale)
        self.icons = Icons(self)
        self.tags = TagColors(self)
        self._style = Style(app)
        app.setStyle(self._style)
        self._follow_system()
        self._set_color_scheme()
        self._apply()

    @property
    def animated(self) -> bool:
        """Whether animations are allowed: not when the system asks for reduced motion."""
        preference = getattr(self._accessibility, "motionPreference", None)  # from Qt 6.12 on
        return preference is None or preference().name != "ReducedMotion"

    def font(self, role: FontRole = FontRole.BODY) -> QFont:
        """Return the font of a role, for text in paint code."""
        return self.metrics.font(role)

    def set_mode(self, mode: ThemeMode) -> None:
        """Follow the system, or stay light or dark."""
        self.mode = mode
        self._set_color_scheme()
        self._apply()

    def set_text_scale(self, scale: float) -> None:
        """Make all text `scale` times as large as the system's, within limits."""
        self.text_scale = min(max(scale, SMALLEST_SCALE), LARGEST_SCALE)
        self._apply()

    def _follow_system(self) -> None:
        self._hints.colorSchemeChanged.connect(self._on_system_changed)
        self._accessibility.contrastPreferenceChanged.connect(self._on_system_changed)
        if self._portal is None and self._hints.colorScheme() is Qt.ColorScheme.Unknown:
            self._portal = open_portal(self)
        if self._portal is not None:
            self._portal.changed.connect(self._on_system_changed)

    def _set_color_scheme(self) -> None:
        """Set the mode in Qt, so that title bars and native dialogs follow it where they can."""
        schemes = {ThemeMode.LIGHT: Qt.ColorScheme.Light, ThemeMode.DARK: Qt.ColorScheme.Dark}
        self._hints.setColorScheme(schemes.get(self.mode, Qt.ColorScheme.Unknown))

    def _is_dark(self) -> bool:
        if self.mode is not ThemeMode.SYSTEM:
            return self.mode is ThemeMode.DARK
        scheme = self._hints.colorScheme()
        if scheme is Qt.ColorScheme.Unknown and self._portal is not None:
            return self._portal.is_dark is True
        return scheme is Qt.ColorScheme.Dark

    def _high_contrast(self) -> bool:
        return self._accessibility.contrastPreference() is Qt.ContrastPreference.HighContrast

    @Slot()
    def _on_system_changed(self) -> None:
        self._apply()

    def _apply(self) -> None:
        colors = DARK if self._is_dark() else LIGHT
        colors = in_high_contrast(colors) if self._high_contrast() else colors
        metrics = metrics_of(self._system_font, self.text_scale)
        if self._app.styleSheet() and (colors, metrics) == (self.colors, self.metrics):
            return
        self.colors, self.metrics = colors, metrics
        self._app.setPalette(palette_of(colors))
        self._app.setFont(metrics.font(FontRole.BODY))
        self._app.setStyleSheet(style_sheet(colors, metrics, paths.resources_folder() / "icons" / "indicators"))
        self.icons.rebuild()
        self.changed.emit()


_ALT = Qt.KeyboardModifier.AltModifier


class Style(QProxyStyle):
    """Watches the keys of the window that has the focus.

    Make it after the first paint: PySide builds all enumerations of its class then, which takes 20 ms.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__("fusion")
        self._underlined = False
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
            return int(self._underlined)
        return super().styleHint(hint, option, widget, returnData)

    @override
    def polish(self, *args: Any) -> Any:
        """Let menus report their size: with a style sheet, Qt does not ask a style for their mask."""
        if isinstance(args[0], QMenu):
            args[0].installEventFilter(self)
        return super().polish(*args)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QMenu):
            if event.type() is QEvent.Type.Resize:
                _round_corners(watched)
        elif isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Alt:
            is_held = event.type() is QEvent.Type.KeyPress or QApplication.activePopupWidget() is not None
            self._set_underlined(underlined=is_held and sys.platform != "darwin")
        elif self._underlined and isinstance(event, QKeyEvent | QMouseEvent) and not event.modifiers() & _ALT:
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
        if underlined is not self._underlined:
            self._underlined = underlined
            for widget in QApplication.topLevelWidgets():
                widget.update()


def _round_corners(menu: QMenu) -> None:
    """Cut off the corners outside the border; a transparent background would be black without a compositor."""
    path = QPainterPath()
    path.addRoundedRect(menu.rect(), S, S)
    menu.setMask(QRegion(path.toFillPolygon().toPolygon()))
