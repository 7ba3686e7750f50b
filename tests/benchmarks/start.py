"""Time from starting Python to the first painted window, and until it is complete, beside an empty PySide6 window.

    python -m tests.benchmarks.start [ROUNDS] [--plants N]

Complete is a window with its rows, its counts and its API. PlantDesk was closed before, so that it shows the layout of
the last session. The variants run in turn. Prints medians and 90th percentiles in
milliseconds, of the time and of the processor's, and their ratios. Needs a display, or QT_QPA_PLATFORM=offscreen.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from plantdesk import __version__
from tests.benchmarks.figures import Figure, report
from tests.benchmarks.load import cpu_seconds
from tests.support.ports import free_port

_TIMEOUT = 60
#: Seconds between two looks whether a window is at rest, and of a core: one whose indexes are built uses less.
_REST, _IDLE = 2.0, 0.05
_PROBE = """
import os, time
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

class Probe(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            watched.event(event)  # what it paints is part of the time
            os.write(1, f"{time.monotonic_ns()} {time.process_time_ns()}".encode())
            os._exit(0)
        return False

def run(self=None):
    probe = Probe()
    for window in QApplication.topLevelWidgets():
        if window.isVisible():  # only the window: a filter for every widget would be slow itself
            window.installEventFilter(probe)
    return real()

real = QApplication.exec
QApplication.exec = run
"""
EMPTY_WINDOW = """
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1180, 760)
window.show()
app.exec()
"""
_PLANTDESK_MODULES = """
from plantdesk.cli.main import main
from plantdesk import desktop
"""
_PLANTDESK = """
main([])
"""
_COMPLETE = """
import os, time
from plantdesk.domain.server_state import On

missing = {"rows", "counts", "API"}

def note(what):
    missing.discard(what)
    if not missing:
        os.write(1, f"{time.monotonic_ns()} {time.process_time_ns()}".encode())
        os._exit(0)

def fill(self, window, **options):
    real(self, window, **options)
    from plantdesk.ui.sidebar.feature import Sidebar
    self.session.bridge.server_changed.connect(lambda state: isinstance(state, On) and note("API"))
    self.workspace.plants_shown.connect(lambda: note("rows"))
    self.workspace.findChild(Sidebar).counted.connect(lambda _counts: note("counts"))

real = desktop.Desktop._fill_window
desktop.Desktop._fill_window = fill
"""
_VARIANTS = {
    "empty": _PROBE + EMPTY_WINDOW,
}
_VARIANTS |= {
    "plantdesk": _PLANTDESK_MODULES + _PROBE + _PLANTDESK,  # before PySide, which slows imports down, as in a start
    "complete": _PLANTDESK_MODULES + _COMPLETE + _PLANTDESK,
}


def start_ms(code: str, home: Path) -> tuple[float, float]:
    """Start a new interpreter; return time and processor time until its output, in milliseconds."""
    started = time.monotonic_ns()
    done = subprocess.run(
        [sys.executable, "-c", code], env=_environment(home), stdout=subprocess.PIPE, check=True, timeout=_TIMEOUT
    )
    painted, cpu = map(int, done.stdout.split())
    return (painted - started) / 1e6, cpu / 1e6


def _environment(home: Path) -> dict[str, str]:
    environment = {**os.environ, "PLANTDESK_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules would be compiled at each start
    return environment


def prepare(home: Path, plants: int) -> None:
    """Close PlantDesk once in a home with so many plants, at rest: then it has kept its layout."""
    (home / "settings").mkdir(mode=0o700)
    (home / "settings" / "settings.json").write_text(json.dumps({"port": free_port(), "seen_version": __version__}))
    if plants:
        from tests.benchmarks.views import fill

        (home / "data").mkdir(mode=0o700)
        fill(home / "data" / "plants.db", plants)
    command, environment = [sys.executable, "-m", "plantdesk"], _environment(home)
    with subprocess.Popen(command, env=environment) as first:
        subprocess.run(
            [*command, "info", "--wait", str(_TIMEOUT)], env=environment, stdout=subprocess.DEVNULL, check=True
        )
        before = 0.0
        while (now := cpu_seconds(first.pid)) - before > _IDLE * _REST:
            before = now
            time.sleep(_REST)
        first.terminate()


def main() -> None:
    """Run all variants in turn and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=15)
    parser.add_argument("--plants", type=int, default=0)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in _VARIANTS}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        prepare(home, options.plants)
        for _ in range(options.rounds + 1):  # the first round only warms the disk cache
            for name, code in _VARIANTS.items():
                found[name].append(start_ms(code, home))
    report(figure for at in (0, 1) for figure in _print(at, found))


def _print(at: int, found: dict[str, list[tuple[float, float]]]) -> list[Figure]:
    kind = ("time", "processor time")[at]
    medians = {name: _median_and_p90([each[at] for each in values[1:]]) for name, values in found.items()}
    print(f"{kind}:")
    for name, (median, p90) in medians.items():
        print(f"{name:10} {median:7.0f} /{p90:5.0f} ms")
    empty = medians["empty"]
    figures = []
    for name in ("plantdesk", "complete"):
        median, p90 = medians[name]
        figures.append(Figure(f"{name} / empty window, {kind}", median / empty[0]))
        print(f"{name} / empty window: {median / empty[0]:.2f} / {p90 / empty[1]:.2f}")
    return figures


def _median_and_p90(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), statistics.quantiles(values, n=10, method="inclusive")[8]


if __name__ == "__main__":
    main()
