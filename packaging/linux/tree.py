"""The files of a Linux package as they are installed, the same for .deb and .rpm."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import project
from bundle import freeze

#: Where the program is installed.
PROGRAM = Path("usr/lib/plantdesk")


def make(root: Path, channel: str, completions: dict[str, str]) -> None:
    """Put everything below `root`, which is made anew; `completions` tells the folder of each shell's file."""
    shutil.rmtree(root, ignore_errors=True)
    (root / PROGRAM).parent.mkdir(parents=True)
    freeze.staged(channel, root / PROGRAM)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/plantdesk").symlink_to("../lib/plantdesk/plantdesk")
    _desktop(root / "usr/share")
    _manual(root / "usr/share", completions)


def _desktop(share: Path) -> None:
    """The entry in menus, the description in software centres, the icons."""
    identifier = project.desktop_id()
    put(project.RESOURCES / f"{identifier}.desktop", share / "applications")
    put(project.RESOURCES / f"{identifier}.metainfo.xml", share / "metainfo")
    icons = project.RESOURCES / "icons"
    put(icons / "plantdesk.svg", share / "icons/hicolor/scalable/apps", f"{identifier}.svg")
    for icon in sorted(icons.glob("plantdesk-[0-9]*.png")):
        size = icon.stem.rpartition("-")[2]
        put(icon, share / f"icons/hicolor/{size}x{size}/apps", f"{identifier}.png")


def _manual(share: Path, completions: dict[str, str]) -> None:
    made = project.WORK / "manual"
    freeze.run(freeze.prepare(), "linux/manual.py", made)
    compress((made / "plantdesk.1").read_bytes(), share / "man/man1/plantdesk.1.gz")
    put(made / "plantdesk.bash", share / "bash-completion/completions", "plantdesk")
    put(made / "_plantdesk", share / completions["zsh"])
    put(made / "plantdesk.fish", share / "fish/vendor_completions.d")


def put(source: Path, folder: Path, name: str | None = None) -> None:
    """Copy a file, readable for all."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (name or source.name)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def compress(data: bytes, file: Path) -> None:
    """Write a .gz that is the same each time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data, 9, mtime=0))
    file.chmod(0o644)


def settle(root: Path) -> None:
    """Give all files the modes that a package has, and the commit's time."""
    epoch = project.epoch()
    for path in (root, *sorted(root.rglob("*"))):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or (os.access(path, os.X_OK) and _runs(path, root)) else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def _runs(path: Path, root: Path) -> bool:
    """Whether it is a program: libraries need no such mode."""
    return path.parent == root / PROGRAM or path.parent.name == "DEBIAN"
