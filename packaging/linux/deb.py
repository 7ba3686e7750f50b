"""`build.py deb`: the package for Debian, Ubuntu and their like."""

from __future__ import annotations

import argparse
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
from bundle import gates
from ci import changes
from linux import apt, tree

if TYPE_CHECKING:
    from pathlib import Path

#: What Qt wants of a system beside the libraries that its files name.
DEPENDS = ["fontconfig-config", "hicolor-icon-theme"]
RECOMMENDS = ["fonts-dejavu-core | fonts-freefont-ttf | fonts-liberation", "xdg-utils"]
MAINTAINER = "PlantDesk contributors <plantdesk@users.noreply.github.com>"
COMPLETIONS = {"zsh": "zsh/vendor-completions"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def main(arguments: list[str]) -> None:
    """Make the package and let lintian look at it."""
    parser = argparse.ArgumentParser(prog="build.py deb", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="compress little: for a test, not for people")
    make(quick=parser.parse_args(arguments).quick)


def make(*, quick: bool = False, version: str | None = None, extra: dict[str, bytes] | None = None) -> Path:
    """Return the package. `version` and `extra` files make one that differs, to test upgrades with."""
    apt.need(["dpkg-dev", "binutils", "lintian"])
    began = time.monotonic()
    root = project.WORK / "deb"
    tree.make(root, "deb", COMPLETIONS)
    for name, data in (extra or {}).items():
        (root / tree.PROGRAM / name).write_bytes(data)
    _documents(root / "usr/share/doc/plantdesk", version or project.version())
    tree.put(project.HERE / "linux/lintian-overrides", root / "usr/share/lintian/overrides", "plantdesk")
    tree.settle(root)
    _control(root, version or project.version())
    tree.settle(root)
    file = project.DIST / f"plantdesk_{version or project.version()}_{architecture()}.deb"
    compression = ["-Zgzip", "-z1"] if quick else ["-Zxz", "-z9"]
    same = {**os.environ, "SOURCE_DATE_EPOCH": str(project.epoch())}
    dev.call(["dpkg-deb", "--root-owner-group", *compression, "--build", str(root), str(file)], env=same)
    dev.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB after {time.monotonic() - began:.0f} s")
    lint(file)
    if not quick:
        gates.check_package_size(file)
    return file


def architecture() -> str:
    """Debian's name of the processor that is built for."""
    return _ARCHITECTURES[project.machine()]


def lint(file: Path) -> None:
    """Raise RefusedError with what lintian finds wrong."""
    command = ["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", str(file)]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.insert(1, "--allow-root")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise dev.RefusedError(f"lintian: {done.stdout}{done.stderr}")


def _documents(folder: Path, version: str) -> None:
    folder.mkdir(parents=True)
    parts = project.NOTICES.read_text(encoding="utf-8").partition("=" * 100)[0].partition("each once.")[2]
    (folder / "copyright").write_text(_copyright(parts), encoding="utf-8", newline="\n")
    when = formatdate(project.epoch(), usegmt=False)
    lines = [f"plantdesk ({version}) unstable; urgency=medium", "", *_items(changes.newest()), ""]
    lines += [f" -- {MAINTAINER}  {when}", ""]
    tree.compress("\n".join(lines).encode(), folder / "changelog.gz")


def _copyright(parts: str) -> str:
    own = (project.ROOT / "LICENSE").read_text(encoding="utf-8")
    terms = own.partition("\n\n")[2].partition("\n\n")[2]
    holder = re.search(r"Copyright \(c\) (.+)", own)
    lines = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", "Upstream-Name: PlantDesk"]
    lines += [f"Comment: The texts of all licences are in /{tree.PROGRAM}/_internal/resources/NOTICES.txt", " and,"]
    lines += [" of the GNU and Apache ones, in /usr/share/common-licenses. These parts others have made:", " ."]
    lines += [_dep5(parts), "", "Files: *"]
    lines += [f"Copyright: {holder[1] if holder else 'PlantDesk contributors'}", "License: Expat", _dep5(terms)]
    return "\n".join(lines) + "\n"


def _dep5(text: str) -> str:
    """Indent as a field's further lines are; an empty one is a dot."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip().splitlines())


def _items(text: str) -> list[str]:
    """The items of a list in Markdown, as Debian's changelogs have them."""
    items = re.findall(r"^- (.+(?:\n  .+)*)", text, re.MULTILINE)
    wrap = textwrap.TextWrapper(78, initial_indent="  * ", subsequent_indent="    ")
    return [line for item in items for line in wrap.wrap(" ".join(item.split()))]


def _control(root: Path, version: str) -> None:
    folder = root / "DEBIAN"
    folder.mkdir()
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    installed = sum((path.lstat().st_size + 1023) // 1024 for path in sorted(root.rglob("*")))
    fields = {
        "Package": "plantdesk",
        "Version": version,
        "Architecture": architecture(),
        "Maintainer": MAINTAINER,
        "Installed-Size": str(installed),
        **_relations(root),
        "Section": "misc",
        "Priority": "optional",
        "Description": _description(),
    }
    control = "".join(f"{name}: {value}\n" for name, value in fields.items())
    (folder / "control").write_text(control, encoding="utf-8", newline="\n")
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files]  # noqa: S324
    (folder / "md5sums").write_text("".join(sums), encoding="utf-8", newline="\n")


def _description() -> str:
    summary = "plant records, by hand or from scripts over a local HTTP API"
    text = project.description().rstrip(".")
    more = "Plants are in one SQLite file; what scripts add shows in the open window at once."
    lines = textwrap.wrap(f"{text}. {more}", 78)
    return "\n ".join([summary, *lines])


def _relations(root: Path) -> dict[str, str]:
    """What the package needs of others: exact for what the files link to, less so for single plugins."""
    elf_files = [path for path in sorted((root / tree.PROGRAM).rglob("*")) if gates.is_program_file(path)]
    # Qt tries its plugins in turn, and does without what it cannot load; X11 is what always has to work.
    optional = [path for path in elf_files if _is_optional(path)]
    others = [path for path in elf_files if path not in optional]
    # Where the bundled libraries will be: else each of them would become a dependency.
    folders = ["", "PySide6", "PySide6/Qt/lib", "shiboken6"]
    command = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", *(f"-l/{tree.PROGRAM}/_internal/{f}" for f in folders)]
    command += ["-dDepends", *map(str, others), "-dRecommends", *map(str, optional)]
    work = project.WORK / "shlibdeps"
    (work / "debian").mkdir(parents=True, exist_ok=True)
    (work / "debian/control").write_text(
        "Source: plantdesk\n\nPackage: plantdesk\nArchitecture: any\n", encoding="ascii"
    )
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    shutil.rmtree(work)
    if done.returncode != 0:
        raise dev.RefusedError(f"dpkg-shlibdeps: {done.stderr}")
    found = dict(re.findall(r"shlibs:(\w+)=(.*)", done.stdout))
    more = {"Depends": DEPENDS, "Recommends": RECOMMENDS}
    return {name: ", ".join(filter(None, [found.get(name, ""), *more[name]])) for name in ("Depends", "Recommends")}


def _is_optional(path: Path) -> bool:
    return ("plugins" in path.parts and path.name != "libqxcb.so") or "Wayland" in path.name
