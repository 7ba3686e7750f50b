"""What packages are put through before people get them: installed where nothing is, used, upgraded, and removed.

    python3 packaging/build.py try deb|deb13|tar|rpm

Each ends with an error, or with a line that says what was proved and how long it took.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import dev
import project
from linux import apt, deb, rpm, tarball, tree
from proofs import chroots

if TYPE_CHECKING:
    from collections.abc import Callable

    from proofs.chroots import Chroot

#: What the account's home may hold in the end: the person's own data, and caches of the system's libraries.
THEIRS = ("home/person/.local", "home/person/.config", "home/person/.cache")
#: A module that only the older version has.
STALE = "_internal/plantdesk_of_an_older_version.py"


def main(arguments: list[str]) -> None:
    """Prove one package, or all that are named."""
    parser = argparse.ArgumentParser(prog="build.py try", description=__doc__)
    parser.add_argument("what", nargs="+", choices=PROOFS)
    for what in parser.parse_args(arguments).what:
        began = time.monotonic()
        PROOFS[what]()
        dev.say(f"{what} is proved ({time.monotonic() - began:.0f} s)")


def smoke(executable: str, channel: str, *, screenshot: str, options: list[str] | None = None) -> None:
    """Run the smoke test on a program that was installed."""
    pictures = project.DIST / "screenshots"
    pictures.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(project.HERE / "proofs" / "smoke.py"), executable, "--version", project.version()]
    command += ["--channel", channel, "--screenshot", str(pictures / f"{screenshot}.png"), *(options or [])]
    dev.call(command)


def smoke_in(chroot: Chroot, channel: str, screenshot: str) -> None:
    """Run the smoke test inside, as an ordinary account with its own folders."""
    within = shlex.join(chroot.command(person=True))
    options = ["--own-folders", "--root", str(chroot.root), "--within", within]
    smoke("/usr/bin/plantdesk", channel, screenshot=screenshot, options=options)


# --- Debian -------------------------------------------------------------------------------------


def latest_deb() -> Path:
    """Return the package of this version; make a quick one where there is none."""
    file = project.DIST / f"plantdesk_{project.version()}_{deb.architecture()}.deb"
    return file if project.is_fresh(file) else deb.make(quick=True)


def prove_deb(codename: str = "bookworm") -> None:
    """Install, use, remove and purge the package on a clean Debian."""
    package = latest_deb()
    with chroots.fresh(codename) as chroot:
        before = chroot.files()
        add(chroot, package)
        added = chroot.files()
        smoke_in(chroot, "deb", f"deb-{codename}")
        see_program(chroot)
        chroot.run("apt-get", "remove", "--yes", "plantdesk")
        chroot.run("dpkg", "--purge", "plantdesk")
        chroot.run("apt-get", "autoremove", "--purge", "--yes")
        see_nothing_left(chroot, before, added)


def add(chroot: Chroot, package: Path) -> None:
    """Install a package by apt, with what it depends on."""
    shutil.copy(package, chroot.root / "tmp" / package.name)
    chroot.install(f"/tmp/{package.name}")  # noqa: S108 - inside, nobody else writes there
    (chroot.root / "tmp" / package.name).unlink()


def see_program(chroot: Chroot) -> None:
    """See that the parts which a smoke test does not touch are where the system looks for them."""
    share = chroot.root / "usr/share"
    for name in ("man/man1/plantdesk.1.gz", f"applications/{project.desktop_id()}.desktop"):
        if not (share / name).is_file():
            raise dev.RefusedError(f"{name} was not installed")
    chroot.run("sh", "-c", "cd /usr/lib/plantdesk && find . -perm /022 ! -type l | grep . && exit 1 || exit 0")


def see_nothing_left(chroot: Chroot, before: set[str], added: set[str]) -> None:
    """See that of the package nothing is there any more, and that the person's plants are."""
    strange = {name for name in chroot.files() - before if not name.startswith(THEIRS)}
    ours = sorted(name for name in strange if "plantdesk" in name.lower() or name not in added)
    if ours:
        raise dev.RefusedError("left over: " + ", ".join(ours))
    if not (chroot.root / "home/person/.local/share/PlantDesk/plants.db").exists():
        raise dev.RefusedError("the person's plants are gone")


def prove_upgrade() -> None:
    """Upgrade an older version while it runs: it ends cleanly, and no module of it stays."""
    older = deb.make(quick=True, version="0.0.9", extra={STALE: b"# was in an older version\n"})
    newer = latest_deb()
    with chroots.fresh("bookworm") as chroot:
        add(chroot, older)
        stale = chroot.root / "usr/lib/plantdesk" / STALE
        if not stale.exists():
            raise dev.RefusedError("the older version lacks the module that the newer one must not have")
        upgrade_while_running(chroot, lambda: add(chroot, newer))
        if stale.exists():
            raise dev.RefusedError(f"{stale} outlived the upgrade")
        smoke_in(chroot, "deb", "deb-upgraded")
    older.unlink()


def upgrade_while_running(chroot: Chroot, upgrade: Callable[[], None]) -> None:
    """Let the server run, and still answer, while its files are replaced; then end it."""
    home = chroot.command(person=True, environment={"PLANTDESK_HOME": "/tmp/upgrade"})  # noqa: S108
    with subprocess.Popen([*home, "plantdesk", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None  # noqa: S101
        server.stdout.readline()
        try:
            upgrade()
        except BaseException:
            server.terminate()  # else leaving the block would wait for it for ever
            raise
        told = subprocess.run([*home, "plantdesk", "info", "--json"], capture_output=True, text=True, check=True)
        facts = json.loads(told.stdout)
        held = list(Path(f"/proc/{facts['pid']}/fd").iterdir()) if facts["running"] else []
        if not any(str(each.readlink()).endswith("plantdesk/plantdesk (deleted)") for each in held):
            raise dev.RefusedError("the program that runs has lost the file of its modules by the upgrade")
        server.terminate()
        if server.wait(30) != 0:
            raise dev.RefusedError(f"the program ended with {server.returncode} after the upgrade")


def prove_tar() -> None:
    """Unpack the archive into a folder with a space in its name, and start it with no variable but the display."""
    archive = tarball.latest()
    with tempfile.TemporaryDirectory(prefix="plantdesk of a person ", ignore_cleanup_errors=True) as folder:
        dev.call(["tar", "--extract", "--file", str(archive), "--directory", folder])
        (unpacked,) = Path(folder).iterdir()
        moved = unpacked.rename(Path(folder) / "My plants")
        before = sorted(moved.rglob("*"))
        home = Path(folder) / "home"
        home.mkdir()
        variables = ["DISPLAY", "PLANTDESK_HOME", "PLANTDESK_SMOKE"]
        given = " ".join(f'{name}="${name}"' for name in variables)
        within = shlex.join(["sh", "-c", f'exec env -i HOME="$0" {given} "$@"', str(home)])
        smoke(str(moved / "plantdesk"), "tar", screenshot="tar", options=["--within", within])
        if sorted(moved.rglob("*")) != before:
            raise dev.RefusedError("the program wrote into its own folder")


# --- Fedora and its like, as far as Debian's rpm goes -------------------------------------------


def prove_rpm() -> None:
    """Install by rpm beside a Debian's libraries, verify, use, upgrade from an older one, erase.

    Debian's libraries are no rpm packages, so each library that it requires is looked for by itself; what Fedora's
    packages make of that, only a Fedora can tell.
    """
    older = rpm.make(quick=True, version="0.0.9", extra={STALE: b"# was in an older version\n"})
    newer = rpm.latest()
    with chroots.fresh("bookworm") as chroot:
        chroot.install("rpm", *apt.RUNTIME)
        before = chroot.files()
        put_rpm(chroot, older)
        upgrade_while_running(chroot, lambda: put_rpm(chroot, newer))
        if (chroot.root / tree.PROGRAM / STALE).exists():
            raise dev.RefusedError("a module of the older version outlived the upgrade")
        see_required(chroot)
        chroot.run("rpm", "--verify", "--nodeps", "plantdesk")
        added = chroot.files()
        smoke_in(chroot, "rpm", "rpm")
        chroot.run("rpm", "--verify", "--nodeps", "plantdesk")
        chroot.run("rpm", "--erase", "plantdesk")
        see_nothing_left(chroot, before, added)
    older.unlink()


def see_required(chroot: Chroot) -> None:
    """See that the system has each library that the package requires, and that it requires none of its own."""
    required = re.findall(r"^(lib[^(\s]+)\(", chroot.run("rpm", "--query", "--requires", "plantdesk"), re.MULTILINE)
    there = re.findall(r"^\s(\S+) \(", chroot.run("ldconfig", "--print-cache"), re.MULTILINE)
    strange = sorted(set(required).difference(there))
    if strange or not required:
        raise dev.RefusedError(f"the package requires what it should not: {', '.join(strange)}")


def put_rpm(chroot: Chroot, package: Path) -> None:
    """Install or upgrade a package by rpm alone."""
    shutil.copy(package, chroot.root / "root" / package.name)
    chroot.run("rpm", "--upgrade", "--nodeps", f"/root/{package.name}")
    (chroot.root / "root" / package.name).unlink()


PROOFS: dict[str, Callable[[], None]] = {
    "deb": prove_deb,
    "deb13": lambda: prove_deb("trixie"),
    "upgrade": prove_upgrade,
    "tar": prove_tar,
    "rpm": prove_rpm,
}
