"""`plantdesk selfcheck`: checks that this installation is complete. Opens no window and no store."""

from __future__ import annotations

import json
import os
import pkgutil
import platform
import sqlite3
import ssl
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import plantdesk
from plantdesk import __version__
from plantdesk.domain.errors import PlantDeskError
from plantdesk.platform import display, output, paths

if TYPE_CHECKING:
    from plantdesk.ui.platform.qt_diagnostics import QtDiagnostics

_PLATFORMS = {"linux": "xcb", "darwin": "cocoa", "win32": "windows"}
_IMAGE_FORMATS = {"png", "svg"}


def run() -> int:
    """Print versions and problems as JSON; return 1 where there are problems."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    display.prepare()
    from plantdesk.ui.platform.qt_diagnostics import qt_diagnostics

    qt = qt_diagnostics(paths.resources_folder() / "icons" / "plantdesk.svg")
    problems = [*_import_problems(), *_qt_problems(qt), *_data_problems()]
    output.write(json.dumps({"problems": problems, **_facts(), **qt._asdict()}, indent=2))
    return 1 if problems else 0


def _facts() -> dict[str, object]:
    return {
        "version": __version__,
        "channel": paths.package_channel(),
        "frozen": bool(getattr(sys, "frozen", False)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "ssl": ssl.OPENSSL_VERSION,
        "resources": str(paths.resources_folder()),
    }


def _import_problems() -> list[str]:
    """Import every module, since most are otherwise imported only when they are used."""
    problems = []
    for found in pkgutil.walk_packages(plantdesk.__path__, "plantdesk."):
        try:
            import_module(found.name)
        except ImportError as error:  # of this module, or of one that it imports
            problems.append(f"{found.name} cannot be imported: {error}")
    return problems


def _qt_problems(qt: QtDiagnostics) -> list[str]:
    problems = [f"Qt has no {name} images" for name in sorted(_IMAGE_FORMATS.difference(qt.image_formats))]
    own = _PLATFORMS.get(sys.platform)
    if own is not None and own not in qt.platforms:
        problems.append(f"Qt has no plugin for this system's windows, {own}")
    if not qt.draws_icon:
        problems.append(f"no icon could be drawn from {paths.resources_folder()}")
    return problems


def _data_problems() -> list[str]:
    try:
        folder = paths.data_folder()
    except PlantDeskError as error:
        return [str(error)]
    return [] if os.access(folder, os.W_OK) else [f"nothing can be written to {folder}"]
