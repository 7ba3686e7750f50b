"""Clean Debian systems to install packages in: made once by debootstrap, copied for each use. Needs root.

The base systems are kept in /var/cache. Debian comes from the mirror that this machine's apt uses.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dev
from bundle import apt

CACHE = Path("/var/cache/plantdesk-packaging")
#: An ordinary account inside, whose number no other program here should have.
USER_ID = 64821
_HOME = "/home/user"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Mounts /proc, /dev and the X servers' sockets in a namespace of the started command. Of the variables only the
#: display and the smoke test's mark are passed on.
_ENTER = """
mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --make-rslave "$0/dev" &&
mkdir -p /tmp/.X11-unix "$0/tmp/.X11-unix" && mount --bind /tmp/.X11-unix "$0/tmp/.X11-unix" &&
exec env -i PATH="$PATH:/usr/sbin" DISPLAY="$DISPLAY" PLANTDESK_SMOKE="$PLANTDESK_SMOKE" chroot "$@"
"""


class Chroot:
    """A Debian system in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def command(self, *, user: bool = False, env: dict[str, str] | None = None) -> list[str]:
        """Return the words that start a command inside, as root or as an ordinary account."""
        account = ["--userspec", f"{USER_ID}:{USER_ID}"] if user else []
        variables = {"HOME": _HOME if user else "/root", "PATH": _PATH, "LANG": "C.UTF-8"}
        variables |= {"DEBIAN_FRONTEND": "noninteractive"} | (env or {})
        enter = ["sh", "-c", _ENTER, str(self.root), *account, str(self.root)]
        return ["unshare", "--mount", *enter, "env", *(f"{name}={value}" for name, value in variables.items())]

    def run(self, *command: str) -> str:
        """Run a command inside as root; return its output. Raises RefusedError with the output."""
        done = dev.run_captured([*self.command(), *command])
        if done.returncode != 0:
            raise dev.RefusedError(f"{shlex.join(command)} in {self.root}: {done.stdout}")
        return done.stdout

    def install(self, *packages: str) -> None:
        """Install packages, or files, with what they depend on and without what they recommend."""
        self.run("apt-get", "install", "--yes", "--no-install-recommends", *packages)

    def files(self) -> set[str]:
        """Return the paths of all files and folders, except in those where any running system writes."""
        volatile = ("dev", "proc", "sys", "run", "tmp", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
        found = set()
        for folder, names, files in os.walk(self.root):
            inside = Path(folder).relative_to(self.root)
            names[:] = [name for name in names if (inside / name).as_posix() not in volatile]
            found |= {(inside / name).as_posix() for name in (*names, *files)}
        return found


@contextlib.contextmanager
def fresh(codename: str) -> Iterator[Chroot]:
    """Yield a copy of a release's base system; remove it at the end."""
    if not os.access("/var/lib/dpkg", os.W_OK):
        raise dev.RefusedError("Only root can make a clean Debian system to install in.")
    with dev.hold_lock(CACHE):
        base = _base(codename)
    with tempfile.TemporaryDirectory(prefix=f"plantdesk-{codename}-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "root"
        dev.call(["cp", "--archive", "--reflink=auto", str(base), str(root)])
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        chroot = Chroot(root)
        chroot.run("apt-get", "update")  # the mirror may have newer packages than the base system knows
        yield chroot


def _base(codename: str) -> Path:
    """Return the folder of a release's base system in CACHE; make it by debootstrap if it is missing."""
    base = CACHE / f"debian-{codename}"
    if base.exists():
        return base
    apt.ensure_installed(["debootstrap", "xvfb"])
    dev.say(f"Making a clean Debian {codename} …")
    temporary = CACHE / f"debian-{codename}.part"
    shutil.rmtree(temporary, ignore_errors=True)
    dev.call(["debootstrap", "--variant=minbase", codename, str(temporary), mirror()])
    chroot = Chroot(temporary)
    chroot.run("useradd", "--uid", str(USER_ID), "--create-home", "--home-dir", _HOME, "--skel", "/dev/null", "user")
    chroot.run("apt-get", "update")
    chroot.install("fonts-dejavu-core")  # without a font a screenshot would show no text
    return temporary.rename(base)


def mirror() -> str:
    """Return the address of the Debian mirror of this machine's apt."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [line.split()[0] for line in shown.splitlines() if line.split()[1:] in (["bookworm"], ["trixie"])]
    if not found:
        raise dev.RefusedError("This machine's apt has no mirror of Debian 12 or 13.")
    return found[0]
