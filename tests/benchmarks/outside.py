"""The window at a million plants from outside the process, by the pixels of its screen: also of the frozen program.

    python -m tests.benchmarks.outside [--program COMMAND …] [--only starts views posts keys] [--plants N] [--rounds 11]

Runs this checkout and each other program in turn, each on an X server whose frame buffer is a file, which is read every
half millisecond. Keys and clicks are those of the X server. Prints median and 90th percentile of the milliseconds

- from the start of the process until the window is there, beside an empty PySide6 window, the number of plants, and the
  rows in columns that stay;
- from the key that pastes a search, or the click on a heading, until the first rows, and the count, are those that
  stay. The window searches at each key: after typed ones most results are there before the last key;
- from the 200 of a post until its row is on the screen;
- from a key until its effect is on the screen: a letter in Name, also while 100 plants a second are posted, and while a
  command imports a million rows; PageDown, Home, End, Down and Ctrl+A in the table.

They contain what `views` leaves out: the event of the X server, painting, and the copy to the screen. A sort
that shows no other count on its way has all rows when it has the first. `--pictures` keeps what each step looks like.
Needs Linux, Xvfb, XTEST and what Qt needs for X (Debian: apt-get install xvfb libxtst6 libxcb-cursor0).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from plantdesk import __version__
from plantdesk.ui.plants.table.cells import Column
from tests.benchmarks.load import cpu_seconds, create_token, free_port
from tests.benchmarks.start import EMPTY_WINDOW
from tests.benchmarks.views import CASES, Case, fill, print_results, summary
from tests.benchmarks.x_screen import POLL, TIMEOUT, Area, Screen

_ROOT = Path(__file__).parents[2]
#: Of the window in its first size: the names, without the marks of new ones; the number of plants; the first name.
_ROWS, _COUNT, _NAME = Area(318, 206, 840, 716), Area(800, 130, 1152, 160), Area(318, 206, 840, 238)
_MIDDLE = Area(0, 370, 1180, 380)
#: The first letters in the field of the name, and a row.
_LETTERS, _FIRST_ROW = Area(350, 60, 520, 84), (500, 220)
#: Keys in the table, in this order: each has an effect after the one before.
_TABLE_KEYS = {
    "End": ("End",),
    "Home": ("Home",),
    "PageDown": ("Next",),
    "Down": ("Down",),
    "Ctrl+A": ("Control_L", "a"),
}
#: Rows of the import beside which a letter is typed, and posts a second.
_IMPORTED, _POSTS_A_SECOND = 1_000_000, 100
_HEADINGS = {Column.NAME: (335, 186), Column.TAG: (862, 186), Column.ADDED: (992, 186), Column.SOURCE: (1078, 186)}
#: Where the pointer changes nothing.
_ASIDE = 800, 740
#: Seconds after which nothing changes any more; after which a click is no second one; between posts.
_REST, _NO_DOUBLE_CLICK, _PAUSE = 3.0, 0.3, (0.15, 0.35)
#: Of a core: a program whose indexes are built uses less.
_IDLE = 0.05
_NEWEST, _OLDEST = "newest first", "oldest first"


class Program:
    """A command that shows the window, with a database and a screen of its own."""

    def __init__(self, name: str, database: Path, pictures: Path | None, stack: ExitStack) -> None:
        self.name = name
        self.starts: list[tuple[float, ...]] = []
        self.views: dict[Case, list[tuple[float, float]]] = {}
        self.posts: dict[str, list[float]] = {}
        self.keys: dict[str, list[float]] = {}
        self._folder, self._database = database.parents[1], database
        self._screen, self._pictures = Screen(stack), pictures
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
        command = [sys.executable, "-c", EMPTY_WINDOW] if empty else self._command
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

    def measure(self, case: Case) -> None:
        """Search, and undo it, or sort; record the seconds, except of the first time."""
        is_first = case.name not in self._known
        times = self._search(case.search, case.name) if case.column is None else self._sort(case.column, case.name)
        if not is_first:
            self.views.setdefault(case, []).append(times)
        elif self._known[case.name][_ROWS] == self._known[_NEWEST][_ROWS]:
            raise RuntimeError(f"{case.name}: the rows have not changed")
        if case.column is None:
            self._clear_search()

    def sort_newest_first(self) -> None:
        """Undo the sorts that were measured, one after the other."""
        self._sort(Column.ADDED, _OLDEST)
        self._sort(Column.ADDED, _NEWEST)

    def show_newest(self) -> None:
        """Show what the first posts are measured with; the rows will be others than before."""
        self._known.clear()

    def show_found(self) -> None:
        """Search for the plants that are posted."""
        self._known.clear()
        self._search("aloe", "aloe")

    def show_sorted(self) -> None:
        """Sort all plants by name."""
        self._known.clear()
        self._clear_search()
        self._sort(Column.NAME, "by name")

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
        self._keep_picture(f"200 to row, {way}")

    def press_in_table(self) -> None:
        """Press each key of the table; record the seconds until its effect."""
        self._screen.point(_FIRST_ROW)
        self._screen.click()
        for name, keys in _TABLE_KEYS.items():
            time.sleep(_NO_DOUBLE_CLICK)
            self._press(name, keys, _ROWS)
            self._keep_picture(name)

    def type_letters(self, name: str, count: int = 10) -> None:
        """Type letters in the empty field of the name, which has the focus; record the seconds until each is seen."""
        for _ in range(count):
            time.sleep(random.uniform(*_PAUSE))
            self._press(name, ("x",), _LETTERS)
        self._keep_picture(name)
        self._screen.press("Control_L", "a")
        self._screen.press("BackSpace")

    def _press(self, name: str, keys: tuple[str, ...], area: Area) -> None:
        before, begun = self._screen.pixels(area), time.perf_counter()
        self._screen.press(*keys)
        self.keys.setdefault(name, []).append(self._screen.wait_for_change(area, before) - begun)

    def focus_name(self) -> None:
        """Move the focus to the field of the name."""
        self._screen.press("Control_L", "n")

    @contextlib.contextmanager
    def posting(self) -> Iterator[None]:
        """Post plants meanwhile."""
        stopping = threading.Event()

        def post() -> None:
            while not stopping.wait(1 / _POSTS_A_SECOND):
                self._posted += 1
                body = json.dumps({"id": -self._posted, "name": f"Aloe {self._posted}"})
                self._connection.request("POST", "/plants", body, self._headers)
                self._connection.getresponse().read()

        poster = threading.Thread(target=post)
        poster.start()
        try:
            yield
        finally:
            stopping.set()
            poster.join()

    @contextlib.contextmanager
    def importing(self) -> Iterator[threading.Event]:
        """Import rows by a command meanwhile; the event is set when that ends."""
        file = self._folder / "plants.csv"
        first = 10**12
        file.write_text("id,name,tag\n" + "".join(f"{first + n},Fern {n},bed {n % 50}\n" for n in range(_IMPORTED)))
        command = [*self._command, "import", str(file), "--database", str(self._database)]
        process = subprocess.Popen(command, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ended = threading.Event()
        waiting = threading.Thread(target=self._wait_for, args=(process, ended))
        waiting.start()
        try:
            yield ended
        finally:
            waiting.join()

    @staticmethod
    def _wait_for(process: subprocess.Popen[bytes], ended: threading.Event) -> None:
        process.wait()
        ended.set()

    def _rest(self) -> None:
        """Wait until the program does nothing any more."""
        assert self._process is not None
        before = 0.0
        while (now := cpu_seconds(self._process.pid)) - before > _IDLE * _REST:
            before = now
            time.sleep(_REST)

    def _search(self, text: str, name: str) -> tuple[float, float]:
        """Paste a search, which is typed and cut before. A click on a heading has moved the focus to the table."""
        self._screen.press("Control_L", "f")
        for letter in text:
            self._screen.press(letter)
        self._screen.press("Control_L", "a")
        self._screen.press("Control_L", "x")
        self._finish(_NEWEST, time.perf_counter())
        begun = time.perf_counter()
        self._screen.press("Control_L", "v")
        return self._finish(name, begun)

    def _clear_search(self) -> None:
        self._screen.press("Escape")
        self._finish(_NEWEST, time.perf_counter())

    def _sort(self, column: Column, name: str) -> tuple[float, float]:
        """Click on a heading."""
        self._screen.point(_HEADINGS[column])
        time.sleep(_NO_DOUBLE_CLICK)
        begun = time.perf_counter()
        self._screen.click()
        return self._finish(name, begun)

    def _finish(self, name: str, begun: float) -> tuple[float, float]:
        """Wait until rows and count look as the last time; return the seconds until each did."""
        if name not in self._known:
            self._known[name] = self._screen.learn((_ROWS, _COUNT), _REST)
            self._keep_picture(name)
        try:
            rows, count = self._screen.wait(self._known[name], begun)
        except TimeoutError:
            self._keep_picture(f"{name}, missing")
            raise
        return rows, max(rows, count)

    def _keep_picture(self, name: str) -> None:
        if self._pictures is not None:
            self._screen.picture().save(self._pictures / f"{name}.ppm")


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


def _measure_views(programs: list[Program], options: argparse.Namespace) -> None:
    for program in programs:
        program.open()
    for _ in range(options.rounds + 1):
        for case in CASES:
            for program in programs:
                program.measure(case)
        for program in programs:
            program.sort_newest_first()
    for program in programs:
        print(f"\n{program.name}", end="")
        print_results(program.views)


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


def _measure_keys(programs: list[Program], options: argparse.Namespace) -> None:
    print()
    for program in programs:
        program.open()
        for _ in range(options.rounds):
            program.press_in_table()
        program.focus_name()
        for _ in range(options.rounds):
            program.type_letters("a letter")
        with program.posting():
            for _ in range(options.rounds):
                program.type_letters("a letter, 100 posts a second")
        with program.importing() as ended:
            while not ended.is_set():
                program.type_letters("a letter, import of a million")
        for name, seconds in program.keys.items():
            print(f"{name:30}{summary(seconds):>10}, at most {max(seconds) * 1000:.0f}: {program.name}", flush=True)


#: How rows are shown when plants are posted, in this order.
_WAYS = {"newest first": Program.show_newest, "while searching": Program.show_found, "by name": Program.show_sorted}
_PARTS = {"starts": _measure_starts, "views": _measure_views, "posts": _measure_posts, "keys": _measure_keys}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", nargs="*", default=[], metavar="COMMAND")
    parser.add_argument("--only", nargs="+", default=list(_PARTS), choices=list(_PARTS), metavar="PART")
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--posts", type=int, default=40)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
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
            pictures = options.pictures and options.pictures / str(number)
            if pictures:
                pictures.mkdir(parents=True, exist_ok=True)
            programs.append(Program(name, database, pictures, stack))
        for part in options.only:
            _PARTS[part](programs, options)


if __name__ == "__main__":
    main()
