"""The files of a Linux package as they are installed, equal for .deb and .rpm."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from pathlib import Path

import dev
import project
from bundle import apt, freeze

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
    apt.ensure_installed(["pandoc"])
    made = project.WORK / "manual"
    freeze.run_recipe(freeze.prepare(), "manual", made)
    compress((made / "plantdesk.1").read_bytes(), share / "man/man1/plantdesk.1.gz")
    put(made / "plantdesk.bash", share / "bash-completion/completions", "plantdesk")
    put(made / "_plantdesk", share / zsh)
    put(made / "plantdesk.fish", share / "fish/vendor_completions.d")


def _add_desktop_files(share: Path) -> None:
    icons = project.RESOURCES / "icons"
    translate("desktop", share / "applications" / f"{project.APP_ID}.desktop")
    translate("xml", share / "metainfo" / f"{project.APP_ID}.metainfo.xml")
    put(project.RESOURCES / f"{project.APP_ID}.mime.xml", share / "mime/packages", f"{project.APP_ID}.xml")
    put(icons / "plantdesk.svg", share / "icons/hicolor/scalable/apps", f"{project.APP_ID}.svg")
    for icon in sorted(icons.glob("plantdesk-[0-9]*.png")):
        size = icon.stem.rpartition("-")[2]
        put(icon, share / f"icons/hicolor/{size}x{size}/apps", f"{project.APP_ID}.png")


def translate(kind: str, target: Path) -> None:
    """Write the desktop entry, or the metainfo (`xml`), with the translations of the window's catalogues."""
    apt.ensure_installed(["gettext", "appstream"])  # the latter knows which parts of the metainfo have texts
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        catalogues = shutil.copytree(project.RESOURCES / "languages", Path(folder) / "languages")
        languages = sorted(file.stem for file in catalogues.glob("*.po"))
        (catalogues / "LINGUAS").write_text("\n".join(languages), encoding="ascii")
        source = project.RESOURCES / target.name
        dev.call(["msgfmt", f"--{kind}", f"--template={source}", f"-d{catalogues}", f"--output-file={target}"])


def put(source: Path, folder: Path, name: str | None = None) -> None:
    """Copy a file into `folder`, perhaps under another `name`, readable for everyone."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (name or source.name)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def compress(data: bytes, file: Path) -> None:
    """Write a .gz file without a time, so that two builds are equal."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data, 9, mtime=0))
    file.chmod(0o644)


def normalize(root: Path) -> None:
    """Set the modes that installed files have, and the commit's time, so that two builds are equal."""
    epoch = project.epoch()
    for path in (root, *sorted(root.rglob("*"))):
        if not path.is_symlink():
            # Libraries need no executable bit.
            is_program = path.parent == root / PROGRAM or path.parent.name == "DEBIAN"
            path.chmod(0o755 if path.is_dir() or (is_program and os.access(path, os.X_OK)) else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)
