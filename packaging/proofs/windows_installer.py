"""Prove the Windows installer by using it, on Windows or under wine: nothing but the installer is looked at.

    python packaging/proofs/windows_installer.py INSTALLER [--older INSTALLER] [--screenshot FILE]

Installs over an older version, uses the program (smoke.py), sees that installer and uninstaller keep their hands off
while it runs and that the windowed executable's answers are shown in a box, uninstalls, and looks for what is left: the
plants, and nothing else. It changes the account that runs it: for machines that are there for tests.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import project
from proofs import smoke
from proofs.smoke import FailedError, expect, same

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNING, FOREIGN, WRONG_USAGE = 4, 6, 2
STALE = "stale_module.pyd"
#: Seconds for an installer to do its work.
PATIENCE = 300

if sys.platform == "win32":
    import ctypes
    import winreg

    LOCAL = Path(os.environ["LOCALAPPDATA"])
    DATA = LOCAL / "PlantDesk"
    MENU = Path(os.environ["APPDATA"]) / r"Microsoft\Windows\Start Menu\Programs"
    SHORTCUT = MENU / "PlantDesk.lnk"
    CURRENT = r"Software\Microsoft\Windows\CurrentVersion"
    UNINSTALL = rf"{CURRENT}\Uninstall\PlantDesk"
    _CLOSE, _TEXT, _STATIC = 0x0010, 0x000D, "Static"

    class Installed:
        """The folder that the installer chose."""

        def __init__(self) -> None:
            self.folder = LOCAL / "Programs" / "PlantDesk"
            self.console = self.folder / "plantdesk.exe"
            self.windowed = self.folder / "plantdeskw.exe"
            self.uninstaller = self.folder / "uninstall.exe"

    def value(key: str, name: str) -> object:
        """Return a value of the person's registry, None where there is none."""
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                return winreg.QueryValueEx(opened, name)[0]
        except FileNotFoundError:
            return None

    def code_of(*command: str | Path) -> int:
        """Run a program to its end; return its exit code."""
        return subprocess.run([str(word) for word in command], timeout=PATIENCE, check=False).returncode

    def install_older(installer: Path, installed: Installed) -> None:
        """An older version, with a module that the newer one has no more."""
        same("the older installer's exit code", code_of(installer, "/S"), 0)
        same("the older version's stale module", (installed.folder / "_internal" / STALE).is_file(), True)

    def install(installer: Path, installed: Installed) -> None:
        """What must be there after an installation, and what not."""
        same("the installer's exit code", code_of(installer, "/S"), 0)
        same("a stale module of the older version", (installed.folder / "_internal" / STALE).exists(), False)
        same("DisplayVersion", value(UNINSTALL, "DisplayVersion"), project.version())
        same("InstallLocation", value(UNINSTALL, "InstallLocation"), str(installed.folder))
        same("DisplayIcon", value(UNINSTALL, "DisplayIcon"), str(installed.windowed))
        same("there is a size", isinstance(value(UNINSTALL, "EstimatedSize"), int), True)
        same("App Paths", value(rf"{CURRENT}\App Paths\plantdesk.exe", ""), str(installed.console))
        same("the Start menu's entry", SHORTCUT.is_file(), True)
        same("the folder on the PATH", str(value("Environment", "Path")).split(";")[-1], str(installed.folder))

    def refused_in_a_foreign_folder(installer: Path) -> None:
        """A folder with the files of another program stays as it is."""
        folder = LOCAL / "Temp" / "another"
        file = folder / "_internal" / "of_another_program.dll"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"MZ")
        same("the installer in another program's folder", code_of(installer, "/S", f"/D={folder}"), FOREIGN)
        same("the files there", [each for each in folder.rglob("*") if each.is_file()], [file])
        shutil.rmtree(folder)

    @contextlib.contextmanager
    def window(installed: Installed) -> Iterator[None]:
        """The windowed program, as the Start menu starts it."""
        started = subprocess.Popen([str(installed.windowed), "--port", "0"])
        try:
            same("info finds the server", code_of(installed.console, "info", "--wait", f"{smoke.START:.0f}"), 0)
            yield
        finally:
            subprocess.run(["taskkill", "/PID", str(started.pid)], capture_output=True, timeout=60, check=False)
            try:
                same("the window's exit code", started.wait(60), 0)
            finally:
                started.kill()

    def refused_while_running(installer: Path, installed: Installed) -> None:
        """Neither installer nor uninstaller touches a program that runs."""
        with window(installed):
            same("the installer over a running program", code_of(installer, "/S"), RUNNING)
            in_place = f"_?={installed.folder}"  # else it goes on in a copy of itself and its code is lost
            same("the uninstaller of a running program", code_of(installed.uninstaller, "/S", in_place), RUNNING)
            same("nothing was removed", installed.console.is_file() and SHORTCUT.is_file(), True)

    def answers_in_a_box(installed: Installed) -> None:
        """The windowed executable has no streams: wrong usage is shown and not lost."""
        asked = subprocess.Popen([str(installed.windowed), "--nonsense"])
        try:
            expect("a message box", lambda: bool(_box()), smoke.START)
            text = _text_of(_box())
            same("the box tells what is wrong", "--nonsense" in text, True)
            ctypes.windll.user32.PostMessageW(ctypes.c_void_p(_box()), _CLOSE, None, None)
            same("the exit code of wrong usage", asked.wait(60), WRONG_USAGE)
        finally:
            asked.kill()

    def _box() -> int | None:
        find = ctypes.windll.user32.FindWindowW
        find.restype = ctypes.c_void_p
        found: int | None = find("#32770", "PlantDesk")
        return found

    def _text_of(box: int | None) -> str:
        """Return the longest text in a message box."""
        texts, child = [""], None
        find = ctypes.windll.user32.FindWindowExW
        find.restype = ctypes.c_void_p
        while child := find(ctypes.c_void_p(box), ctypes.c_void_p(child), None, None):
            buffer = ctypes.create_unicode_buffer(4000)
            ctypes.windll.user32.SendMessageW(ctypes.c_void_p(child), _TEXT, len(buffer), buffer)
            texts.append(buffer.value)
        return max(texts, key=len)

    def starts_at_login(installed: Installed) -> None:
        """The command enters the windowed executable, which opens no console."""
        same("switching it on", code_of(installed.console, "integration", "--login", "on"), 0)
        same("the Run value", value(rf"{CURRENT}\Run", "PlantDesk"), f"{installed.windowed} --background")

    def installs_as_chosen(installer: Path, installed: Installed, path_before: object) -> None:
        """What was chosen otherwise is so, and an upgrade that is not told leaves it."""
        for options in (["/PATH=off", "/LOGIN=on"], []):
            same("the installer's exit code", code_of(installer, "/S", *options), 0)
            same("the PATH, left alone", value("Environment", "Path"), path_before)
            same("the Run value", value(rf"{CURRENT}\Run", "PlantDesk"), f"{installed.windowed} --background")

    def uninstall(installed: Installed, path_before: object) -> None:
        """The plants stay, and nothing else."""
        same("the uninstaller's exit code", code_of(installed.uninstaller, "/S"), 0)
        expect("the program's folder is gone", lambda: not installed.folder.exists(), PATIENCE)
        expect("its registry entry is gone", lambda: value(UNINSTALL, "DisplayName") is None)
        same("the Run value", value(rf"{CURRENT}\Run", "PlantDesk"), None)
        same("App Paths", value(rf"{CURRENT}\App Paths\plantdesk.exe", ""), None)
        same("the PATH", value("Environment", "Path"), path_before)
        same("the Start menu's entry", SHORTCUT.exists(), False)
        with contextlib.closing(sqlite3.connect(DATA / "plants.db")) as store:
            same(
                "the plants",
                store.execute("SELECT id, name, tag FROM plant").fetchall(),
                [smoke.FIRST, (*smoke.PLANT.values(),)],
            )

    def prove(options: argparse.Namespace) -> None:
        """Go through all of it. Raises FailedError."""
        installed, path_before = Installed(), value("Environment", "Path")
        step("refused in a foreign folder", lambda: refused_in_a_foreign_folder(options.installer))
        if options.older:
            step("an older version", lambda: install_older(options.older, installed))
        step("installed", lambda: install(options.installer, installed))
        command: list[str | Path] = [sys.executable, Path(smoke.__file__), installed.console, "--own-folders"]
        command += ["--channel", "nsis", "--version", project.version()]
        command += ["--screenshot", options.screenshot] if options.screenshot else []
        command += ["--blind"] if options.blind else []
        step("used", lambda: same("the smoke test's exit code", code_of(*command), 0))
        step("refused while it runs", lambda: refused_while_running(options.installer, installed))
        step("installed over itself", lambda: install(options.installer, installed))
        step("answers in a box", lambda: answers_in_a_box(installed))
        step("starts at login", lambda: starts_at_login(installed))
        step("uninstalled", lambda: uninstall(installed, path_before))
        step("installed as chosen", lambda: installs_as_chosen(options.installer, installed, path_before))
        step("uninstalled", lambda: uninstall(installed, path_before))

else:

    def prove(options: argparse.Namespace) -> None:
        """Say that this is the wrong place."""
        raise FailedError(f"{options.installer} can only be tried on Windows, or under wine")


_BEGAN = time.monotonic()


def step(what: str, do: object) -> None:
    """Do one step and tell when it was done."""
    assert callable(do)  # noqa: S101
    do()
    print(f"[{time.monotonic() - _BEGAN:.0f} s] {what}", flush=True)


def main() -> int:
    """Prove one installer; tell the first thing that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("installer", type=Path, help="the installer")
    parser.add_argument("--older", type=Path, help=f"one of an older version, whose _internal holds {STALE}")
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help="keep a picture of the window (PNG)")
    parser.add_argument("--blind", action="store_true", help="where no screen can be captured")
    try:
        prove(parser.parse_args())
    except (FailedError, OSError, subprocess.SubprocessError, sqlite3.Error) as reason:
        print(f"windows_installer: {reason}", file=sys.stderr)
        return 1
    print("windows_installer: the installer is whole")
    return 0


if __name__ == "__main__":
    sys.exit(main())
