"""Properties of Linux's libraries and programs, read with binutils' readelf."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import dev

if TYPE_CHECKING:
    from pathlib import Path


def list_linked_libraries(file: str | Path) -> list[str]:
    """Return the names of the libraries that a file links to directly."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", _readelf("--dynamic", file))


def find_required_glibc(file: str | Path) -> tuple[int, ...]:
    """Return the newest version of glibc that a file requires; (0,) if none."""
    versions = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", _readelf("--version-info", file))
    return max((tuple(map(int, version.split("."))) for version in versions), default=(0,))


def is_elf(file: Path) -> bool:
    """Return whether a file is a program or library of Linux."""
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def remove_search_path(file: Path) -> None:
    """Let a library search its own folder instead of a folder of the build machine.

    On another machine that folder may be anybody's.
    """
    if re.search(r"\((?:RUNPATH|RPATH)\).*\[/", _readelf("--dynamic", file)):
        dev.call(["chrpath", "--replace", "$ORIGIN", str(file)])


def _readelf(option: str, file: str | Path) -> str:
    return subprocess.check_output(["readelf", "--wide", option, str(file)], text=True)
