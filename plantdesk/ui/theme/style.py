"""The style of the application: Fusion with rounded menus, whose mnemonics are underlined while Alt is held.

Windows, GNOME and KDE underline them only then, and macOS has none.
"""

from __future__ import annotations

import sys
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainterPath, QRegion, QWindow
from PySide6.QtWidgets import QApplication, QMenu, QProxyStyle, QStyle, QStyleHintReturn, QStyleOption, QWidget
from shiboken6 import isValid

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import S

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
