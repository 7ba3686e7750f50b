"""The archive for Linux, to be unpacked anywhere. The same commit makes the same bytes."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import contents, freeze

if TYPE_CHECKING:
    from pathlib import Path


def make(*, quick: bool = False) -> Path:
    """Build the archive and return its path; `quick` compresses little, for tests."""
    began = time.monotonic()
    folder = f"{project.NAME}-{project.VERSION}"
    root = project.WORK / "tar" / folder
    freeze.stage("tar", root)
    title = f"{project.TITLE} {project.VERSION} for Linux"
    glibc = ".".join(map(str, contents.MAX_GLIBC))
    values = {"TITLE": title, "LINE": "=" * len(title), "DESCRIPTION": project.DESCRIPTION, "GLIBC": glibc}
    text = project.fill_template(project.HERE / "linux" / "README.txt.in", values)
    (root / "README.txt").write_text(text, encoding="utf-8", newline="\n")
    shutil.copyfile(project.ROOT / "LICENSE", root / "LICENSE")
    same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--hard-dereference"]
    same += [f"--mtime=@{project.epoch()}", f"--use-compress-program=gzip --no-name -{1 if quick else 9}"]
    dev.call(["tar", "--create", *same, "--file", str(path()), "--directory", str(root.parent), folder])
    freeze.report_size(path(), began)
    return path()


def path() -> Path:
    """Return where the archive is put."""
    return project.DIST / f"{project.file_stem()}.tar.gz"
