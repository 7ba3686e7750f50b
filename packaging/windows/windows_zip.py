"""`build.py zip`: the frozen program for Windows in an archive, to be unpacked anywhere."""

from __future__ import annotations

import argparse
import tempfile
import time
import zipfile
from pathlib import Path

import project
from windows import installer as windows


def main(arguments: list[str]) -> None:
    """Make the archive."""
    parser = argparse.ArgumentParser(prog="build.py zip", description=__doc__)
    parser.add_argument("--of", type=Path, metavar="FOLDER", help="a frozen program (default: freeze it now)")
    options = parser.parse_args(arguments)
    windows.told(make_archive(options.of or windows.frozen(), project.DIST / f"{windows.stem()}-portable.zip"))


def make_archive(folder: Path, out: Path) -> Path:
    """Pack a frozen program into a .zip with one folder in it; the same program makes the same bytes."""
    moment = time.gmtime(project.epoch())[:6]
    out.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as name,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made,
    ):
        payload = windows.with_channel(folder, Path(name) / f"{project.TITLE}-{project.version()}", "zip")
        for file in sorted(each for each in payload.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(payload.parent).as_posix(), moment)
            entry.external_attr = 0o644 << 16
            made.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return out
