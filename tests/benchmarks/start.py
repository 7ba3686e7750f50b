"""Time from starting Python to the first painted window: PlantDesk beside an empty PySide6 window, run in turn.

    python tests/benchmarks/start.py [ROUNDS]

Prints medians and 90th percentiles in milliseconds, and their ratios. Needs a display, or QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

_PROBE = """
import os, time
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

class Probe(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            os.write(1, str(time.monotonic_ns()).encode())
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
    "python": "import os, time; os.write(1, str(time.monotonic_ns()).encode())",
    "empty": _PROBE + EMPTY_WINDOW,
}
_VARIANTS["plantdesk"] = _PROBE + _PLANTDESK


def first_paint_ms(code: str) -> float:
    """Start a new interpreter and return the time until its first paint, in milliseconds."""
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
    return (int(done.stdout) - started) / 1e6


def main() -> None:
    """Run all variants in turn and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=15)
    rounds = parser.parse_args().rounds
    times: dict[str, list[float]] = {name: [] for name in _VARIANTS}
    for _ in range(rounds + 1):  # the first round only warms the disk cache
        for name, code in _VARIANTS.items():
            times[name].append(first_paint_ms(code))
    python, empty, plantdesk = (_median_and_p90(values[1:]) for values in times.values())
    for name, (median, p90) in zip(times, (python, empty, plantdesk), strict=True):
        print(f"{name:10} {median:7.0f} /{p90:5.0f} ms")
    print(f"PlantDesk / empty window: {plantdesk[0] / empty[0]:.2f} / {plantdesk[1] / empty[1]:.2f}")
    print(f"Without the start of Python itself: {(plantdesk[0] - python[0]) / (empty[0] - python[0]):.2f}")


def _median_and_p90(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), statistics.quantiles(values, n=10, method="inclusive")[8]


if __name__ == "__main__":
    main()
