"""`build.py tar`: the archive for every Linux, to unpack anywhere."""

from __future__ import annotations

import argparse
import gzip
import tarfile
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import freeze, gates
from linux import tree

if TYPE_CHECKING:
    from pathlib import Path


def main(arguments: list[str]) -> None:
    """Make the archive."""
    parser = argparse.ArgumentParser(prog="build.py tar", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="compress little: for a test, not for people")
    make(quick=parser.parse_args(arguments).quick)


def make(*, quick: bool = False) -> Path:
    """Return the archive; the same commit makes the same bytes."""
    began = time.monotonic()
    root = project.WORK / "tar"
    program = root / f"{project.name()}-{project.version()}"
    freeze.staged("tar", program)
    _read_me(program / "README.txt")
    tree.put(project.ROOT / "LICENSE", program)
    file = path()
    with file.open("wb") as opened, gzip.GzipFile("", "wb", 1 if quick else 9, opened, mtime=0) as compressed:
        _archive(root, compressed)
    dev.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB after {time.monotonic() - began:.0f} s")
    return file


def path() -> Path:
    """Where the archive is put."""
    return project.DIST / f"{project.file_stem()}.tar.gz"


def latest() -> Path:
    """Return the archive of this version; make a quick one where there is none."""
    return path() if project.is_fresh(path()) else make(quick=True)


def _read_me(file: Path) -> None:
    text = (project.HERE / "linux/README.txt.in").read_text(encoding="utf-8")
    title = f"{project.TITLE} {project.version()} for Linux"
    newest = ".".join(map(str, gates.NEWEST_GLIBC))
    facts = {"VERSION": project.version(), "LINE": "=" * len(title), "GLIBC": newest}
    for name, value in {**facts, "DESCRIPTION": project.description()}.items():
        text = text.replace(f"@{name}@", value)
    file.write_text(text, encoding="utf-8", newline="\n")


def _archive(root: Path, compressed: gzip.GzipFile) -> None:
    with tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for program in root.iterdir():
            archive.add(program, program.name, filter=_settled)


def _settled(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Take out what differs from machine to machine."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = project.epoch()
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry
