"""The command by which the operating system starts the window."""

from __future__ import annotations

import sys
from pathlib import Path

#: Opens the window minimised, since there may be no system tray.
BACKGROUND = "--background"


def in_background() -> list[str]:
    """Return the program and its arguments for a start in the background."""
    return [*_window(), BACKGROUND]


def _window() -> list[str]:
    program = Path(sys.executable)
    if sys.platform == "win32":  # python.exe would open a console beside the window
        windowed = program.with_name(f"{program.stem.removesuffix('w')}w.exe")
        program = windowed if windowed.exists() else program
    return [str(program)] if getattr(sys, "frozen", False) else [str(program), "-m", "plantdesk"]
