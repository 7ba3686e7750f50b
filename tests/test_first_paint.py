"""What is imported before the window is painted for the first time: each module delays it."""

from __future__ import annotations

import os
import subprocess
import sys

_FIRST_PAINT = """
import os, sys
from PySide6 import QtCore, QtWidgets
from plantdesk.cli import main as cli
from plantdesk.ui.main_window import MainWindow

def paint(window, event):
    made = [name for module in (QtCore, QtWidgets) for name in ("Qt", "QStyle") if name in vars(module)]
    print(*(name for name in sys.modules if "plantdesk" in name), *made, flush=True)
    os._exit(0)

MainWindow.paintEvent = paint
cli.main([])
"""
#: Of the window itself, its lock, its size and its background.
_NEEDED = {
    "plantdesk",
    "plantdesk.desktop",
    "plantdesk.domain",
    "plantdesk.domain.errors",
    "plantdesk.domain.overrides",
    "plantdesk.domain.values",
    "plantdesk.platform",
    "plantdesk.ui",
}
_NEEDED |= {f"plantdesk.{each}" for each in ("cli", "cli.main", "cli.commands", "cli.commands.start")}
_PLATFORM = ("core_dumps", "display", "output", "paths", "settings", "window_requests", "windows")
_NEEDED |= {f"plantdesk.platform.{each}" for each in _PLATFORM}
_NEEDED |= {"plantdesk.store", "plantdesk.store.locations"}
_NEEDED |= {f"plantdesk.ui.{each}" for each in ("main_window", "preferences", "qt", "theme")}
_NEEDED |= {"plantdesk.ui.single_window", "plantdesk.ui.theme.colors"}


def test_before_the_first_paint_nothing_else_is_imported() -> None:
    """Qt's namespace and styles have so many enumerations that their first use takes as long as all these modules."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)  # the portal is asked where there is a session bus
    environment.pop("XDG_RUNTIME_DIR", None)
    command = [sys.executable, "-c", _FIRST_PAINT]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert set(done.stdout.split()) == _NEEDED
