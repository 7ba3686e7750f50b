"""`build.py bundle`: the frozen program, one folder with all it needs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

import dev
import project
from linux import apt, elf

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
    project.sbom().unlink(missing_ok=True)
    run(environment, "bundle/notices.py", "write", project.NOTICES)
    command = [str(environment.python), "-P", "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(project.DIST), "--workpath", str(project.WORK / "pyinstaller")]
    # The same commit makes the same bytes; PyInstaller's own cache stays in the checkout.
    same = {"SOURCE_DATE_EPOCH": str(project.epoch()), "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1"}
    same["PYINSTALLER_CONFIG_DIR"] = str(project.WORK / "cache")
    dev.call([*command, str(project.HERE / "plantdesk.spec")], env={**os.environ, **same})
    if sys.platform.startswith("linux"):
        for file in filter(elf.is_elf, folder.rglob("*")):
            elf.forget_machine(file)
    run(environment, "bundle/notices.py", "check", folder)
    run(environment, "bundle/notices.py", "sbom", folder, project.sbom())
    dev.say(f"{folder}: {size(folder) / 1e6:.1f} MB after {time.monotonic() - began:.0f} s")
    return folder


def prepare() -> dev.Environment:
    """Return an environment with the program and PyInstaller, and nothing that could slip into the bundle."""
    if sys.platform.startswith("linux"):
        apt.need_libraries()
    environment = dev.Environment(dev.HOME / "build-env")
    with dev.alone():
        if not environment.has("build"):
            environment.make("build")
    return environment


def run(environment: dev.Environment, script: str, *arguments: str | Path) -> None:
    """Run one of the scripts here in the environment that the program is frozen from."""
    dev.call([str(environment.python), str(project.HERE / script), *map(str, arguments)])


def staged(channel: str, folder: Path) -> None:
    """Put the frozen program into a new folder, as it goes into a package of that channel."""
    shutil.rmtree(folder, ignore_errors=True)
    # Links in place of copies: nothing changes a file after this.
    shutil.copytree(ready(), folder, symlinks=True, copy_function=_link)
    (folder / "_internal" / "resources" / "channel").write_text(f"{channel}\n", encoding="ascii", newline="\n")


def _link(source: str, target: str) -> None:
    os.link(source, target, follow_symlinks=False)


def ready() -> Path:
    """Return the frozen program's folder; freeze it when it is not there, or older than what it is made of."""
    return project.folder_of_program() if project.is_fresh(project.sbom()) else make()


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
