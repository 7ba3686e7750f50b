"""`build.py installer`: use the Windows installer, and check every result.

    python packaging/build.py installer INSTALLER [--screenshot FILE]

Installs, uses the program (`smoke`), checks that installer and uninstaller refuse to run while it runs; installs over
it, uninstalls, and checks that only the plants are left. It changes the account that runs it: use a machine for tests.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import winreg
from collections.abc import Callable, Iterator
from pathlib import Path

import project
from package_tests import smoke
from package_tests.smoke import expect, same

assert sys.platform == "win32"  # noqa: S101 - for mypy; elsewhere there is no winreg
RUNNING, FOREIGN = 4, 6
INSTALL_TIMEOUT = 300  # seconds
LOCAL = Path(os.environ["LOCALAPPDATA"])
DATA = LOCAL / "PlantDesk"
FOLDER = LOCAL / "Programs" / "PlantDesk"  # which the installer chooses
CONSOLE, WINDOWED, UNINSTALLER = (FOLDER / name for name in ("plantdesk.exe", "plantdeskw.exe", "uninstall.exe"))
MENU = Path(os.environ["APPDATA"]) / r"Microsoft\Windows\Start Menu\Programs"
SHORTCUT = MENU / "PlantDesk.lnk"
CURRENT = r"Software\Microsoft\Windows\CurrentVersion"
UNINSTALL = rf"{CURRENT}\Uninstall\PlantDesk"
SCHEME = r"Software\Classes\plantdesk\shell\open\command"


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


def install(installer: Path) -> None:
    """Install, and check files, registry and PATH."""
    same("the installer's exit code", code_of(installer, "/S"), 0)
    registry = {name: value(UNINSTALL, name) for name in ("DisplayVersion", "InstallLocation", "DisplayIcon")}
    registry |= {"App Paths": value(rf"{CURRENT}\App Paths\plantdesk.exe", ""), "scheme": value(SCHEME, "")}
    expected = {"DisplayVersion": project.VERSION, "InstallLocation": str(FOLDER), "DisplayIcon": str(WINDOWED)}
    same("the registry", registry, expected | {"App Paths": str(CONSOLE), "scheme": f'"{WINDOWED}" "%1"'})
    same("there is a size", isinstance(value(UNINSTALL, "EstimatedSize"), int), True)
    same("the Start menu's entry", SHORTCUT.is_file(), True)
    same("the folder on the PATH", str(value("Environment", "Path")).split(";")[-1], str(FOLDER))


def refuse_foreign_folder(installer: Path) -> None:
    """Check that the installer refuses a folder with files of another program, and does not change it."""
    folder = LOCAL / "Temp" / "another"
    file = folder / "_internal" / "of_another_program.dll"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"MZ")
    same("the installer in another program's folder", code_of(installer, "/S", f"/D={folder}"), FOREIGN)
    same("the files there", [each for each in folder.rglob("*") if each.is_file()], [file])
    shutil.rmtree(folder)


@contextlib.contextmanager
def window() -> Iterator[None]:
    """Start the windowed executable, as the Start menu does; after the block, end it and check its exit code."""
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
    """Check that installer and uninstaller refuse to run, and remove nothing, while the program runs."""
    with window():
        same("the installer over a running program", code_of(installer, "/S"), RUNNING)
        in_place = f"_?={FOLDER}"  # else a copy of it continues, and the exit code is lost
        same("the uninstaller of a running program", code_of(UNINSTALLER, "/S", in_place), RUNNING)
        same("nothing was removed", CONSOLE.is_file() and SHORTCUT.is_file(), True)


def upgrade(installer: Path) -> None:
    """Install over an installed version, and check that a module which only that one has is gone."""
    stale = FOLDER / "_internal" / "stale_module.pyd"
    stale.touch()
    install(installer)
    same("a stale module of the older version", stale.exists(), False)


def start_at_login() -> None:
    """Check that `integration --login on` registers the windowed executable, which opens no console."""
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
    keys = {rf"{CURRENT}\Run": "PlantDesk", rf"{CURRENT}\App Paths\plantdesk.exe": "", SCHEME: ""}
    same("what is left in the registry", [key for key, name in keys.items() if value(key, name) is not None], [])
    same("the PATH", value("Environment", "Path"), path_before)
    same("the Start menu's entry", SHORTCUT.exists(), False)
    with contextlib.closing(sqlite3.connect(DATA / "plants.db")) as store:
        rows = store.execute("SELECT id, name, tag FROM plant").fetchall()
        same("the plants", rows, [smoke.FIRST, (*smoke.PLANT.values(),)])


def verify(*, installer: Path, screenshot: Path | None = None) -> None:
    """Install, use, upgrade and uninstall, in several ways. Raises RefusedError for the first wrong result."""
    path_before = value("Environment", "Path")
    step("refuses a foreign folder", lambda: refuse_foreign_folder(installer))
    step("installed", lambda: install(installer))
    step("used", lambda: smoke.verify(executable=str(CONSOLE), channel="nsis", root="", screenshot=screenshot))
    step("refused while it runs", lambda: refuse_while_running(installer))
    step("installed over itself", lambda: upgrade(installer))
    step("starts at login", start_at_login)
    step("uninstalled", lambda: uninstall(path_before))
    step("installed with options", lambda: install_with_options(installer, path_before))
    step("uninstalled", lambda: uninstall(path_before))


def step(what: str, run: Callable[[], object]) -> None:
    """Run a step and print when it was finished."""
    began = time.monotonic()
    run()
    print(f"{what} ({time.monotonic() - began:.0f} s)", flush=True)
