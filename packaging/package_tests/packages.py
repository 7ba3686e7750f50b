"""`build.py try`: packages are installed in clean systems, used, upgraded and removed. `build.py reproduce`."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import dev
import project
from bundle import apt, freeze
from linux import deb, rpm, tar, tree
from package_tests import chroots

if TYPE_CHECKING:
    from package_tests.chroots import Chroot

#: What may be left in the account's home: the user's data, and caches of system libraries.
USER_DATA = ("home/user/.local", "home/user/.config", "home/user/.cache")
_TMP = "/tmp"  # noqa: S108 - inside
#: A module that only the older version has.
STALE = {"_internal/plantdesk_of_an_older_version.py": b"# was in an older version\n"}


def verify(*, packages: list[str]) -> None:
    """Run the function of VERIFY for each of these packages. Raises RefusedError for a wrong result."""
    for package in packages:
        began = time.monotonic()
        VERIFY[package]()
        dev.say(f"{package} is verified ({time.monotonic() - began:.0f} s)")


def smoke(executable: str, channel: str, *, screenshot: str, options: list[str] | None = None) -> None:
    """Run the smoke test on an installed program, in a process of its own, and save a screenshot."""
    pictures = project.DIST / "screenshots"
    pictures.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(project.HERE / "build.py"), "smoke", executable]
    command += ["--channel", channel, "--screenshot", str(pictures / f"{screenshot}.ppm"), *(options or [])]
    dev.call(command)


def _smoke_inside(chroot: Chroot, channel: str, screenshot: str) -> None:
    """Run the smoke test inside a chroot, as an ordinary account with its own folders."""
    options = ["--root", str(chroot.root), "--within", shlex.join(chroot.command(user=True))]
    smoke("/usr/bin/plantdesk", channel, screenshot=screenshot, options=options)


# --- Debian -------------------------------------------------------------------------------------


def verify_deb(codename: str = "bookworm") -> None:
    """Install, use, remove and purge the package on a clean Debian."""
    package = freeze.ensure_package(deb.path(), deb.make)
    with chroots.fresh(codename) as chroot:
        before = chroot.files()
        _install_deb(chroot, package)
        installed = chroot.files()
        _smoke_inside(chroot, "deb", f"deb-{codename}")
        missing = {"usr/share/man/man1/plantdesk.1.gz", f"usr/share/applications/{project.APP_ID}.desktop"} - installed
        if missing:
            raise dev.RefusedError(f"not installed: {', '.join(missing)}")
        # No file may be writable for others.
        chroot.run("sh", "-c", "cd /usr/lib/plantdesk && find . -perm /022 ! -type l | grep . && exit 1 || exit 0")
        chroot.run("apt-get", "remove", "--yes", "plantdesk")
        chroot.run("dpkg", "--purge", "plantdesk")
        chroot.run("apt-get", "autoremove", "--purge", "--yes")
        _check_removal(chroot, before, installed)


def _install_deb(chroot: Chroot, package: Path) -> None:
    shutil.copy(package, chroot.root / "tmp")
    chroot.install(f"{_TMP}/{package.name}")


def _check_removal(chroot: Chroot, before: set[str], installed: set[str]) -> None:
    """Check that nothing of the package is left except the user's plants."""
    new = {name for name in chroot.files() - before if not name.startswith(USER_DATA)}
    ours = sorted(name for name in new if "plantdesk" in name.lower() or name not in installed)
    if ours:
        raise dev.RefusedError("left over: " + ", ".join(ours))
    if not (chroot.root / "home/user/.local/share/PlantDesk/plants.db").exists():
        raise dev.RefusedError("the user's plants are gone")


def verify_upgrade() -> None:
    """Upgrade an older version while its server runs: it still answers and ends, and none of its modules is left."""
    older = deb.make(quick=True, version="0.0.9", extra=STALE)
    newer = freeze.ensure_package(deb.path(), deb.make)
    with chroots.fresh("bookworm") as chroot:
        _install_deb(chroot, older)
        (stale,) = (chroot.root / tree.PROGRAM / name for name in STALE)
        if not stale.exists():
            raise dev.RefusedError("the older version lacks the module that the newer one must not have")
        command = [*chroot.command(user=True, env={"PLANTDESK_HOME": f"{_TMP}/upgrade"}), "plantdesk"]
        with subprocess.Popen([*command, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None  # noqa: S101
            server.stdout.readline()
            try:
                _install_deb(chroot, newer)
                _check_running_program(command)
            finally:
                server.terminate()
            if server.wait(30) != 0:
                raise dev.RefusedError(f"the program ended with {server.returncode} after the upgrade")
        if stale.exists():
            raise dev.RefusedError(f"{stale} is left after the upgrade")
        _smoke_inside(chroot, "deb", "deb-upgraded")
    older.unlink()


def _check_running_program(command: list[str]) -> None:
    """Check that an upgraded server answers, and still holds the file that its modules are read from."""
    info = subprocess.run([*command, "info", "--json"], capture_output=True, text=True, check=True)
    opened = list(Path(f"/proc/{json.loads(info.stdout)['pid']}/fd").iterdir())
    if not any(str(each.readlink()).endswith("plantdesk/plantdesk (deleted)") for each in opened):
        raise dev.RefusedError("the running program has lost the file of its modules by the upgrade")


def verify_tar() -> None:
    """Unpack the archive into a folder with a space in its name; start it with no variable but the display."""
    archive = freeze.ensure_package(tar.path(), tar.make)
    with tempfile.TemporaryDirectory(prefix="plantdesk of a user ", ignore_cleanup_errors=True) as folder:
        dev.call(["tar", "--extract", "--file", str(archive), "--directory", folder])
        (unpacked,) = Path(folder).iterdir()
        moved = unpacked.rename(Path(folder) / "My plants")
        before = sorted(moved.rglob("*"))
        home = Path(folder) / "home"
        home.mkdir()
        passed = " ".join(f'{name}="${name}"' for name in ("DISPLAY", "PLANTDESK_HOME", "PLANTDESK_SMOKE"))
        within = shlex.join(["sh", "-c", f'exec env -i HOME="$0" {passed} "$@"', str(home)])
        smoke(str(moved / "plantdesk"), "tar", screenshot="tar", options=["--within", within])
        if sorted(moved.rglob("*")) != before:
            raise dev.RefusedError("the program wrote into its own folder")


# --- Fedora and the like, as far as Debian's rpm goes -------------------------------------------


def verify_rpm() -> None:
    """Install by rpm beside Debian's libraries, verify, use, erase.

    Debian's libraries are no rpm packages, so each required library is looked up directly. The names of Fedora's
    packages can only be checked on Fedora.
    """
    package = freeze.ensure_package(rpm.path(), rpm.make)
    with chroots.fresh("bookworm") as chroot:
        chroot.install("rpm", *apt.list_qt_packages())
        before = chroot.files()
        shutil.copy(package, chroot.root / "tmp")
        chroot.run("rpm", "--install", "--nodeps", f"{_TMP}/{package.name}")
        required = re.findall(r"^(lib[^(\s]+)\(", chroot.run("rpm", "--query", "--requires", "plantdesk"), re.MULTILINE)
        there = re.findall(r"^\s(\S+) \(", chroot.run("ldconfig", "--print-cache"), re.MULTILINE)
        if not required or set(required).difference(there):
            raise dev.RefusedError(f"required but not there: {', '.join(set(required).difference(there))}")
        installed = chroot.files()
        _smoke_inside(chroot, "rpm", "rpm")
        chroot.run("rpm", "--verify", "--nodeps", "plantdesk")
        chroot.run("rpm", "--erase", "plantdesk")
        _check_removal(chroot, before, installed)


# --- two builds of the same commit --------------------------------------------------------------


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


VERIFY: dict[str, Callable[[], None]] = {"deb": verify_deb, "deb13": partial(verify_deb, "trixie")}
VERIFY |= {"upgrade": verify_upgrade, "tar": verify_tar, "rpm": verify_rpm}
