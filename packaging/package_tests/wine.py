"""`build.py wine`: the whole Windows recipe on Linux: freeze, installers, installation, use, upgrade, removal.

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
from package_tests import chroots, smoke
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
    *(f"tests/platform/test_{name}.py" for name in ("login", "windows", "no_console", "updates", "settings", "logs")),
    *(f"tests/api/test_{name}.py" for name in ("selector_loop", "access_control", "plants", "discovery")),
    *("tests/platform/test_atomic_replace.py", "tests/ui/test_single_window.py", "tests/ui/test_bridge.py"),
    *("tests/ui/window/test_update_notice.py", "tests/store/test_store.py", "tests/store/test_tokens.py"),
    *("tests/transfer", "tests/api/test_protocol.py::test_a_reset_connection_does_not_affect_others"),
]
_STEP_TIMEOUT = 900
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
_ROOT = chroots.CACHE / "wine"
_WORK = _ROOT / "w"


def main() -> None:
    """Make the system, run TESTS on it, freeze the program, make installers, and verify them."""
    freeze.prepare()  # compiles the translations: Windows' Python has no babel
    apt.need(["debootstrap", "nsis", "unzip"])
    subprocess.run([project.HERE / "package_tests" / "wine_root.sh", _ROOT, chroots.mirror()], check=True)
    _run_inside("tests", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, env=TESTING)
    _run_inside("project", "packaging/build.py", "bundle", "--here")
    _make_installers(_WORK / "project" / project.program_folder().relative_to(project.ROOT))
    # With a fresh account and without a network.
    shutil.rmtree(_WORK / "prefix", ignore_errors=True)
    shutil.copytree(_WORK / "home" / ".wine", _WORK / "prefix", symlinks=True)
    command = ["packaging/build.py", "installer", r"Z:\w\new.exe", "--older", r"Z:\w\older.exe"]
    command += ["--screenshot", r"Z:\w\window.ppm"]
    _run_inside("verify", *command, env={"WINEPREFIX": "/w/prefix"})
    dev.say(f"{_WORK / 'window.ppm'} is its window")


def _make_installers(folder: Path) -> None:
    """Make the installer to verify, and one of an older version with a stale module."""
    installer.compile_installer(folder, _WORK / "new.exe", TARGET)
    older = _WORK / "older"
    shutil.rmtree(older, ignore_errors=True)
    shutil.copytree(folder, older)
    (older / "_internal" / smoke.STALE).write_bytes(b"of an older version")
    installer.compile_installer(older, _WORK / "older.exe", {**TARGET, "VERSION": "0.0.1", "QUICK": "1"})


def _run_inside(name: str, *arguments: str, env: dict[str, str] | None = None) -> None:
    """Run Windows' Python to its end, in a copy of the project `name` and on a screen of its own."""
    began = time.monotonic()
    copy = _WORK / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(project.ROOT, copy, ignore=_NOT_COPIED)
    inside = chroots.Chroot(_ROOT).command(offline=True, env=WINE | (env or {}))
    # Xvfb signals its parent when it is ready, but never process 1, which sh is here.
    screen = ["sh", "-c", '"$@"; exit $?', "sh", "xvfb-run", "--server-args=-screen 0 1280x860x24"]
    command = [*inside, "env", "-C", f"/w/{name}", *screen, "wine", PYTHON, *arguments]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=_STEP_TIMEOUT)
    dev.say(f"{name}: {time.monotonic() - began:.0f} s")
