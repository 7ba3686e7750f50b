"""Time from starting Python to the first painted window: PlantDesk beside an empty PySide6 window, run in turn.

    python -m tests.benchmarks.start [ROUNDS] [--require 0.5]

Prints medians and 90th percentiles in milliseconds, of the time and of the processor's, and their ratios. Needs a
display, or QT_QPA_PLATFORM=offscreen. `--require 0.5` fails where the processor time is more than twice the goal: the
other varies more on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from tests.benchmarks.figures import Figure, add_option, require

_GOAL = 1.15
_PROBE = """
import os, time
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

class Probe(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
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
_PLANTDESK = """
from plantdesk.cli.main import main
main([])
"""
_VARIANTS = {
    "python": "import time; print(time.monotonic_ns(), time.process_time_ns())",
    "empty": _PROBE + EMPTY_WINDOW,
}
_VARIANTS["plantdesk"] = _PROBE + _PLANTDESK


def first_paint_ms(code: str) -> tuple[float, float]:
    """Start a new interpreter; return time and processor time until its first paint, in milliseconds."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PLANTDESK_HOME": home}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules would be compiled at each start
        started = time.monotonic_ns()
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
    painted, cpu = map(int, done.stdout.split())
    return (painted - started) / 1e6, cpu / 1e6


def main() -> None:
    """Run all variants in turn and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=15)
    add_option(parser)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in _VARIANTS}
    for _ in range(options.rounds + 1):  # the first round only warms the disk cache
        for name, code in _VARIANTS.items():
            found[name].append(first_paint_ms(code))
    _, processor = [_report(at, found) for at in (0, 1)]
    require([processor], options.require)


def _report(at: int, found: dict[str, list[tuple[float, float]]]) -> Figure:
    kind = ("time", "processor time")[at]
    python, empty, plantdesk = (_median_and_p90([each[at] for each in values[1:]]) for values in found.values())
    print(f"{kind}:")
    for name, (median, p90) in zip(found, (python, empty, plantdesk), strict=True):
        print(f"{name:10} {median:7.0f} /{p90:5.0f} ms")
    ratio = plantdesk[0] / empty[0]
    print(f"PlantDesk / empty window: {ratio:.2f} / {plantdesk[1] / empty[1]:.2f}, goal {_GOAL}")
    print(f"Without the start of Python itself: {(plantdesk[0] - python[0]) / (empty[0] - python[0]):.2f}")
    return Figure(f"first paint, {kind}", ratio, _GOAL)


def _median_and_p90(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), statistics.quantiles(values, n=10, method="inclusive")[8]


if __name__ == "__main__":
    main()
