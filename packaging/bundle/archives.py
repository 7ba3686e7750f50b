"""The archives for Linux (tar) and Windows (zip), to be unpacked anywhere. The same commit makes the same bytes."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import project
from bundle import contents, freeze
from windows import installer


def make_tar(*, quick: bool = False) -> Path:
    """Return the archive for Linux."""
    began = time.monotonic()
    root = project.WORK / "tar"
    folder = f"{project.NAME}-{project.VERSION}"
    freeze.stage("tar", root / folder)
    title = f"{project.TITLE} {project.VERSION} for Linux"
    glibc = ".".join(map(str, contents.MAX_GLIBC))
    values = {"TITLE": title, "LINE": "=" * len(title), "DESCRIPTION": project.DESCRIPTION, "GLIBC": glibc}
    text = project.filled(project.HERE / "linux" / "README.txt.in", values)
    (root / folder / "README.txt").write_text(text, encoding="utf-8", newline="\n")
    shutil.copyfile(project.ROOT / "LICENSE", root / folder / "LICENSE")
    with (
        tar_file().open("wb") as file,
        gzip.GzipFile("", "wb", 1 if quick else 9, file, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        archive.add(root / folder, folder, filter=_normalized)
    freeze.report(tar_file(), began)
    return tar_file()


def tar_file() -> Path:
    """Return where the archive for Linux is put."""
    return project.DIST / f"{project.file_stem()}.tar.gz"


def _normalized(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove what differs between machines."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = project.epoch()
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def make_zip(*, of: Path | None = None, out: Path | None = None) -> Path:
    """Return the archive for Windows, made of a frozen program."""
    began = time.monotonic()
    out = out or project.DIST / f"{installer.stem()}-portable.zip"
    out.parent.mkdir(parents=True, exist_ok=True)
    timestamp = time.gmtime(project.epoch())[:6]
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(out, "w") as archive:
        payload = Path(name) / f"{project.TITLE}-{project.VERSION}"
        installer.stage("zip", of or installer.frozen(), payload)
        for file in sorted(each for each in payload.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(payload.parent).as_posix(), timestamp)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    freeze.report(out, began)
    return out
