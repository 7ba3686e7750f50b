"""The package for Fedora, openSUSE and the like."""

from __future__ import annotations

import os
import re
import shutil
import textwrap
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import apt, freeze
from linux import tree

if TYPE_CHECKING:
    from pathlib import Path


def make(*, quick: bool = False) -> Path:
    """Build the package and return its path; `quick` compresses little, for tests."""
    apt.ensure_installed(["rpm", "binutils"])
    began = time.monotonic()
    work = project.WORK / "rpm"
    shutil.rmtree(work, ignore_errors=True)
    root = work / "tree"
    tree.make(root, "rpm", zsh="zsh/site-functions")
    tree.put(project.ROOT / "LICENSE", root / "usr/share/licenses/plantdesk")
    tree.put(project.NOTICES, root / "usr/share/licenses/plantdesk")
    tree.normalize(root)
    specification = work / "plantdesk.spec"
    specification.write_text(_specification(root), encoding="utf-8", newline="\n")
    command = ["rpmbuild", "-bb", "--quiet", f"--define=_topdir {work / 'top'}", f"--target={project.machine()}-linux"]
    command += [f"--define=_binary_payload {'w1.gzdio' if quick else 'w9.xzdio'}", str(specification)]
    dev.call(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(project.epoch()), "LC_ALL": "C.UTF-8"})
    (built,) = (work / "top/RPMS").rglob("*.rpm")
    shutil.move(built, path())
    freeze.report_size(path(), began)
    return path()


def path() -> Path:
    """Return where the package is put."""
    return project.DIST / f"plantdesk-{project.VERSION}-1.{project.machine()}.rpm"


def _specification(root: Path) -> str:
    names = {file.name for file in (root / tree.PROGRAM).rglob("lib*.so*")}
    values = {
        "VERSION": project.VERSION,
        "ID": project.APP_ID,
        "TREE": str(root),
        "DESCRIPTION": "\n".join(textwrap.wrap(project.DESCRIPTION, 78)),
        "BUNDLED": "|".join(sorted(re.escape(name).replace("\\", "\\\\") for name in names)),
    }
    return project.fill_template(project.HERE / "linux/plantdesk.rpm.spec.in", values)
