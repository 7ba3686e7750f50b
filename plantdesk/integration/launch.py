"""How a system starts this PlantDesk's window."""

from __future__ import annotations

import sys
from pathlib import Path

#: Starts the window minimised: it must be in nobody's way, and there may be no tray to hide in.
BACKGROUND = "--background"


def in_background() -> list[str]:
    """Return the program and its arguments for a start that nobody asked for just now."""
    return [*_window(), BACKGROUND]


def _window() -> list[str]:
    program = Path(sys.executable)
    if sys.platform == "win32":  # there, only the windowed one of two programs opens no console beside the window
        windowed = program.with_name(f"{program.stem.removesuffix('w')}w.exe")
        program = windowed if windowed.exists() else program
    return [str(program)] if getattr(sys, "frozen", False) else [str(program), "-m", "plantdesk"]
