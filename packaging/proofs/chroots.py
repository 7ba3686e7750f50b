"""Clean Debian systems to install packages in: made once by debootstrap, copied for each use. Needs root.

What is made is kept in /var/cache, as it is the machine's and root's. Debian comes from the mirror that this machine's
own apt uses.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import dev
from linux import apt

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE = Path("/var/cache/plantdesk-packaging")
#: An ordinary account inside; no other program here should run under its number.
PERSON = 64821
_HOME = "/home/person"
#: Days after which a base system is made anew, so that its list of packages is one that the mirror still has.
_FRESH_DAYS = 14
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: /proc, /dev and the X servers' sockets, for the started command alone: they go with its namespace. Of the variables
#: only the display and the smoke test's mark come along.
_ENTER = """
mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --make-rslave "$0/dev" &&
mkdir -p /tmp/.X11-unix "$0/tmp/.X11-unix" && mount --bind /tmp/.X11-unix "$0/tmp/.X11-unix" &&
exec env -i PATH="$PATH:/usr/sbin" DISPLAY="$DISPLAY" PLANTDESK_SMOKE="$PLANTDESK_SMOKE" chroot "$@"
"""


class Chroot:
    """A Debian system in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def command(self, *, person: bool = False, environment: dict[str, str] | None = None) -> list[str]:
        """Return what starts a command inside, as root or as an ordinary account."""
        user = ["--userspec", f"{PERSON}:{PERSON}"] if person else []
        home = _HOME if person else "/root"
        variables = {"HOME": home, "PATH": _PATH, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        given = [f"{name}={value}" for name, value in (variables | (environment or {})).items()]
        where = ["unshare", "--mount", "sh", "-c", _ENTER, str(self.root), *user, str(self.root)]
        return [*where, "env", *given]

    def run(self, *command: str, person: bool = False) -> str:
        """Run a command inside; return what it printed. Raises RefusedError with what it said."""
        done = dev.heard([*self.command(person=person), *command])
        if done.returncode != 0:
            raise dev.RefusedError(f"{shlex.join(command)} in {self.root}: {done.stdout}")
        return done.stdout

    def install(self, *packages: str) -> None:
        """Install packages, or files, with all that they depend on and nothing that they only recommend."""
        self.run("apt-get", "install", "--yes", "--no-install-recommends", *packages)

    def files(self) -> set[str]:
        """Every file and folder there is, but for what any system writes."""
        passing = ("dev", "proc", "sys", "run", "tmp", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
        found = set()
        for folder, names, files in os.walk(self.root):
            inside = Path(folder).relative_to(self.root)
            names[:] = [name for name in names if (inside / name).as_posix() not in passing]
            found |= {(inside / name).as_posix() for name in (*names, *files)}
        return found


@contextlib.contextmanager
def fresh(codename: str) -> Iterator[Chroot]:
    """Yield a copy of a release's base system, and remove it in the end."""
    with _alone():
        base = _base(codename)
    with tempfile.TemporaryDirectory(prefix=f"plantdesk-{codename}-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "root"
        dev.call(["cp", "--archive", "--reflink=auto", str(base), str(root)])
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        chroot = Chroot(root)
        yield chroot


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Keep others waiting, from any checkout, while a base system is made."""
    if os.geteuid() != 0:
        raise dev.RefusedError("A clean Debian system to install in can only be made by root.")
    import fcntl

    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _base(codename: str) -> Path:
    base = CACHE / codename
    if base.exists() and time.time() - base.stat().st_mtime < _FRESH_DAYS * 86400:
        return base
    apt.need(["debootstrap", "xvfb"])
    dev.say(f"Making a clean Debian {codename} …")
    draft = CACHE / f"{codename}.part"
    for old in (draft, base):
        shutil.rmtree(old, ignore_errors=True)
    dev.call(["debootstrap", "--variant=minbase", codename, str(draft), mirror()])
    _complete(Chroot(draft))
    draft.rename(base)
    os.utime(base)
    return base


def _complete(chroot: Chroot) -> None:
    """Add the person, and one font: without it there would be nothing to see on a screen's picture."""
    for lists in (
        (chroot.root / "etc/passwd", f"person:x:{PERSON}:{PERSON}::{_HOME}:/bin/sh\n"),
        (
            chroot.root / "etc/group",
            f"person:x:{PERSON}:\n",
        ),
    ):
        file, line = lists
        with file.open("a", encoding="ascii") as opened:
            opened.write(line)
    home = chroot.root / _HOME.lstrip("/")
    home.mkdir(parents=True)
    os.chown(home, PERSON, PERSON)
    chroot.run("apt-get", "update")
    chroot.install("fonts-dejavu-core")


def mirror() -> str:
    """Return the address that this machine's apt takes Debian from."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [line.split()[0] for line in shown.splitlines() if line.split()[1:] in (["bookworm"], ["trixie"])]
    if not found:
        raise dev.RefusedError("This machine's apt has no Debian 12 or 13 to take a clean system from.")
    return found[0]
