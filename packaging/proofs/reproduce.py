"""`build.py reproduce`: build everything for Linux twice, and see that both times the same bytes come out."""

from __future__ import annotations

import argparse
import hashlib
import shutil
from typing import TYPE_CHECKING

import dev
import project
from bundle import freeze
from linux import deb, rpm, tarball

if TYPE_CHECKING:
    from pathlib import Path


def main(arguments: list[str]) -> None:
    """Build twice and compare."""
    argparse.ArgumentParser(prog="build.py reproduce", description=__doc__).parse_args(arguments)
    first, second = _build(), _build()
    different = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    if different:
        raise dev.RefusedError("not the same in two builds: " + ", ".join(different))
    dev.say(f"{len(first)} files are the same in two builds.")


def _build() -> dict[str, str]:
    shutil.rmtree(project.WORK / "pyinstaller", ignore_errors=True)
    folder = freeze.make()
    packages = [deb.make(quick=True), rpm.make(quick=True), tarball.make(quick=True)]
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {str(file.relative_to(project.DIST)): _digest(file) for file in (*files, *packages, project.sbom())}


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
