"""The window at a million plants from outside the process, by the pixels of its screen: also of the frozen program.

    python -m tests.benchmarks.outside [--program COMMAND …] [--only starts posts] [--plants N] [--rounds 11]

Runs this checkout and each other program in turn, each on an X server whose frame buffer is a file, which is read every
half millisecond. Keys and clicks are those of the X server. Prints median and 90th percentile of the milliseconds

- from the start of the process until the window is there, beside an empty PySide6 window, the number of plants, and the
  rows in columns that stay;
- from the 200 of a post until its row is on the screen: newest first, while searching, sorted by name.

They contain what `views` leaves out: the event of the X server, painting, and the copy to the screen.
Needs Linux, Xvfb, XTEST and what Qt needs for X (Debian: apt-get install xvfb libxtst6 libxcb-cursor0).
"""

import argparse
import http.client
import json
import os
import random
import select
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from plantdesk import __version__
from tests.benchmarks.figures import Figure, report
from tests.benchmarks.load import cpu_seconds, create_token
from tests.benchmarks.views import fill, summary
from tests.benchmarks.x_screen import POLL, TIMEOUT, Area, Screen
from tests.support.ports import free_port

_ROOT = Path(__file__).parents[2]
#: Of the window in its first size: the names, without the marks of new ones; the number of plants; the first name.
_ROWS, _COUNT, _NAME = Area(318, 206, 840, 716), Area(800, 130, 1152, 160), Area(318, 206, 840, 238)
_MIDDLE = Area(0, 370, 1180, 380)
_HEADING_OF_NAME = 335, 186
#: Where the pointer changes nothing.
_ASIDE = 800, 740
#: Seconds after which nothing changes any more; after which a click is no second one; between posts.
_REST, _NO_DOUBLE_CLICK, _PAUSE = 3.0, 0.3, (0.15, 0.35)
#: Of a core: a program whose indexes are built uses less.
_IDLE = 0.05
_NEWEST = "newest first"
_EMPTY_WINDOW = """
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1180, 760)
window.show()
app.exec()
"""


class Program:
    """A command that shows the window, with a database and a screen of its own."""

    def __init__(self, name: str, database: Path, stack: ExitStack) -> None:
        self.name = name
        self.starts: list[tuple[float, ...]] = []
        self.posts: dict[str, list[float]] = {}
        self._folder, self._database = database.parents[1], database
        self._screen = Screen(stack)
        self._port, self._posted = free_port(), 0
        self._environment = {**os.environ, "PLANTDESK_HOME": str(database.parents[1]), "PYTHONPATH": str(_ROOT)}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules would be compiled at each start
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, dict[Area, bytes]] = {}
        settings = database.parents[1] / "settings"
        settings.mkdir(mode=0o700)
        (settings / "settings.json").write_text(json.dumps({"seen_version": __version__, "port": self._port}))
        token = create_token(shlex.split(name), database, self._environment)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._command = shlex.split(name)  # as from a menu: options are parsed only where there are some
        self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT)
        stack.callback(self.stop)

    def start(self, *, empty: bool = False) -> None:
        """Start it, or an empty window; record the seconds until the window, its count and its rows."""
        self._screen.point(_ASIDE)
        before, begun = self._screen.pixels(_MIDDLE), time.perf_counter()
        command = [sys.executable, "-c", _EMPTY_WINDOW] if empty else self._command
        output = subprocess.DEVNULL
        self._process = subprocess.Popen(command, env=self._environment, stdout=output, stderr=output)
        shown = self._screen.wait_for_change(_MIDDLE, before) - begun
        if empty:
            self.starts.append((shown,))
        elif _NEWEST in self._known:
            rows, count = self._screen.wait(self._known[_NEWEST], begun)
            self.starts.append((shown, count, rows))
        else:  # the first start, which fills the caches of the disk
            self._rest()
            self._finish(_NEWEST, begun)

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=TIMEOUT)
            self._process = None

    def open(self) -> None:
        """Start it, unless it runs; let the keys go to the window, when its indexes are built."""
        if self._process is None:
            self.start()
            self._rest()
            self._screen.focus()

    def show_newest(self) -> None:
        """Show what the first posts are measured with; the rows will be others than before."""
        self._known.clear()

    def show_found(self) -> None:
        """Search for the plants that are posted."""
        self._known.clear()
        self._screen.press("Control_L", "f")
        for letter in "aloe":
            self._screen.press(letter)
        self._finish("aloe", time.perf_counter())

    def show_sorted(self) -> None:
        """Sort all plants by name."""
        self._known.clear()
        self._screen.press("Escape")
        self._finish(_NEWEST, time.perf_counter())
        self._screen.point(_HEADING_OF_NAME)
        time.sleep(_NO_DOUBLE_CLICK)
        self._screen.click()
        self._finish("by name", time.perf_counter())

    def post(self, way: str) -> None:
        """Post a plant that comes first in each order; record the seconds from its 200 to its row."""
        self._posted += 1
        body = json.dumps({"id": -self._posted, "name": f"! aloe {10**9 - self._posted}"})
        time.sleep(random.uniform(*_PAUSE))
        before = self._screen.pixels(_NAME)
        self._connection.request("POST", "/plants", body, self._headers)
        answered = shown = 0.0
        end = time.perf_counter() + TIMEOUT
        while not (answered and shown):
            if select.select([] if answered else [self._connection.sock], [], [], POLL)[0]:
                answered = time.perf_counter()
            if not shown and self._screen.pixels(_NAME) != before:
                shown = time.perf_counter()
            if time.perf_counter() > end:
                raise TimeoutError("the row is not shown")
        response = self._connection.getresponse()
        if response.status != http.HTTPStatus.OK:
            raise RuntimeError(response.read())
        response.read()
        self.posts.setdefault(way, []).append(shown - answered)

    def _rest(self) -> None:
        """Wait until the program does nothing any more."""
        assert self._process is not None
        before = 0.0
        while (now := cpu_seconds(self._process.pid)) - before > _IDLE * _REST:
            before = now
            time.sleep(_REST)

    def _finish(self, name: str, begun: float) -> None:
        """Wait until rows and count look as the last time."""
        if name not in self._known:
            self._known[name] = self._screen.learn((_ROWS, _COUNT), _REST)
        self._screen.wait(self._known[name], begun)


def _measure_starts(programs: list[Program], options: argparse.Namespace) -> None:
    """Start the programs, and an empty window."""
    empty = []
    for _ in range(options.rounds + 1):
        for program in programs:
            program.start()
            program.stop()
        programs[0].start(empty=True)
        programs[0].stop()
        empty.append(programs[0].starts.pop()[0])
    print(f"an empty window {summary(empty[1:])}")
    for program in programs:
        window, count, rows = map(summary, zip(*program.starts, strict=True))
        print(f"the window {window}, the count {count}, the rows in place {rows}: {program.name}", flush=True)
    what, last = "window" if len(programs) == 1 else "frozen window", programs[-1]
    bare = statistics.median(empty[1:])
    shown, _, in_place = (statistics.median(each) / bare for each in zip(*last.starts, strict=True))
    report([Figure(f"{what} / empty window", shown), Figure(f"{what}, rows in place / empty window", in_place)])


def _measure_posts(programs: list[Program], options: argparse.Namespace) -> None:
    print()
    for program in programs:
        program.open()
    for way, show in _WAYS.items():
        for program in programs:
            show(program)
        for _ in range(options.posts):
            for program in programs:
                program.post(way)
        for program in programs:
            print(f"200 to row, {way:18}{summary(program.posts[way]):>10}: {program.name}", flush=True)


#: How rows are shown when plants are posted, in this order.
_WAYS = {"newest first": Program.show_newest, "while searching": Program.show_found, "by name": Program.show_sorted}
_PARTS = {"starts": _measure_starts, "posts": _measure_posts}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", nargs="*", default=[], metavar="COMMAND")
    parser.add_argument("--only", nargs="+", default=list(_PARTS), choices=list(_PARTS), metavar="PART")
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--posts", type=int, default=40)
    options = parser.parse_args()
    os.environ.pop("QT_QPA_PLATFORM", None)  # set by `views`
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        filled = Path(folder, "plants.db")
        fill(filled, options.plants)
        programs = []
        for number, name in enumerate([f"{shlex.quote(sys.executable)} -m plantdesk", *options.program]):
            database = Path(folder, str(number), "data", "plants.db")
            database.parent.mkdir(parents=True, mode=0o700)
            shutil.copy(filled, database)
            programs.append(Program(name, database, stack))
        for part in options.only:
            _PARTS[part](programs, options)


if __name__ == "__main__":
    main()
