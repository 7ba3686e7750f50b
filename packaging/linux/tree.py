"""The files of a Linux package as they are installed, equal for .deb and .rpm."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import project
from bundle import freeze
from linux import entries

#: Where the program is installed.
PROGRAM = Path("usr/lib/plantdesk")


def make(root: Path, channel: str, *, zsh: str, extra: dict[str, bytes] | None = None) -> None:
    """Make the tree `root` anew. `zsh` is the folder of zsh's completions, `extra` files are added to the program."""
    shutil.rmtree(root, ignore_errors=True)
    (root / PROGRAM).parent.mkdir(parents=True)
    freeze.stage(channel, root / PROGRAM)
    for name, data in (extra or {}).items():
        (root / PROGRAM / name).write_bytes(data)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/plantdesk").symlink_to("../lib/plantdesk/plantdesk")
    share = root / "usr/share"
    _add_desktop_files(share)
    made = project.WORK / "manual"
    freeze.run(freeze.prepare(), "manual", made)
    compress((made / "plantdesk.1").read_bytes(), share / "man/man1/plantdesk.1.gz")
    put(made / "plantdesk.bash", share / "bash-completion/completions", "plantdesk")
    put(made / "_plantdesk", share / zsh)
    put(made / "plantdesk.fish", share / "fish/vendor_completions.d")


def _add_desktop_files(share: Path) -> None:
    stem, icons = project.RESOURCES / project.APP_ID, project.RESOURCES / "icons"
    for folder, name, data in (
        ("applications", f"{project.APP_ID}.desktop", entries.desktop_entry()),
        ("metainfo", f"{project.APP_ID}.metainfo.xml", entries.metainfo()),
    ):
        (share / folder).mkdir(parents=True)
        (share / folder / name).write_bytes(data)
    put(Path(f"{stem}.mime.xml"), share / "mime/packages", f"{project.APP_ID}.xml")
    put(icons / "plantdesk.svg", share / "icons/hicolor/scalable/apps", f"{project.APP_ID}.svg")
    for icon in sorted(icons.glob("plantdesk-[0-9]*.png")):
        size = icon.stem.rpartition("-")[2]
        put(icon, share / f"icons/hicolor/{size}x{size}/apps", f"{project.APP_ID}.png")


def put(source: Path, folder: Path, name: str | None = None) -> None:
    """Copy a file, readable for everyone."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (name or source.name)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def compress(data: bytes, file: Path) -> None:
    """Write a .gz that is the same each time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data, 9, mtime=0))
    file.chmod(0o644)


def normalize(root: Path) -> None:
    """Set the modes that packages have, and the commit's time."""
    epoch = project.epoch()
    for path in (root, *sorted(root.rglob("*"))):
        if not path.is_symlink():
            # Libraries need no executable bit.
            is_program = path.parent == root / PROGRAM or path.parent.name == "DEBIAN"
            path.chmod(0o755 if path.is_dir() or (is_program and os.access(path, os.X_OK)) else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)
