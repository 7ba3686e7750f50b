"""Locates the folder resources/ of a frozen program, an installed wheel or a checkout."""

from __future__ import annotations

import sys
from pathlib import Path


def folder() -> Path:
    """Return the folder that contains icons/ and the other resources."""
    frozen = getattr(sys, "_MEIPASS", None)  # set by the bootloader of PyInstaller
    if frozen is not None:
        return Path(frozen) / "resources"
    package = Path(__file__).resolve().parents[1]
    wheel = package / "_resources"  # force-included by the build; missing in an editable install
    return wheel if wheel.is_dir() else package.parent / "resources"


def channel() -> str:
    """Return the distribution channel that the package names: deb, rpm, tar, nsis, zip or dmg; otherwise "source"."""
    try:
        return (folder() / "channel").read_text(encoding="ascii").strip()
    except OSError:
        return "source"
