"""What a bundle must keep to; `build.py gates` looks at the one that is there."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

import dev
import project
from bundle import freeze
from linux import elf

if TYPE_CHECKING:
    from pathlib import Path

#: Ubuntu 22.04, Debian 12 and Fedora 36 have it; Python asks for it, by one function.
NEWEST_GLIBC = (2, 35)
#: Megabytes of 2^20, as du counts.
LARGEST_FOLDER = 125
#: Megabytes of 10^6, as a download is told.
LARGEST_PACKAGE = 40
#: The files that a bundle on Linux may hold, without what differs from version to version.
LISTED = project.HERE / "linux" / "bundled-files.txt"


def main(arguments: list[str]) -> None:
    """Check the bundle, or accept its files as they are."""
    parser = argparse.ArgumentParser(prog="build.py gates", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write the list of files anew: look at the difference")
    options = parser.parse_args(arguments)
    folder = freeze.ready()
    if options.accept:
        LISTED.write_text("".join(f"{name}\n" for name in files(folder)), encoding="utf-8", newline="\n")
    check(folder)


def check(folder: Path) -> None:
    """Raise RefusedError when the bundle does not keep to it."""
    problems = [*_size_problems(folder), *_glibc_problems(folder)]
    if sys.version_info[:2] == dev.OLDEST:  # others have more, or less, of their library in files of its own
        problems += _list_problems(files(folder))
    if problems:
        raise dev.RefusedError("\n".join(problems))
    dev.say(f"{folder} keeps to its limits: {freeze.size(folder) / 2**20:.1f} MiB, {glibc(folder)}")


def _size_problems(folder: Path) -> list[str]:
    size = freeze.size(folder) / 2**20
    return [f"The folder has {size:.1f} MB, {LARGEST_FOLDER} are allowed."] if size > LARGEST_FOLDER else []


def check_package_size(file: Path) -> None:
    """Raise RefusedError when people would have to download too much."""
    size = file.stat().st_size / 1e6
    if size > LARGEST_PACKAGE:
        raise dev.RefusedError(f"{file} has {size:.1f} MB, {LARGEST_PACKAGE} are allowed.")


def is_program_file(file: Path) -> bool:
    """Whether the system's loader reads it."""
    return sys.platform.startswith("linux") and elf.is_elf(file)


def glibc(folder: Path) -> str:
    """The newest glibc that any file in a bundle asks for."""
    found = max(elf.highest_glibc(file) for file in folder.rglob("*") if is_program_file(file))
    return "GLIBC_" + ".".join(map(str, found))


def _glibc_problems(folder: Path) -> list[str]:
    asked = {file: elf.highest_glibc(file) for file in sorted(folder.rglob("*")) if is_program_file(file)}
    return [f"{file} asks for GLIBC_{version}" for file, version in asked.items() if version > NEWEST_GLIBC]


def files(folder: Path) -> list[str]:
    """Return the files of a bundle by names that a new version does not change."""
    names = {nameless(file.relative_to(folder).as_posix()) for file in folder.rglob("*") if not file.is_dir()}
    return sorted(names)


def nameless(name: str) -> str:
    """Take versions and processors out of a file's name."""
    name = re.sub(r"\.cpython-\d+-[\w-]+(?=\.so)|\.abi3(?=\.so)", "", name)
    name = re.sub(r"python3\.\d+", "python3", name)
    return re.sub(r"(?<=\.so)(\.\d+)+$", "", name)


def _list_problems(found: list[str]) -> list[str]:
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    new = [f"{name} is new in the bundle." for name in found if name not in listed]
    gone = [f"{name} is not in the bundle any more." for name in listed if name not in found]
    advice = ["If that is as it should be: python3 packaging/build.py gates --accept"] if new or gone else []
    return [*new, *gone, *advice]
