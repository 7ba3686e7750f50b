"""Time from starting Python to the first painted window: PlantDesk beside an empty PySide6 window, run in turn.

    python tests/benchmarks/start.py [ROUNDS]

Prints medians in milliseconds and their ratio. Needs a display, or QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

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
from plantdesk.cli import main
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
        started = time.monotonic_ns()
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PLANTDESK_HOME": home},
            stdout=subprocess.PIPE,
            check=True,
        )
    return (int(done.stdout) - started) / 1e6


def main() -> None:
    """Run all variants in turn and print their times."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    times: dict[str, list[float]] = {name: [] for name in _VARIANTS}
    for _ in range(rounds + 1):  # the first round only warms the disk cache
        for name, code in _VARIANTS.items():
            times[name].append(first_paint_ms(code))
    medians = {name: statistics.median(values[1:]) for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:10} {median:7.0f} ms")
    python = medians["python"]
    print(f"PlantDesk / empty window: {medians['plantdesk'] / medians['empty']:.2f}")
    print(f"Without the start of Python itself: {(medians['plantdesk'] - python) / medians['empty']:.2f}")


if __name__ == "__main__":
    main()
