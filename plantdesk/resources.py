"""Where the files of resources/ are: in a frozen program, in an installed wheel, or in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path


def folder() -> Path:
    """Return the folder that holds icons/ and the other resources."""
    frozen = getattr(sys, "_MEIPASS", None)  # set by PyInstaller's bootloader
    if frozen is not None:
        return Path(frozen) / "resources"
    package = Path(__file__).resolve().parent
    wheel = package / "_resources"  # force-included by the build; an editable install has none
    return wheel if wheel.is_dir() else package.parent / "resources"


def channel() -> str:
    """Return how the program came here, as its package says: deb, rpm, tar, nsis, zip or dmg; else "source"."""
    try:
        return (folder() / "channel").read_text(encoding="ascii").strip()
    except OSError:
        return "source"
