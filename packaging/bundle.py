"""`build.py bundle`: the frozen program, one folder with all it needs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

import debian
import dev
import project

if TYPE_CHECKING:
    from pathlib import Path


def main(arguments: list[str]) -> None:
    """Freeze the program and tell how large it is."""
    parser = argparse.ArgumentParser(prog="build.py bundle", description=__doc__)
    parser.parse_args(arguments)
    make()


def make() -> Path:
    """Freeze the program into DIST; return its folder."""
    began = time.monotonic()
    environment = prepare()
    folder = project.folder_of_program()
    shutil.rmtree(folder, ignore_errors=True)
    command = [str(environment.python), "-P", "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(project.DIST), "--workpath", str(project.WORK / "pyinstaller")]
    # The same commit makes the same bytes; PyInstaller's own cache stays in the checkout.
    same = {"SOURCE_DATE_EPOCH": str(project.epoch()), "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1"}
    same["PYINSTALLER_CONFIG_DIR"] = str(project.WORK / "cache")
    dev.call([*command, str(project.HERE / "plantdesk.spec")], env={**os.environ, **same})
    dev.say(f"{folder}: {size(folder) / 1e6:.1f} MB after {time.monotonic() - began:.0f} s")
    return folder


def prepare() -> dev.Environment:
    """Return an environment with the program and PyInstaller, and nothing that could slip into the bundle."""
    if sys.platform.startswith("linux"):
        debian.need_libraries()
    environment = dev.Environment(dev.HOME / "build-env")
    with dev.alone():
        if not environment.has("build"):
            environment.make("build")
    return environment


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
