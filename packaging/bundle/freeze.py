"""The frozen program: one folder with everything it needs, made by PyInstaller."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import dev
import project
from bundle import apt, elf

if TYPE_CHECKING:
    from pathlib import Path


def make() -> Path:
    """Freeze the program into DIST; return its folder."""
    began = time.monotonic()
    python = prepare()
    folder = project.program_folder()
    shutil.rmtree(folder, ignore_errors=True)
    project.sbom().unlink(missing_ok=True)
    run_recipe(python, "notices", project.NOTICES)
    command = [str(python), "-P", "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(project.DIST), "--workpath", str(project.WORK / "pyinstaller")]
    # The same commit makes the same bytes; PyInstaller's cache stays in the checkout.
    same = {"SOURCE_DATE_EPOCH": str(project.epoch()), "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1"}
    same["PYINSTALLER_CONFIG_DIR"] = str(project.WORK / "cache")
    # To expand modules takes a tenth of a command; the packages compress them better than PyInstaller.
    same["PYINSTALLER_ZLIB_COMPRESSION_LEVEL"] = "0"
    dev.call([*command, str(project.HERE / "plantdesk.spec")], env={**os.environ, **same})
    if sys.platform.startswith("linux"):
        apt.ensure_installed(["chrpath"])
        for file in filter(elf.is_elf, folder.rglob("*")):
            elf.remove_search_path(file)
    run_recipe(python, "sbom", "--of", folder, project.sbom())
    report_size(folder, began)
    return folder


def prepare() -> Path:
    """Ensure an environment with the program and PyInstaller, so that nothing else is bundled; return its Python."""
    if sys.platform.startswith("linux"):
        apt.ensure_installed([*apt.list_qt_packages(), "binutils"])
    return dev.Environment(dev.HOME / "build-env").ensure("build").python


def run_recipe(python: Path, recipe: str, *arguments: str | Path) -> None:
    """Run another recipe in the environment that the program is frozen from."""
    dev.call([str(python), str(project.HERE / "build.py"), recipe, *map(str, arguments)])


def ensure_frozen() -> Path:
    """Return the frozen program's folder; freeze it if it is missing or older than its sources."""
    return project.program_folder() if project.is_fresh(project.sbom()) else make()


def ensure_package(package: Path, make_package: Callable[..., Path]) -> Path:
    """Return a package if it is newer than its sources; else make one for tests."""
    return package if project.is_fresh(package) else make_package(quick=True)


def stage(channel: str, folder: Path) -> None:
    """Put the frozen program into a new folder, as it goes into a package of that channel."""
    shutil.rmtree(folder, ignore_errors=True)
    # Hard links: nothing changes a file afterwards.
    shutil.copytree(ensure_frozen(), folder, symlinks=True, copy_function=partial(os.link, follow_symlinks=False))
    note_channel(channel, folder / "_internal" / "resources")


def note_channel(channel: str, resources: Path) -> None:
    """Write into the program which package it comes from."""
    resources.mkdir(parents=True, exist_ok=True)
    (resources / "channel").write_text(f"{channel}\n", encoding="ascii", newline="\n")


def measure_size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink())


def report_size(made: Path, began: float) -> None:
    """Print the size of what was made, and the time it took."""
    dev.say(f"{made}: {measure_size(made) / 1e6:.1f} MB after {time.monotonic() - began:.0f} s")
