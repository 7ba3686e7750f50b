"""`build.py reproduce`: two builds of the same commit are equal in their bytes."""

from __future__ import annotations

import hashlib
import shutil

import dev
import project
from bundle import freeze
from linux import deb, rpm, tar


def reproduce() -> None:
    """Build everything for Linux twice; raise RefusedError where bytes differ."""
    first, second = _build(), _build()
    different = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    if different:
        raise dev.RefusedError("different in two builds: " + ", ".join(different))
    dev.say(f"{len(first)} files are equal in two builds.")


def _build() -> dict[str, str]:
    shutil.rmtree(project.WORK / "pyinstaller", ignore_errors=True)
    folder = freeze.make()
    packages = [deb.make(quick=True), rpm.make(quick=True), tar.make(quick=True), project.sbom()]
    files = [file for file in (*folder.rglob("*"), *packages) if file.is_file()]
    return {str(file.relative_to(project.DIST)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
