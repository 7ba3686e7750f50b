"""`build.py rpm`: the package for Fedora, openSUSE and their like."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import textwrap
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import gates
from linux import apt, tree

if TYPE_CHECKING:
    from pathlib import Path

COMPLETIONS = {"zsh": "zsh/site-functions"}


def main(arguments: list[str]) -> None:
    """Make the package."""
    parser = argparse.ArgumentParser(prog="build.py rpm", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="compress little: for a test, not for people")
    make(quick=parser.parse_args(arguments).quick)


def make(*, quick: bool = False, version: str | None = None, extra: dict[str, bytes] | None = None) -> Path:
    """Return the package. `version` and `extra` files make one that differs, to test upgrades with."""
    apt.need(["rpm", "binutils"])
    began = time.monotonic()
    work = project.WORK / "rpm"
    shutil.rmtree(work, ignore_errors=True)
    root = work / "tree"
    tree.make(root, "rpm", COMPLETIONS)
    for name, data in (extra or {}).items():
        (root / tree.PROGRAM / name).write_bytes(data)
    tree.put(project.ROOT / "LICENSE", root / "usr/share/licenses/plantdesk")
    tree.put(project.NOTICES, root / "usr/share/licenses/plantdesk")
    tree.settle(root)
    wanted = version or project.version()
    (work / "plantdesk.spec").write_text(_specification(root, wanted), encoding="utf-8", newline="\n")
    command = ["rpmbuild", "-bb", "--quiet", f"--define=_topdir {work / 'top'}", f"--target={project.machine()}-linux"]
    command += [f"--define=_binary_payload {'w1.gzdio' if quick else 'w9.xzdio'}", str(work / "plantdesk.spec")]
    dev.call(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(project.epoch()), "LC_ALL": "C.UTF-8"})
    (built,) = (work / "top/RPMS").rglob("*.rpm")
    file = path(wanted)
    shutil.move(built, file)
    dev.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB after {time.monotonic() - began:.0f} s")
    if not quick:
        gates.check_package_size(file)
    return file


def path(version: str) -> Path:
    """Where the package of a version is put."""
    return project.DIST / f"plantdesk-{version}-1.{project.machine()}.rpm"


def latest() -> Path:
    """Return the package of this version; make a quick one where there is none."""
    file = path(project.version())
    return file if project.is_fresh(file) else make(quick=True)


def _specification(root: Path, version: str) -> str:
    text = (project.HERE / "linux/plantdesk.rpm.spec.in").read_text(encoding="utf-8")
    names = {file.name for file in (root / tree.PROGRAM).rglob("*") if ".so" in file.name}
    values = {
        "VERSION": version,
        "ID": project.desktop_id(),
        "TREE": str(root),
        "DESCRIPTION": "\n".join(textwrap.wrap(project.description(), 78)),
        "BUNDLED": "|".join(sorted(re.escape(name).replace("\\", "\\\\") for name in names if name.startswith("lib"))),
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
