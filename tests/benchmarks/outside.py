"""The start of the window at a million plants, from outside the process, by the pixels of its screen.

    python -m tests.benchmarks.outside [--program COMMAND …] [--plants N] [--rounds 11]

Starts this checkout and each other program, such as the frozen one, in turn, each on an X server whose frame buffer is
a file, which is read every half millisecond. Prints median and 90th percentile of the milliseconds until the window is
there, beside an empty PySide6 window, the number of plants, and the rows in columns that stay.

They contain what `views` leaves out: the event of the X server, painting, and the copy to the screen.
Needs Linux, Xvfb and what Qt needs for X (Debian: apt-get install xvfb libxtst6 libxcb-cursor0).
"""

import argparse
import json
import os
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
from tests.benchmarks.load import cpu_seconds
from tests.benchmarks.views import fill, summary
from tests.benchmarks.x_screen import TIMEOUT, Area, Screen
from tests.support.ports import free_port

_ROOT = Path(__file__).parents[2]
#: Of the window in its first size: the names, without the marks of new ones; the number of plants.
_ROWS, _COUNT = Area(318, 206, 840, 716), Area(800, 130, 1152, 160)
_MIDDLE = Area(0, 370, 1180, 380)
#: Where the pointer changes nothing.
_ASIDE = 800, 740
#: Seconds after which nothing changes any more.
_REST = 3.0
#: Of a core: a program whose indexes are built uses less.
_IDLE = 0.05
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
        self._screen = Screen(stack)
        self._environment = {**os.environ, "PLANTDESK_HOME": str(database.parents[1]), "PYTHONPATH": str(_ROOT)}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules would be compiled at each start
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[Area, bytes] = {}
        settings = database.parents[1] / "settings"
        settings.mkdir(mode=0o700)
        (settings / "settings.json").write_text(json.dumps({"seen_version": __version__, "port": free_port()}))
        self._command = shlex.split(name)  # as from a menu: options are parsed only where there are some
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
        elif self._known:
            rows, count = self._screen.wait(self._known, begun)
            self.starts.append((shown, count, rows))
        else:  # the first start, which fills the caches of the disk
            self._rest()
            self._known = self._screen.learn((_ROWS, _COUNT), _REST)

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=TIMEOUT)
            self._process = None

    def _rest(self) -> None:
        """Wait until the program does nothing any more."""
        assert self._process is not None
        before = 0.0
        while (now := cpu_seconds(self._process.pid)) - before > _IDLE * _REST:
            before = now
            time.sleep(_REST)


def _measure(programs: list[Program], rounds: int) -> None:
    """Start the programs, and an empty window."""
    empty = []
    for _ in range(rounds + 1):
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", nargs="*", default=[], metavar="COMMAND")
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=11)
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
        _measure(programs, options.rounds)


if __name__ == "__main__":
    main()
