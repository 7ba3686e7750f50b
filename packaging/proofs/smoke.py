"""Prove an installed PlantDesk by using it, as a person and a script would: nothing but the product is looked at.

    python3 packaging/proofs/smoke.py EXECUTABLE [OPTIONS]

Starts the window, makes a token, posts a plant, looks for it in the store and on the screen, is refused with a wrong
token, starts a second time, ends it, and looks for what is left over. The same on Linux, Windows and macOS, with any
Python from 3.11 on and its standard library. `--within` starts the program somewhere else: in a chroot, or by wine.
"""

from __future__ import annotations

import argparse
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proofs import screens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: A plant that is there already, so that the table is; and the one that a script adds.
FIRST = (1, "Fern", None)
PLANT = {"id": 9007199254740993, "name": "Monstera deliciosa 🌱", "tag": "smoke"}
#: Seconds: for a start from a cold disk, for all else.
START, SOON = 90.0, 30.0
#: The exit code of `info` when PlantDesk does not run.
NOT_RUNNING = 3
#: Presses Ctrl+C in the console of another process on Windows.
PRESS_CTRL_C = """
import ctypes, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
console = ctypes.windll.kernel32
console.FreeConsole()
sys.exit(not (console.AttachConsole(int(sys.argv[1])) and console.GenerateConsoleCtrlEvent(0, 0)))
"""
#: A variable that every process started from here has.
MARK = "PLANTDESK_SMOKE"
#: What may stand on standard error, and why.
HARMLESS = [
    re.compile(r"^\s*$"),
    # Mesa in a virtual machine, or in a chroot without drivers; widgets paint without it.
    re.compile(r"^(libEGL|MESA)[ -]"),
    # Qt, where no variable names a locale: four lines, and it goes on in UTF-8.
    re.compile(r'^(Detected locale "C"|Qt depends on a UTF-8|If this causes problems, reconf|for more information\.)'),
    # Qt's platform without a screen, which --blind may be used on.
    re.compile(r"^This plugin does not support "),
    # wine tells on starting which parts of Windows it has not.
    re.compile(r"^[0-9a-f]{4}:(fixme|err):"),
]


class FailedError(Exception):
    """What is not as it must be."""


class Product:
    """The installed program, and where it keeps its files as seen from here."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._within: list[str] = shlex.split(options.within)
        self._command: str = options.executable
        self._window: str = options.window or _window_executable(options.executable)
        self._stop: list[str] = shlex.split(options.stop)
        self.data = Path()
        self.executables = {self._command, self._window}

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """Run a command to its end; return what it printed."""
        command = [*self._within, self._command, *arguments]
        done = subprocess.run(command, capture_output=True, timeout=START, check=False)
        told = done.stderr.decode("utf-8", "replace")
        if done.returncode not in codes:
            raise FailedError(f"{arguments} ended with {done.returncode}: {told}")
        check_silence(told)
        return done.stdout.decode("utf-8", "replace")

    @contextlib.contextmanager
    def running(self, *arguments: str, window: bool = True) -> Iterator[Running]:
        """Start the window, or a command that stays; end it hard where the block was left too early."""
        command = [*self._within, self._window if window else self._command, *arguments]
        with tempfile.TemporaryFile() as told:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=told,
                creationflags=_own_console(window),
            )
            started = Running(process, self.info, has_window=window)
            try:
                yield started
            except BaseException:
                process.kill()
                process.wait()
                told.seek(0)
                print(told.read().decode("utf-8", "replace"), file=sys.stderr)
                raise
            told.seek(0)
            check_silence(told.read().decode("utf-8", "replace"))

    def info(self) -> dict[str, Any]:
        """Return what `info` reports of the server, running or not."""
        facts: dict[str, Any] = json.loads(self.run("info", "--json", codes=(0, NOT_RUNNING)))
        return facts

    def end(self, running: Running) -> None:
        """Ask the program to end, as the system does it; it has to do so by itself."""
        pid = running.server["pid"]
        if self._stop:
            subprocess.run([*self._stop, str(pid)], check=True, capture_output=True, timeout=SOON)
        elif sys.platform == "win32" and running.has_window:
            subprocess.run(["taskkill", "/PID", str(pid)], check=True, capture_output=True, timeout=SOON)
        elif sys.platform == "win32":  # what runs in a terminal has no window that could be closed
            subprocess.run([sys.executable, "-c", PRESS_CTRL_C, str(pid)], check=True, timeout=SOON)
        else:
            os.kill(pid, signal.SIGTERM)
        code = running.process.wait(SOON)
        if code != 0:
            raise FailedError(f"the end was not clean: {code}")
        expect("no runtime file is left", lambda: not (self.data / "run").exists())


class Running:
    """A program that runs."""

    def __init__(
        self, process: subprocess.Popen[bytes], info: Callable[[], dict[str, Any]], *, has_window: bool
    ) -> None:
        self.process = process
        self.has_window = has_window
        self._info = info
        self.server: dict[str, Any] = {}

    def wait_for_server(self) -> None:
        """Wait until `info` finds its server."""
        expect("info finds the server", self._is_found, START)

    def _is_found(self) -> bool:
        if self.process.poll() is not None:
            raise FailedError(f"the program ended with {self.process.returncode}")
        self.server = self._info()
        return bool(self.server["running"])

    def post(self, plant: dict[str, object], token: str) -> tuple[int, Any]:
        """Send a plant; return status and answer."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - it is http
            f"{self.server['url']}/plants", json.dumps(plant).encode(), headers
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy knows nothing of loopback
        try:
            with opener.open(request, timeout=SOON) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.load(refusal)


def _own_console(window: bool) -> int:  # noqa: FBT001
    """Give a command on Windows a console of its own, in which it can be told to end without telling anybody else."""
    if sys.platform == "win32":
        return 0 if window else subprocess.CREATE_NEW_CONSOLE
    return 0


def _window_executable(command: str) -> str:
    """Windows has another executable for the window, so that no console opens beside it."""
    return re.sub(r"plantdesk\.exe$", "plantdeskw.exe", command)


def expect(what: str, holds: Callable[[], bool], within: float = SOON) -> None:
    """Wait until something holds. Raises FailedError."""
    deadline = time.monotonic() + within
    while not holds():
        if time.monotonic() > deadline:
            raise FailedError(f"not within {within:.0f} s: {what}")
        time.sleep(0.05)


def same(what: str, found: object, wanted: object) -> None:
    """Compare. Raises FailedError."""
    if found != wanted:
        raise FailedError(f"{what}: {found!r} instead of {wanted!r}")


def check_silence(told: str) -> None:
    """See that standard error holds nothing but what is known to be harmless. Raises FailedError."""
    strange = [line for line in told.splitlines() if not any(known.search(line) for known in HARMLESS)]
    if strange:
        raise FailedError("on standard error: " + "\n".join(strange))


# --- what is proved -----------------------------------------------------------------------------


def commands_answer(product: Product, options: argparse.Namespace) -> None:
    """The commands that need neither window nor store."""
    version = product.run("--version").strip()
    if options.version:
        same("--version", version, f"plantdesk {options.version}")
    facts = json.loads(product.run("selfcheck"))
    same("selfcheck's problems", facts["problems"], [])
    if options.channel:
        same("channel", facts["channel"], options.channel)
    facts = product.info()
    same("running, before anything is started", facts["running"], False)
    product.data = Path(options.data) if options.data else Path(options.root + facts["database"]).parent


def plant_arrives(product: Product, running: Running, look: Look) -> str:
    """A plant that is posted is in the store and on the screen; returns the token."""
    same("the first ID", product.run("add", "--name", FIRST[1]).strip(), "1")
    token = product.run("token", "create", "smoke").strip()
    same("the status for a wrong token", running.post(PLANT, "plantdesk_" + "x" * 43)[0], 401)
    look.remember()
    answer = running.post(PLANT, token)
    same("the answer", answer, (200, {"name": PLANT["name"], "tag": PLANT["tag"]}))
    same("the plants in the store", stored(product), [FIRST, tuple(PLANT.values())])
    look.expect_new_row()
    return token


def stored(product: Product) -> list[tuple[object, ...]]:
    """The plants that are in the file."""
    with contextlib.closing(sqlite3.connect(product.data / "plants.db")) as connection:
        same("integrity", connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return connection.execute("SELECT id, name, tag FROM plant ORDER BY id").fetchall()


def second_start_raises_first(product: Product, first: Running) -> None:
    """A second start ends by itself, and there is still one server, the first."""
    before = first.server
    with product.running() as second:
        same("the second start's exit code", second.process.wait(SOON), 0)
    first.wait_for_server()
    same("the server after a second start", first.server, before)
    same("the first, after a second start", first.process.poll(), None)


def left_over(executables: set[str]) -> list[str]:
    """The program's processes that are still there, with those that it started."""
    system = platform.system()
    if system == "Linux":
        wanted = f"{MARK}={os.environ[MARK]}".encode()
        found = [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]
        return [folder.name for folder in found if folder.name != str(os.getpid()) and wanted in _variables(folder)]
    command = ["tasklist", "/fo", "csv", "/nh"] if system == "Windows" else ["ps", "-axo", "comm"]
    listed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    names = {Path(each).name if system == "Windows" else each for each in executables}
    return [line for line in listed.splitlines() if any(name in line for name in names)]


def _variables(process: Path) -> list[bytes]:
    """A process's environment; empty where it has just ended."""
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def serve_works(product: Product, token: str) -> None:
    """The API without a window and without a display."""
    display = {name: os.environ.pop(name) for name in ("DISPLAY", "WAYLAND_DISPLAY") if name in os.environ}
    try:
        with product.running("serve", "--port", "0", window=False) as server:
            server.wait_for_server()
            same("the same plant again", running_status(server, token), 200)
            product.end(server)
    finally:
        os.environ.update(display)


def running_status(server: Running, token: str) -> int:
    """Send the plant once more, which changes nothing."""
    return server.post(PLANT, token)[0]


class Look:
    """The eyes: what changes on the screen when a plant arrives."""

    def __init__(self, take: Callable[[], screens.Picture] | None, file: Path | None) -> None:
        self._take = take
        self._file = file
        self._empty = take() if take else None
        self._before: list[screens.Picture] = []

    def expect_window(self) -> None:
        """Wait until a window has covered a good part of the screen. Raises FailedError."""
        if self._take is not None and self._empty is not None:
            take, empty = self._take, self._empty
            enough = empty.width * empty.height // 10
            expect("a window is on the screen", lambda: len(take().changes(empty)) > enough)

    def remember(self) -> None:
        """Keep how it looks before, for long enough to see what changes by itself, as a blinking cursor does."""
        for _ in range(20 if self._take else 0):
            assert self._take is not None  # noqa: S101
            self._before.append(self._take())
            time.sleep(0.1)

    def expect_new_row(self) -> None:
        """Wait until something as wide as a row has appeared that was not there at any time before."""
        if self._take is None:
            return
        first, *later = self._before
        by_itself = set[tuple[int, int]]().union(*(picture.changes(first) for picture in later))
        expect("the new plant's row is on the screen", lambda: _spans(self._shot().changes(first) - by_itself))
        if self._file is not None:
            self._shot().save(self._file)

    def _shot(self) -> screens.Picture:
        assert self._take is not None  # noqa: S101
        return self._take()


def _spans(changed: set[tuple[int, int]]) -> bool:
    """Whether these are the letters of a row: many, over a third of a window's width at least."""
    columns = [x for x, _ in changed]
    return len(changed) > 400 and max(columns) - min(columns) > 300  # noqa: PLR2004


def prove(product: Product, options: argparse.Namespace) -> None:
    """Go through all of it. Raises FailedError."""
    commands_answer(product, options)
    with contextlib.ExitStack() as stack:
        take = None if options.blind else stack.enter_context(screens.screen())
        look = Look(take, options.screenshot)
        with product.running("--port", "0") as running:
            running.wait_for_server()
            look.expect_window()
            token = plant_arrives(product, running, look)
            second_start_raises_first(product, running)
            product.end(running)
    same("the plants after the end", stored(product), [FIRST, tuple(PLANT.values())])
    serve_works(product, token)
    # A session bus that libdbus started on the screen ends a moment after the screen.
    expect("none of its processes is left", lambda: not left_over(product.executables))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable", help="the command, as it is typed")
    parser.add_argument("--window", help="the executable of the window (default: plantdeskw.exe beside plantdesk.exe)")
    parser.add_argument("--version", help="the version that it must have")
    parser.add_argument("--channel", help="the package that it must come from: deb, rpm, tar, nsis, zip, dmg")
    parser.add_argument("--within", default="", metavar="COMMAND", help="what starts it elsewhere, in one argument")
    parser.add_argument(
        "--stop", default="", metavar="COMMAND", help="what asks a process there to end; gets its number"
    )
    parser.add_argument("--root", default="", metavar="FOLDER", help="what its paths begin with, seen from here")
    parser.add_argument("--data", metavar="FOLDER", help="its data folder, seen from here, where --root does not do")
    parser.add_argument("--own-folders", action="store_true", help="use the account's folders, not temporary ones")
    parser.add_argument("--blind", action="store_true", help="where no screen can be captured")
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help="keep the picture of the new row (PNG)")
    return parser.parse_args()


def main() -> int:
    """Prove one program; tell the first thing that is wrong."""
    options = _arguments()
    began = time.monotonic()
    os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    with tempfile.TemporaryDirectory(prefix="plantdesk smoke ", ignore_cleanup_errors=True) as home:
        if not options.own_folders:
            os.environ["PLANTDESK_HOME"] = home
        try:
            prove(Product(options), options)
        except (FailedError, OSError, subprocess.SubprocessError, sqlite3.Error) as reason:
            print(f"smoke: {reason}", file=sys.stderr)
            return 1
    print(f"smoke: {options.executable} is whole ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
