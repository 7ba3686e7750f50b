"""`build.py installer`: use the Windows installer, on Windows or under wine, and check every result.

    python packaging/build.py installer INSTALLER [--older INSTALLER] [--screenshot FILE]

Installs over an older version, uses the program (`smoke`), checks that installer and uninstaller refuse to run while it
runs, and that messages of the windowed executable are shown in a box; uninstalls, and checks that only the plants are
left. It changes the account that runs it: use a machine for tests.
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
from collections.abc import Callable, Iterator
from pathlib import Path

import project
from package_tests import smoke
from package_tests.smoke import FailedError, expect, same

RUNNING, FOREIGN, WRONG_USAGE = 4, 6, 2
STALE = "stale_module.pyd"
INSTALL_TIMEOUT = 300  # seconds

if sys.platform == "win32":
    import ctypes
    import winreg

    LOCAL = Path(os.environ["LOCALAPPDATA"])
    DATA = LOCAL / "PlantDesk"
    FOLDER = LOCAL / "Programs" / "PlantDesk"  # which the installer chooses
    CONSOLE, WINDOWED, UNINSTALLER = (FOLDER / name for name in ("plantdesk.exe", "plantdeskw.exe", "uninstall.exe"))
    MENU = Path(os.environ["APPDATA"]) / r"Microsoft\Windows\Start Menu\Programs"
    SHORTCUT = MENU / "PlantDesk.lnk"
    CURRENT = r"Software\Microsoft\Windows\CurrentVersion"
    UNINSTALL = rf"{CURRENT}\Uninstall\PlantDesk"
    SCHEME = r"Software\Classes\plantdesk\shell\open\command"
    _CLOSE = 0x0010

    def value(key: str, name: str) -> object:
        """Return a value in the user's registry, or None."""
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                return winreg.QueryValueEx(opened, name)[0]
        except FileNotFoundError:
            return None

    def code_of(*command: str | Path) -> int:
        """Run a program to its end; return its exit code."""
        return subprocess.run([str(word) for word in command], timeout=INSTALL_TIMEOUT, check=False).returncode

    def install_older(installer: Path) -> None:
        """Install an older version, with a module that the newer one lacks."""
        same("the older installer's exit code", code_of(installer, "/S"), 0)
        same("the older version's stale module", (FOLDER / "_internal" / STALE).is_file(), True)

    def install(installer: Path) -> None:
        """Install, and check files, registry and PATH."""
        same("the installer's exit code", code_of(installer, "/S"), 0)
        same("a stale module of the older version", (FOLDER / "_internal" / STALE).exists(), False)
        same("DisplayVersion", value(UNINSTALL, "DisplayVersion"), project.VERSION)
        same("InstallLocation", value(UNINSTALL, "InstallLocation"), str(FOLDER))
        same("DisplayIcon", value(UNINSTALL, "DisplayIcon"), str(WINDOWED))
        same("there is a size", isinstance(value(UNINSTALL, "EstimatedSize"), int), True)
        same("App Paths", value(rf"{CURRENT}\App Paths\plantdesk.exe", ""), str(CONSOLE))
        same("the command of a label's address", value(SCHEME, ""), f'"{WINDOWED}" "%1"')
        same("the Start menu's entry", SHORTCUT.is_file(), True)
        same("the folder on the PATH", str(value("Environment", "Path")).split(";")[-1], str(FOLDER))

    def refuse_foreign_folder(installer: Path) -> None:
        """Check that a folder with the files of another program is left alone."""
        folder = LOCAL / "Temp" / "another"
        file = folder / "_internal" / "of_another_program.dll"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"MZ")
        same("the installer in another program's folder", code_of(installer, "/S", f"/D={folder}"), FOREIGN)
        same("the files there", [each for each in folder.rglob("*") if each.is_file()], [file])
        shutil.rmtree(folder)

    @contextlib.contextmanager
    def window() -> Iterator[None]:
        """Start the windowed executable, as the Start menu does."""
        started = subprocess.Popen([str(WINDOWED), "--port", "0"])
        try:
            same("info finds the server", code_of(CONSOLE, "info", "--wait", f"{smoke.START_TIMEOUT:.0f}"), 0)
            yield
        finally:
            subprocess.run(["taskkill", "/PID", str(started.pid)], capture_output=True, timeout=60, check=False)
            try:
                same("the window's exit code", started.wait(60), 0)
            finally:
                started.kill()

    def refuse_while_running(installer: Path) -> None:
        """Check that installer and uninstaller leave a running program alone."""
        with window():
            same("the installer over a running program", code_of(installer, "/S"), RUNNING)
            in_place = f"_?={FOLDER}"  # else a copy of it continues, and the exit code is lost
            same("the uninstaller of a running program", code_of(UNINSTALLER, "/S", in_place), RUNNING)
            same("nothing was removed", CONSOLE.is_file() and SHORTCUT.is_file(), True)

    def show_message_box() -> None:
        """Check that the windowed executable, which has no streams, shows wrong usage in a box."""
        started = subprocess.Popen([str(WINDOWED), "--nonsense"])
        try:
            expect("a message box", lambda: bool(_box()), smoke.START_TIMEOUT)
            ctypes.windll.user32.PostMessageW(ctypes.c_void_p(_box()), _CLOSE, None, None)
            same("the exit code of wrong usage", started.wait(60), WRONG_USAGE)
        finally:
            started.kill()

    def _box() -> int | None:
        find = ctypes.windll.user32.FindWindowW
        find.restype = ctypes.c_void_p
        found: int | None = find("#32770", "PlantDesk")
        return found

    def start_at_login() -> None:
        """Check that the command registers the windowed executable, which opens no console."""
        same("switching it on", code_of(CONSOLE, "integration", "--login", "on"), 0)
        same("the Run value", value(rf"{CURRENT}\Run", "PlantDesk"), f"{WINDOWED} --background")

    def install_with_options(installer: Path, path_before: object) -> None:
        """Check that options have an effect, and that an upgrade without them keeps it."""
        for options in (["/PATH=off", "/LOGIN=on"], []):
            same("the installer's exit code", code_of(installer, "/S", *options), 0)
            same("the unchanged PATH", value("Environment", "Path"), path_before)
            same("the Run value", value(rf"{CURRENT}\Run", "PlantDesk"), f"{WINDOWED} --background")

    def uninstall(path_before: object) -> None:
        """Uninstall, and check that only the plants are left."""
        same("the uninstaller's exit code", code_of(UNINSTALLER, "/S"), 0)
        expect("the program's folder is gone", lambda: not FOLDER.exists(), INSTALL_TIMEOUT)
        expect("its registry entry is gone", lambda: value(UNINSTALL, "DisplayName") is None)
        same("the Run value", value(rf"{CURRENT}\Run", "PlantDesk"), None)
        same("App Paths", value(rf"{CURRENT}\App Paths\plantdesk.exe", ""), None)
        same("the command of a label's address", value(SCHEME, ""), None)
        same("the PATH", value("Environment", "Path"), path_before)
        same("the Start menu's entry", SHORTCUT.exists(), False)
        with contextlib.closing(sqlite3.connect(DATA / "plants.db")) as store:
            rows = store.execute("SELECT id, name, tag FROM plant").fetchall()
            same("the plants", rows, [smoke.FIRST, (*smoke.PLANT.values(),)])

    def verify(options: argparse.Namespace) -> None:
        """Run all checks. Raises FailedError."""
        path_before = value("Environment", "Path")
        step("refuses a foreign folder", lambda: refuse_foreign_folder(options.installer))
        if options.older:
            step("an older version", lambda: install_older(options.older))
        step("installed", lambda: install(options.installer))
        command: list[str | Path] = [sys.executable, project.HERE / "build.py", "smoke", CONSOLE]
        command += ["--own-folders", "--channel", "nsis", "--version", project.VERSION]
        command += ["--screenshot", options.screenshot] if options.screenshot else []
        command += ["--blind"] if options.blind else []
        step("used", lambda: same("the smoke test's exit code", code_of(*command), 0))
        step("refused while it runs", lambda: refuse_while_running(options.installer))
        step("installed over itself", lambda: install(options.installer))
        step("shows a message box", show_message_box)
        step("starts at login", start_at_login)
        step("uninstalled", lambda: uninstall(path_before))
        step("installed with options", lambda: install_with_options(options.installer, path_before))
        step("uninstalled", lambda: uninstall(path_before))

else:

    def verify(options: argparse.Namespace) -> None:
        """Refuse: this is not Windows."""
        raise FailedError(f"{options.installer} can only be used on Windows, or under wine")


_BEGAN = time.monotonic()


def step(what: str, run: Callable[[], object]) -> None:
    """Run a step and print when it was finished."""
    run()
    print(f"[{time.monotonic() - _BEGAN:.0f} s] {what}", flush=True)


def main(arguments: list[str]) -> int:
    """Prove one installer; print the first wrong result."""
    parser = argparse.ArgumentParser(
        prog="build.py installer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("installer", type=Path, help="the installer")
    parser.add_argument("--older", type=Path, help=f"one of an older version, whose _internal holds {STALE}")
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help="save a picture of the window (PNG)")
    parser.add_argument("--blind", action="store_true", help="do not look at the screen")
    try:
        verify(parser.parse_args(arguments))
    except (FailedError, OSError, subprocess.SubprocessError, sqlite3.Error) as reason:
        print(f"installer: {reason}", file=sys.stderr)
        return 1
    print("installer: all steps passed")
    return 0
