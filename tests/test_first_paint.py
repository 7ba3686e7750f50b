"""What is imported before the first paint of the window, which delays it."""

import os
import subprocess
import sys

_FIRST_PAINT = """
import os, sys
from plantdesk.cli import main as cli
from plantdesk.ui.main_window import MainWindow

def paint(window, event):
    print(*(name for name in sys.modules if "plantdesk" in name), flush=True)
    os._exit(0)

MainWindow.paintEvent = paint
cli.main([])
"""
#: Of the window itself, its lock, its size and its background.
_NEEDED = {f"plantdesk{name}" for name in ("", ".desktop", ".domain", ".platform", ".ui")}
_NEEDED |= {"plantdesk.domain.errors", "plantdesk.domain.texts"}
_NEEDED |= {f"plantdesk.{name}" for name in ("cli", "cli.main", "cli.commands", "cli.commands.start")}
_NEEDED |= {f"plantdesk.platform.{name}" for name in ("atomic_files", "display", "file_locks", "output", "paths")}
_NEEDED |= {
    f"plantdesk.platform.{name}" for name in ("process", "settings", "unsaved_file", "window_requests", "windows")
}
_NEEDED |= {f"plantdesk.store{name}" for name in ("", ".locations", ".postgres", ".postgres.address")}
_NEEDED |= {f"plantdesk.ui.{name}" for name in ("main_window", "preferences", "qt", "single_window", "theme")}
_NEEDED |= {f"plantdesk.ui.theme.{name}" for name in ("colors", "metrics", "style_sheet", "theme")}


def test_before_the_first_paint_nothing_else_is_imported() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)  # the portal is asked where there is a session bus
    environment.pop("XDG_RUNTIME_DIR", None)
    command = [sys.executable, "-c", _FIRST_PAINT]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert set(done.stdout.split()) == _NEEDED
