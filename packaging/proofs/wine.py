"""Try the whole Windows recipe on Linux: freeze, installers, installation, use, upgrade, removal. TEST USE ONLY.

    python3 packaging/proofs/wine.py [--root FOLDER] [--keep | --tests] [--screenshot FILE]

Debian 13 with wine and a Windows Python from public registries is made in FOLDER once (wine_root.sh; two minutes and
4 GB), the rest takes five minutes. Needs root. What people get is built on Windows.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import dev
import project
from bundle import freeze
from linux import apt
from proofs import chroots, windows_installer
from windows import installer

HERE = project.HERE / "proofs"
#: wine itself is quiet, takes the library that wine_root.sh made, and lets nothing that fails wait for a debugger.
WINE = ["WINEDEBUG=-all", "WINEDLLOVERRIDES=mscms=n,b;winedbg.exe=d", f"SOURCE_DATE_EPOCH={project.epoch()}"]
PYTHON = r"Z:\w\python\python.exe"
#: wine in Debian runs programs of 64 bits only, so that the installer must be one.
INSTALLER_OF_64_BITS = "amd64-unicode"
#: What tests need besides; Qt's own variables pass wine only with its name before theirs.
TESTING = [r"PYTHONPATH=Z:\w\python\Lib\test-packages", r"WINEQT_QPA_FONTDIR=Z:\usr\share\fonts\truetype\dejavu"]
#: wine has no fonts of Windows, and passes Ctrl+Break to nobody: tests of both are left out.
TESTS = [
    *("tests/integration", "tests/test_no_console.py", "tests/test_updates.py", "tests/test_settings.py"),
    *(
        "tests/test_logs.py",
        "tests/test_atomic_replace.py",
        "tests/ui/platform/test_single_window.py",
        "tests/ui/test_bridge.py",
        "tests/ui/notices/test_update_notice.py",
    ),
    *("tests/api/test_accepting.py", "tests/api/test_gate.py", "tests/api/test_plants.py"),
    *("tests/api/test_runtime_file.py", "tests/store/test_store.py", "tests/store/test_tokens.py"),
    "tests/api/test_protocol.py::test_a_client_that_resets_its_connection_harms_nobody",
]
#: Seconds for one step.
PATIENCE = 900
_BEGAN = time.monotonic()


class Chain:
    """The steps, in a root folder that wine_root.sh made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._work = root / "w"

    def make_root(self) -> None:
        """Debian, wine and Python; quick when they are there."""
        subprocess.run([str(HERE / "wine_root.sh"), str(self._root)], check=True)
        say("the root folder is ready")

    def test(self) -> None:
        """Run those tests on Windows' Python that are about what differs there."""
        self._copy_project("tests")
        pytest = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
        self._inside("tests", *pytest, more=TESTING)
        say("tested")

    def freeze(self) -> Path:
        """Freeze a copy of this checkout with Windows' Python; return the folder."""
        self._copy_project("project")
        self._inside("project", PYTHON, "packaging/proofs/freeze_here.py")
        folder = self._work / "project" / project.folder_of_program().relative_to(project.ROOT)
        say(f"frozen: {freeze.size(folder) / 1e6:.1f} MB")
        return folder

    def make_installers(self, folder: Path) -> None:
        """Make the one to prove, and one of an older version with a module that is gone since."""
        target = {"TARGET": INSTALLER_OF_64_BITS}
        new = installer.make_installer(folder, self._work / "new.exe", target)
        say(f"installer: {new.stat().st_size / 1e6:.1f} MB")
        older = self._work / "older"
        shutil.rmtree(older, ignore_errors=True)
        shutil.copytree(folder, older)
        (older / "_internal" / windows_installer.STALE).write_bytes(b"of an older version")
        quick = {"VERSION": "0.0.1", "QUICK": "1"}
        installer.make_installer(older, self._work / "older.exe", target | quick)
        say("an older installer")

    def prove(self, screenshot: Path | None) -> None:
        """Install, use, upgrade and remove, in a fresh account without a network."""
        shutil.rmtree(self._work / "prefix", ignore_errors=True)
        shutil.copytree(self._root / "root" / ".wine", self._work / "prefix", symlinks=True)
        self._copy_project("proof")
        picture = self._work / "window.png"
        picture.unlink(missing_ok=True)
        proof = [PYTHON, "packaging/proofs/windows_installer.py", r"Z:\w\new.exe", "--older", r"Z:\w\older.exe"]
        self._inside("proof", *proof, "--screenshot", r"Z:\w\window.png", more=["WINEPREFIX=/w/prefix"])
        if screenshot is not None:
            shutil.copy(picture, screenshot)
        say("proved")

    def _copy_project(self, name: str) -> None:
        copy = self._work / name
        shutil.rmtree(copy, ignore_errors=True)
        made = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
        shutil.copytree(project.ROOT, copy, ignore=made)

    def _inside(self, project_copy: str, *command: str, more: list[str] | None = None) -> None:
        """Run a program of Windows to its end, in a copy of the project and on a screen of its own."""
        words = ["env", "-C", f"/w/{project_copy}", *WINE, *(more or [])]
        words += ["packaging/proofs/on_screen.sh", str(PATIENCE), "wine", *command]
        inside = [str(HERE / "in_root.sh"), "--offline", str(self._root), *words]
        subprocess.run(inside, stdin=subprocess.DEVNULL, check=True, timeout=PATIENCE + 60)


def say(text: str) -> None:
    """Tell what was done, and when."""
    dev.say(f"[{time.monotonic() - _BEGAN:.0f} s] {text}")


def main() -> int:
    """Go through the chain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=chroots.CACHE / "wine", help="where Debian is put")
    parser.add_argument("--keep", action="store_true", help="prove the installers that the last run made")
    parser.add_argument("--tests", action="store_true", help="only run the tests that are about Windows")
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help="keep a picture of the window (PNG)")
    options = parser.parse_args()
    chain = Chain(options.root.absolute())
    try:
        if not options.keep:
            apt.need(["debootstrap", "nsis", "unzip"])
            chain.make_root()
        if options.tests or not options.keep:
            chain.test()
        if options.tests:
            return 0
        if not options.keep:
            chain.make_installers(chain.freeze())
        chain.prove(options.screenshot)
    except (dev.RefusedError, OSError, subprocess.SubprocessError) as reason:
        dev.say(f"wine: {reason}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
