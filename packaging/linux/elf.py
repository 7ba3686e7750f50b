"""What is asked of Linux's libraries and programs, by binutils' readelf."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def needed(file: str | Path) -> list[str]:
    """Return the names of the libraries that a file itself links to."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", _readelf("--dynamic", file))


def highest_glibc(file: str | Path) -> tuple[int, ...]:
    """Return the newest version of glibc that a file asks for; (0,) when it asks for none."""
    asked = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", _readelf("--version-info", file))
    return max((tuple(map(int, version.split("."))) for version in asked), default=(0,))


def is_elf(file: Path) -> bool:
    """Whether it is a program or library of Linux."""
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def forget_machine(file: Path) -> None:
    """Make a library look beside itself for others, where it looked into a folder of the machine it was built on.

    On another machine that folder may be anybody's. The new path is shorter, so it fits into the old one's place.
    """
    for path in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(/.+)\]", _readelf("--dynamic", file)):
        old, new = path.encode() + b"\0", b"$ORIGIN\0"
        data = file.read_bytes()
        if len(new) > len(old) or data.count(old) != 1:
            raise ValueError(f"{file}: cannot replace its search path {path}")
        file.write_bytes(data.replace(old, new.ljust(len(old), b"\0")))


def _readelf(what: str, file: str | Path) -> str:
    command = ["readelf", "--wide", what, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
