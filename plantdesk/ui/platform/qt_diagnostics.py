"""Version and plugins of Qt, for `plantdesk selfcheck`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QLibraryInfo, qVersion
from PySide6.QtGui import QGuiApplication, QIcon, QImageReader


class QtDiagnostics(NamedTuple):
    """Qt's version and the available plugins."""

    qt: str
    platforms: list[str]
    image_formats: list[str]
    #: Whether an SVG icon was rendered, which takes a plugin.
    draws_icon: bool


def qt_diagnostics(icon: Path) -> QtDiagnostics:
    """Return them, after rendering `icon`. Creates a QGuiApplication if there is none."""
    application = QGuiApplication.instance() or QGuiApplication(["plantdesk"])
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    found = QtDiagnostics(
        qt=qVersion(),
        platforms=sorted(_name(file) for file in (plugins / "platforms").iterdir() if file.is_file()),
        image_formats=sorted(bytes(name.data()).decode() for name in QImageReader.supportedImageFormats()),
        draws_icon=icon.is_file() and not QIcon(str(icon)).pixmap(32, 32).isNull(),
    )
    del application  # before the interpreter exits, or Qt crashes
    return found


def _name(plugin: Path) -> str:
    """The plugin's own name: xcb for libqxcb.so, windows for qwindows.dll."""
    return plugin.stem.removeprefix("lib").removeprefix("q")
