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
from bundle import contents, freeze
from linux import apt, tree

if TYPE_CHECKING:
    from pathlib import Path


def make(*, quick: bool = False, version: str = project.VERSION, extra: dict[str, bytes] | None = None) -> Path:
    """Return the package. `version` and `extra` files make another one, to test upgrades with."""
    apt.need(["rpm", "binutils"])
    began = time.monotonic()
    work = project.WORK / "rpm"
    shutil.rmtree(work, ignore_errors=True)
    root = work / "tree"
    tree.make(root, "rpm", zsh="zsh/site-functions", extra=extra)
    tree.put(project.ROOT / "LICENSE", root / "usr/share/licenses/plantdesk")
    tree.put(project.NOTICES, root / "usr/share/licenses/plantdesk")
    tree.normalize(root)
    specification = work / "plantdesk.spec"
    specification.write_text(_specification(root, version), encoding="utf-8", newline="\n")
    command = ["rpmbuild", "-bb", "--quiet", f"--define=_topdir {work / 'top'}", f"--target={project.machine()}-linux"]
    command += [f"--define=_binary_payload {'w1.gzdio' if quick else 'w9.xzdio'}", str(specification)]
    dev.call(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(project.epoch()), "LC_ALL": "C.UTF-8"})
    (built,) = (work / "top/RPMS").rglob("*.rpm")
    shutil.move(built, path(version))
    freeze.report(path(version), began)
    if not quick:
        contents.check_package_size(path(version))
    return path(version)


def path(version: str = project.VERSION) -> Path:
    """Return where the package of a version is put."""
    return project.DIST / f"plantdesk-{version}-1.{project.machine()}.rpm"


def _specification(root: Path, version: str) -> str:
    names = {file.name for file in (root / tree.PROGRAM).rglob("lib*.so*")}
    values = {
        "VERSION": version,
        "ID": project.APP_ID,
        "TREE": str(root),
        "DESCRIPTION": "\n".join(textwrap.wrap(project.DESCRIPTION, 78)),
        "BUNDLED": "|".join(sorted(re.escape(name).replace("\\", "\\\\") for name in names)),
    }
    return project.filled(project.HERE / "linux/plantdesk.rpm.spec.in", values)
