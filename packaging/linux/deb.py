"""The package for Debian, Ubuntu and the like: control.in and copyright.in, filled in."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import textwrap
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import dev
import project
from bundle import apt, elf, freeze
from linux import tree

if TYPE_CHECKING:
    from pathlib import Path

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MAINTAINER = "PlantDesk contributors <plantdesk@users.noreply.github.com>"


def make(*, quick: bool = False, version: str = project.VERSION, extra: dict[str, bytes] | None = None) -> Path:
    """Build the package, check it by lintian, return its path. `version` and `extra` files serve tests of upgrades."""
    apt.ensure_installed(["dpkg-dev", "binutils", "lintian"])
    began = time.monotonic()
    root = project.WORK / "deb"
    tree.make(root, "deb", zsh="zsh/vendor-completions", extra=extra)
    _write_documents(root / "usr/share/doc/plantdesk", version)
    tree.put(project.HERE / "linux/lintian-overrides", root / "usr/share/lintian/overrides", "plantdesk")
    tree.normalize(root)
    _write_control(root, version)
    tree.normalize(root)
    compression = ["-Zgzip", "-z1"] if quick else ["-Zxz", "-z9"]
    same = {**os.environ, "SOURCE_DATE_EPOCH": str(project.epoch())}
    command = ["dpkg-deb", "--root-owner-group", *compression, "--build", str(root), str(path(version))]
    dev.call(command, env=same)
    freeze.report_size(path(version), began)
    _lint(path(version))
    return path(version)


def path(version: str = project.VERSION) -> Path:
    """Return where the package of a version is put."""
    return project.DIST / f"plantdesk_{version}_{_ARCHITECTURES[project.machine()]}.deb"


def _lint(file: Path) -> None:
    command = ["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", str(file)]
    if os.geteuid() == 0:
        command.insert(1, "--allow-root")
    dev.call(command)


def _write_documents(folder: Path, version: str) -> None:
    """Write `copyright` and `changelog.gz`, which Debian's policy requires of each package."""
    folder.mkdir(parents=True)
    notices = project.NOTICES.read_text(encoding="utf-8")
    terms = (project.ROOT / "LICENSE").read_text(encoding="utf-8").split("\n\n", 2)[2]
    values = {
        "PARTS": _continued(notices.partition("=" * 100)[0].partition("each once.")[2]),
        "COPYRIGHT": project.COPYRIGHT.removeprefix("Copyright (c) "),
        "LICENSE": _continued(terms),
    }
    text = project.fill_template(project.HERE / "linux/copyright.in", values)
    (folder / "copyright").write_text(text, encoding="utf-8", newline="\n")
    lines = [f"plantdesk ({version}) unstable; urgency=medium", "", f"  * {project.HOME_PAGE}/blob/main/CHANGELOG.md"]
    lines += ["", f" -- {_MAINTAINER}  {formatdate(project.epoch(), usegmt=False)}", ""]
    tree.compress("\n".join(lines).encode(), folder / "changelog.gz")


def _continued(text: str) -> str:
    """Return text as continuation lines of a field, where a dot stands for an empty line."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip().splitlines())


def _write_control(root: Path, version: str) -> None:
    """Write `control` and `md5sums` into DEBIAN, after all other files: they list size, links and digests."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    folder = root / "DEBIAN"
    folder.mkdir()  # dpkg-shlibdeps recognises the root by it
    linked = _linked_packages(root)
    text = f"{project.DESCRIPTION} Plants are in one SQLite file; what scripts add shows in the open window at once."
    values = {
        "VERSION": version,
        "ARCHITECTURE": _ARCHITECTURES[project.machine()],
        "SIZE": str(sum((path.lstat().st_size + 1023) // 1024 for path in root.rglob("*"))),
        "DEPENDS": linked["Depends"],
        "RECOMMENDS": linked["Recommends"],
        "DESCRIPTION": "\n ".join(textwrap.wrap(text, 78)),
    }
    control = project.fill_template(project.HERE / "linux/control.in", values)
    (folder / "control").write_text(control, encoding="utf-8", newline="\n")
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files]  # noqa: S324
    (folder / "md5sums").write_text("".join(sums), encoding="utf-8", newline="\n")


def _linked_packages(root: Path) -> dict[str, str]:
    """Return the packages that the files link to: Depends, and Recommends for what only single plugins link to."""
    files = [path for path in sorted((root / tree.PROGRAM).rglob("*")) if elf.is_elf(path)]
    # Qt skips a plugin that cannot be loaded; X11's must always work.
    optional = [
        file for file in files if ("plugins" in file.parts and file.name != "libqxcb.so") or "Wayland" in file.name
    ]
    # The folders of the bundled libraries: they are no dependencies.
    folders = ["", "PySide6", "PySide6/Qt/lib", "shiboken6"]
    command = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", *(f"-l/{tree.PROGRAM}/_internal/{f}" for f in folders)]
    command += ["-dDepends", *(str(file) for file in files if file not in optional)]
    command += ["-dRecommends", *map(str, optional)]
    work = project.WORK / "shlibdeps"
    (work / "debian").mkdir(parents=True, exist_ok=True)
    source = "Source: plantdesk\n\nPackage: plantdesk\nArchitecture: any\n"
    (work / "debian/control").write_text(source, encoding="ascii")
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    shutil.rmtree(work)
    if done.returncode != 0:
        raise dev.RefusedError(f"dpkg-shlibdeps: {done.stderr}")
    return dict(re.findall(r"shlibs:(\w+)=(.*)", done.stdout))
