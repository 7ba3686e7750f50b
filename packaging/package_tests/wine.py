"""`build.py wine`: the whole Windows recipe on Linux: freeze, installers, installation, use, upgrade, removal.

    python3 packaging/build.py wine [--keep | --tests]

The first run makes a Debian 13 with wine and a Windows Python from public registries (wine_root.sh; two minutes, 4 GB);
the rest takes five minutes. Needs root. For tests only: released installers are built on Windows.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import dev
import project
from bundle import apt, freeze
from package_tests import chroots, windows_installer
from windows import installer

if TYPE_CHECKING:
    from pathlib import Path

#: wine prints nothing, uses the library of wine_root.sh, and starts no debugger for what crashes.
WINE = {
    "WINEDEBUG": "-all",
    "WINEDLLOVERRIDES": "mscms=n,b;winedbg.exe=d",
    "SOURCE_DATE_EPOCH": str(project.epoch()),
    "HOME": "/w/home",
}
PYTHON = r"Z:\w\python\python.exe"
#: Debian's wine runs 64-bit programs only.
TARGET = {"TARGET": "amd64-unicode"}
#: For the tests; Qt's own variables pass wine with its name before theirs.
TESTING = {
    "PYTHONPATH": r"Z:\w\python\Lib\test-packages",
    "WINEQT_QPA_FONTDIR": r"Z:\usr\share\fonts\truetype\dejavu",
}
#: The tests of what differs on Windows, except fonts, Ctrl+Break and symlinks, which wine lacks.
TESTS = [
    *(
        "tests/platform/test_login.py",
        "tests/platform/test_windows.py",
        "tests/platform/test_no_console.py",
        "tests/platform/test_updates.py",
    ),
    *("tests/platform/test_settings.py", "tests/platform/test_logs.py", "tests/platform/test_atomic_replace.py"),
    *("tests/ui/test_single_window.py", "tests/ui/test_bridge.py"),
    *("tests/ui/window/test_update_notice.py", "tests/api/test_selector_loop.py"),
    *("tests/api/test_access_control.py", "tests/api/test_plants.py", "tests/api/test_discovery.py"),
    *("tests/store/test_store.py", "tests/store/test_tokens.py", "tests/transfer"),
    "tests/api/test_protocol.py::test_a_reset_connection_does_not_affect_others",
]
_STEP_TIMEOUT = 900
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
_BEGAN = time.monotonic()


class Chain:
    """The steps, in a root folder that wine_root.sh made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._work = root / "w"

    def test(self) -> None:
        """Run TESTS on Windows' Python."""
        self._run_inside("tests", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, env=TESTING)
        say("tested")

    def freeze(self) -> Path:
        """Freeze a copy of this checkout with Windows' Python; return the folder."""
        self._run_inside("project", "packaging/build.py", "bundle", "--here")
        folder = self._work / "project" / project.program_folder().relative_to(project.ROOT)
        say(f"frozen: {freeze.size(folder) / 1e6:.1f} MB")
        return folder

    def make_installers(self, folder: Path) -> None:
        """Make the installer to verify, and one of an older version with a stale module."""
        new = installer.compile_installer(folder, self._work / "new.exe", TARGET)
        say(f"installer: {freeze.size(new) / 1e6:.1f} MB")
        older = self._work / "older"
        shutil.rmtree(older, ignore_errors=True)
        shutil.copytree(folder, older)
        (older / "_internal" / windows_installer.STALE).write_bytes(b"of an older version")
        installer.compile_installer(older, self._work / "older.exe", {**TARGET, "VERSION": "0.0.1", "QUICK": "1"})
        say("an older installer")

    def verify(self) -> None:
        """Install, use, upgrade and remove, with a fresh account and without a network."""
        shutil.rmtree(self._work / "prefix", ignore_errors=True)
        shutil.copytree(self._work / "home" / ".wine", self._work / "prefix", symlinks=True)
        command = ["packaging/build.py", "installer", r"Z:\w\new.exe", "--older", r"Z:\w\older.exe"]
        command += ["--screenshot", r"Z:\w\window.ppm"]
        self._run_inside("verify", *command, env={"WINEPREFIX": "/w/prefix"})
        say(f"verified; {self._work / 'window.ppm'} is its window")

    def _run_inside(self, name: str, *arguments: str, env: dict[str, str] | None = None) -> None:
        """Run Windows' Python to its end, in a copy of the project `name` and on a screen of its own."""
        copy = self._work / name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(project.ROOT, copy, ignore=_NOT_COPIED)
        inside = chroots.Chroot(self._root).command(offline=True, env=WINE | (env or {}))
        # Xvfb signals its parent when it is ready, but never process 1, which sh is here.
        screen = ["sh", "-c", '"$@"; exit $?', "sh", "xvfb-run", "--server-args=-screen 0 1280x860x24"]
        command = [*inside, "env", "-C", f"/w/{name}", *screen, "wine", PYTHON, *arguments]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=_STEP_TIMEOUT)


def say(text: str) -> None:
    """Print a message with the time since the start."""
    dev.say(f"[{time.monotonic() - _BEGAN:.0f} s] {text}")


def main(*, keep: bool = False, tests: bool = False) -> None:
    """Run the chain, only the installers of the last run (`keep`) or only the tests."""
    freeze.prepare()  # compiles the translations: Windows' Python has no babel
    chain = Chain(chroots.CACHE / "wine")
    if not keep:
        apt.need(["debootstrap", "nsis", "unzip"])
        script = project.HERE / "package_tests" / "wine_root.sh"
        subprocess.run([str(script), str(chroots.CACHE / "wine"), chroots.mirror()], check=True)
        chain.test()
    if not keep and not tests:
        chain.make_installers(chain.freeze())
    if not tests:
        chain.verify()
