"""What this program's Qt is made of, for `plantdesk selfcheck`. Shows nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QLibraryInfo, qVersion
from PySide6.QtGui import QGuiApplication, QIcon, QImageReader


class QtDiagnostics(NamedTuple):
    """Qt's version and the plugins that are there."""

    qt: str
    platforms: list[str]
    image_formats: list[str]
    #: Whether an icon became pixels, which takes a plugin of its own.
    draws_icon: bool


def qt_diagnostics(icon: Path) -> QtDiagnostics:
    """Return them, after trying to draw the `icon`. Makes a QGuiApplication where there is none."""
    application = QGuiApplication.instance() or QGuiApplication(["plantdesk"])
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    found = QtDiagnostics(
        qt=qVersion(),
        platforms=sorted(_name(file) for file in (plugins / "platforms").iterdir() if file.is_file()),
        image_formats=sorted(bytes(name.data()).decode() for name in QImageReader.supportedImageFormats()),
        draws_icon=icon.is_file() and not QIcon(str(icon)).pixmap(32, 32).isNull(),
    )
    del application  # before Python's own end, which Qt would not survive
    return found


def _name(plugin: Path) -> str:
    """The plugin's own name: xcb for libqxcb.so, windows for qwindows.dll."""
    return plugin.stem.removeprefix("lib").removeprefix("q")
