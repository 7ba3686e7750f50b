"""The colours of the first paint, before the modules of the theme are imported: that of the background, light or dark.

Asks neither for Qt's colour scheme nor for anything else of the namespace `Qt`: its first use makes all of its 93
enumerations, which takes as long as a tenth of an empty window.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QPalette

from plantdesk.ui.theme.colors import DARK, LIGHT, palette_of

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QApplication

    from plantdesk.ui.theme.portal import PortalScheme

#: Command-line arguments for the application. `setStyle` has the same effect but takes 20 ms longer: PySide then builds
#: its class of styles, with all enumerations, before the first window.
STYLE_ARGUMENTS = ("-style", "fusion")

#: Of 255: a background below this is dark.
_MIDDLE = 128


class ThemeMode(StrEnum):
    """What the user may choose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class FirstColors:
    """Sets the palette of an application started with STYLE_ARGUMENTS. Create one, before the first widget."""

    def __init__(self, app: QApplication, mode: ThemeMode) -> None:
        #: The portal, if it was asked.
        self.portal: PortalScheme | None = None
        if mode is not ThemeMode.SYSTEM:
            app.styleHints().setProperty("colorScheme", mode.name.title())  # for title bars
        app.setPalette(palette_of(DARK if self._is_dark(app, mode) else LIGHT))

    def _is_dark(self, app: QApplication, mode: ThemeMode) -> bool:
        """Whether the theme will be dark. Where Qt knows that the system is dark, its palette is."""
        if mode is not ThemeMode.SYSTEM:
            return mode is ThemeMode.DARK
        if app.palette().color(QPalette.ColorRole.Window).lightness() < _MIDDLE:
            return True
        self.portal = open_portal(app)
        return self.portal is not None and self.portal.is_dark is True


def open_portal(parent: QObject) -> PortalScheme | None:
    """Read the colour scheme of the desktop portal; None where there is none to ask."""
    if sys.platform == "linux" and _has_session_bus():
        from plantdesk.ui.theme.portal import PortalScheme

        return PortalScheme(parent)
    return None


def _has_session_bus() -> bool:
    """Whether there is a session bus: Qt would start a new one."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS")) or (folder is not None and Path(folder, "bus").exists())
