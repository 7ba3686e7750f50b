"""`build.py smoke`: use an installed PlantDesk as a user and a script do, and check every result.

    python3 packaging/build.py smoke EXECUTABLE [OPTIONS]

Starts the window, creates a token, posts a plant, finds it in the store and on the screen, is refused with a wrong
token, starts a second time, ends the program, and looks for leftovers. The same on Linux, Windows and macOS, with any
Python from 3.11 on and its standard library. `--within` starts the program elsewhere, in a chroot.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dev
import project
from package_tests import screens

#: A plant that the table shows before the script adds another.
FIRST = (1, "Fern", None)
PLANT = {"id": 9007199254740993, "name": "Monstera deliciosa 🌱", "tag": "smoke"}
#: In seconds: a start from a cold disk, and everything else.
START_TIMEOUT, TIMEOUT = 90.0, 30.0
#: The exit code of `info` while PlantDesk is not running.
NOT_RUNNING = 3
#: Presses Ctrl+C in another process's console on Windows.
PRESS_CTRL_C = """
import ctypes, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
console = ctypes.windll.kernel32
console.FreeConsole()
sys.exit(not (console.AttachConsole(int(sys.argv[1])) and console.GenerateConsoleCtrlEvent(0, 0)))
"""
#: An environment variable that marks every process started from here.
MARK = "PLANTDESK_SMOKE"
#: Harmless lines on standard error.
HARMLESS = [
    re.compile(r"^\s*$"),
    # Mesa without drivers, in a virtual machine or a chroot; widgets do not need it.
    re.compile(r"^(libEGL|MESA)[ -]"),
    # Qt, where no variable sets a locale; it continues in UTF-8.
    re.compile(r'^(Detected locale "C"|Qt depends on a UTF-8|If this causes problems, reconf|for more information\.)'),
    # Qt's offscreen platform, for --blind.
    re.compile(r"^This plugin does not support "),
]


class Product:
    """The installed program, perhaps started by the command `within`, and its data folder as seen from here."""

    def __init__(self, executable: str, within: str) -> None:
        self._within = shlex.split(within)
        self._command = executable
        # On Windows the window has its own executable, so that no console opens beside it.
        self._window = re.sub(r"plantdesk\.exe$", "plantdeskw.exe", executable)
        self.data = Path()
        self.server: dict[str, Any] = {}
        self.executables = {self._command, self._window}

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """Run a command; return its output. Raises dev.RefusedError for another exit code or output on stderr."""
        command = [*self._within, self._command, *arguments]
        done = subprocess.run(command, capture_output=True, timeout=START_TIMEOUT, check=False)
        errors = done.stderr.decode("utf-8", "replace")
        if done.returncode not in codes:
            raise dev.RefusedError(f"{arguments} ended with {done.returncode}: {errors}")
        check_stderr(errors)
        return done.stdout.decode("utf-8", "replace")

    @contextlib.contextmanager
    def running(self, *arguments: str, window: bool = True) -> Iterator[subprocess.Popen[bytes]]:
        """Start the window, or a command that stays; kill it if the block raises."""
        command = [*self._within, self._window if window else self._command, *arguments]
        # A command gets a console of its own on Windows, in which Ctrl+C reaches nothing else.
        flags = 0 if window else getattr(subprocess, "CREATE_NEW_CONSOLE", 0)
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, creationflags=flags
            )
            try:
                yield process
            except BaseException:
                process.kill()
                process.wait()
                errors.seek(0)
                print(errors.read().decode("utf-8", "replace"), file=sys.stderr)
                raise
            errors.seek(0)
            check_stderr(errors.read().decode("utf-8", "replace"))

    def find_data(self, root: str) -> None:
        """Set `data`, the data folder, which is below `root` for a chroot; on Windows, write settings into it."""
        facts = self.info()
        same("running, before the start", facts["running"], False)
        self.data = Path(root + facts["database"]).parent
        if sys.platform == "win32":  # else closing the window asks about the tray, once there is a token
            self.data.mkdir(parents=True, exist_ok=True)
            (self.data / "settings.json").write_text('{"tray_answered": true}')

    def info(self) -> dict[str, Any]:
        """Return what `info` reports of the server, running or not."""
        return dict(json.loads(self.run("info", "--json", codes=(0, NOT_RUNNING))))

    def wait_for_server(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """Wait until `info` finds the server; return what it reports."""

        def is_running() -> bool:
            same("the exit code of the running program", process.poll(), None)
            self.server = self.info()
            return bool(self.server["running"])

        expect("info finds the server", is_running, START_TIMEOUT)
        return self.server

    def post(self, plant: dict[str, object], token: str) -> tuple[int, Any]:
        """Post a plant; return status and answer."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - it is http
            f"{self.server['url']}/plants", json.dumps(plant).encode(), headers
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy for loopback
        try:
            with opener.open(request, timeout=TIMEOUT) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.load(refusal)

    def end(self, process: subprocess.Popen[bytes], *, window: bool = True) -> None:
        """Ask the program to end, as the system does. Raises RefusedError unless it ends with 0 and cleans up."""
        pid = self.server["pid"]
        if sys.platform == "win32":  # a command has no window that could be closed
            command = ["taskkill", "/PID", str(pid)] if window else [sys.executable, "-c", PRESS_CTRL_C, str(pid)]
            subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT)
        else:
            os.kill(pid, signal.SIGTERM)
        same("the exit code", process.wait(TIMEOUT), 0)
        expect("no runtime file is left", lambda: not (self.data / "run").exists())


def expect(what: str, holds: Callable[[], bool], timeout: float = TIMEOUT) -> None:
    """Wait until `holds` returns True. Raises dev.RefusedError with `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > deadline:
            raise dev.RefusedError(f"not within {timeout:.0f} s: {what}")
        time.sleep(0.05)


def same(what: str, found: object, requested: object) -> None:
    """Raise dev.RefusedError with `what` unless both values are equal."""
    if found != requested:
        raise dev.RefusedError(f"{what}: {found!r} instead of {requested!r}")


def check_stderr(text: str) -> None:
    """Check that every line is known to be harmless. Raises dev.RefusedError."""
    strange = [line for line in text.splitlines() if not any(known.search(line) for known in HARMLESS)]
    if strange:
        raise dev.RefusedError("on standard error: " + "\n".join(strange))


# --- the checks ---------------------------------------------------------------------------------


def check_commands(product: Product, channel: str | None) -> None:
    """Check the commands that need neither window nor store."""
    same("--version", product.run("--version").strip(), f"plantdesk {project.VERSION}")
    facts = json.loads(product.run("selfcheck"))
    same("selfcheck's problems", facts["problems"], [])
    same("the word for Cancel", facts["cancel"].get("de"), ["Abbrechen"] * 2)
    if channel:
        same("channel", facts["channel"], channel)


def check_new_plant(product: Product, screen: ScreenCheck) -> str:
    """Post a plant, and find it in the store and on the screen; return the token."""
    same("the first ID", product.run("add", "--name", FIRST[1]).strip(), "1")
    token = product.run("token", "create", "smoke").strip()
    same("the status for a wrong token", product.post(PLANT, "plantdesk_" + "x" * 43)[0], 401)
    screen.remember()
    same("the answer", product.post(PLANT, token), (200, {"name": PLANT["name"], "tag": PLANT["tag"]}))
    same("the plants in the store", stored(product), [FIRST, tuple(PLANT.values())])
    screen.expect_new_row()
    return token


def stored(product: Product) -> list[tuple[object, ...]]:
    """Check the integrity of the store's file; return ID, name and tag of its plants."""
    with contextlib.closing(sqlite3.connect(product.data / "plants.db")) as connection:
        same("integrity", connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return connection.execute("SELECT id, name, tag FROM plant ORDER BY id").fetchall()


def check_second_start(product: Product, first: subprocess.Popen[bytes]) -> None:
    """Start again: the second process ends by itself, and the first one's server stays."""
    before = product.server
    with product.running() as second:
        same("the second start's exit code", second.wait(TIMEOUT), 0)
    same("the server after a second start", product.wait_for_server(first), before)


def check_serve(product: Product, token: str) -> None:
    """Use the API without a window and without a display; posting the same plant again changes nothing."""
    display = {name: os.environ.pop(name) for name in ("DISPLAY", "WAYLAND_DISPLAY") if name in os.environ}
    try:
        with product.running("serve", "--port", "0", window=False) as server:
            product.wait_for_server(server)
            same("the same plant again", product.post(PLANT, token)[0], 200)
            product.end(server, window=False)
    finally:
        os.environ.update(display)


def leftover_processes(executables: set[str]) -> list[str]:
    """Return processes of the program, or on Linux started by it, that are still there."""
    system = platform.system()
    if system == "Linux":
        mark = f"{MARK}={os.environ[MARK]}".encode()
        processes = [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]
        return [each.name for each in processes if each.name != str(os.getpid()) and mark in _variables(each)]
    command = ["tasklist", "/fo", "csv", "/nh"] if system == "Windows" else ["ps", "-axo", "comm"]
    listed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    names = {Path(each).name if system == "Windows" else each for each in executables}
    return [line for line in listed.splitlines() if any(name in line for name in names)]


def _variables(process: Path) -> list[bytes]:
    """Return a process's environment; nothing if it has just ended."""
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


class ScreenCheck:
    """Checks that a window, then a row, appears on the screen; checks nothing if `take`, the camera, is None."""

    def __init__(self, take: Callable[[], screens.Picture] | None, file: Path | None) -> None:
        self._take = take
        self._file = file
        self._before = take() if take else None

    def remember(self) -> None:
        """Wait two seconds, then take the picture with which later ones are compared."""
        if self._take is not None:
            time.sleep(2)  # what the last commands have changed is on the screen by then
            self._before = self._take()

    def expect_window(self) -> None:
        """Wait until a window covers a tenth of the screen. Raises dev.RefusedError."""
        self._expect("a window", lambda changed: len(changed) > 100_000)  # noqa: PLR2004

    def expect_new_row(self) -> None:
        """Wait until the letters of a row are there, over a third of a window's width. Raises dev.RefusedError.

        The cursor that blinks, and the digits of a count, are fewer pixels.
        """
        self._expect("the new plant's row", lambda changed: len(changed) > 400 and _width(changed) > 300)  # noqa: PLR2004
        if self._file is not None and self._take is not None:
            self._take().save(self._file)

    def _expect(self, what: str, is_there: Callable[[set[tuple[int, int]]], bool]) -> None:
        if self._take is not None and self._before is not None:
            take, before = self._take, self._before
            expect(f"{what} is on the screen", lambda: is_there(take().changes(before)))


def _width(pixels: set[tuple[int, int]]) -> int:
    columns = [x for x, _ in pixels]
    return max(columns) - min(columns)


def verify(
    *,
    executable: str,
    channel: str | None = None,
    within: str = "",
    root: str | None = None,
    blind: bool = False,
    screenshot: Path | None = None,
) -> None:
    """Use an installed program, and check every result. Raises RefusedError for the first wrong one."""
    began = time.monotonic()
    os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    product = Product(executable, within)
    with contextlib.ExitStack() as stack:
        home = tempfile.TemporaryDirectory(prefix="plantdesk smoke ", ignore_cleanup_errors=True)
        if root is None:
            os.environ["PLANTDESK_HOME"] = stack.enter_context(home)
        check_commands(product, channel)
        product.find_data(root or "")
        take = None if blind or sys.platform == "darwin" else stack.enter_context(screens.screen())
        screen = ScreenCheck(take, screenshot)
        with product.running("--port", "0") as running:
            product.wait_for_server(running)
            screen.expect_window()
            token = check_new_plant(product, screen)
            check_second_start(product, running)
            product.end(running)
        same("the plants after the end", stored(product), [FIRST, tuple(PLANT.values())])
        check_serve(product, token)
    # A session bus that libdbus started on the screen ends shortly after it.
    expect("none of its processes is left", lambda: not leftover_processes(product.executables))
    print(f"smoke: {executable} works ({time.monotonic() - began:.0f} s)")
