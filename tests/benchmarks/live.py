"""From a plant's 200, or another process's commit, to its row on the screen of the open window.

    python -m tests.benchmarks.live [--plants 60] [--stored 1000000] [--sorted name] [--search aloe]

Prints the median, the 90th percentile and the slowest in milliseconds. A row counts as shown when the table has
painted with it on top: new plants are named so that each view shows them there. 0.1.0 with a million plants, through
the API (median and p90): newest first 20 and 25 ms, while searching 445 and 563 ms, sorted by name 6500 ms. Goal: 50 ms
at p90.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication
from typing_extensions import override

from plantdesk.desktop import Desktop
from plantdesk.domain.records import COMMAND
from plantdesk.domain.server_state import On
from plantdesk.domain.validation import new_plant
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.plants.search_field import SearchField
from plantdesk.ui.plants.table.cells import PENDING, Column
from plantdesk.ui.plants.table.view import PlantTableView
from tests.support.adding import add_each

#: Until the rows of the view are there.
_SETTLE_MS = 20_000
_ELSEWHERE = """
import sys, time
from pathlib import Path
from plantdesk.domain.records import COMMAND
from plantdesk.domain.validation import new_plant
from plantdesk.store.sqlite.store import Store
store = Store(Path(sys.argv[1]))
for line in sys.stdin:
    store.add(new_plant({"id": int(line), "name": f"! aloe {10**9 - int(line)}"}), COMMAND).result()
    print(time.monotonic_ns(), flush=True)
"""


class Screen(QObject):
    """Records when the table was painted, and the plant in its first row."""

    def __init__(self, table: PlantTableView) -> None:
        super().__init__()
        self._table = table
        self.shown: dict[int, int] = {}
        table.viewport().installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            QTimer.singleShot(0, self._note)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        model = self._table.model()
        if model.rowCount() and (shown := model.index(0, 0).data()) != PENDING:
            self.shown.setdefault(int(shown), time.monotonic_ns())


class Script(QObject):
    """Adds plants at random times, in turn over HTTP and in another process, and records when each was answered."""

    finished = Signal()

    def __init__(self, port: int, database: Path, plants: int) -> None:
        super().__init__()
        self._thread = threading.Thread(target=self._run)
        self._port = port
        self._database = database
        self._plants = plants
        self.answered: dict[str, dict[int, int]] = {"POST /plants": {}, "another process": {}}

    def start(self) -> None:
        """Start; `finished` is emitted at the end."""
        self._thread.start()

    def _run(self) -> None:
        with closing(Store(self._database)) as store:
            token = store.tokens.create("benchmark").result().token
        command = [sys.executable, "-c", _ELSEWHERE, str(self._database)]
        other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        for plant_id in range(1, self._plants + 1):
            time.sleep(random.uniform(0.15, 0.35))
            if plant_id % 2:
                self.answered["POST /plants"][plant_id] = _post(connection, token, plant_id)
            else:
                self.answered["another process"][plant_id] = _elsewhere(other, plant_id)
        time.sleep(1)
        other.communicate()
        self.finished.emit()


def _post(connection: http.client.HTTPConnection, token: str, plant_id: int) -> int:
    body = json.dumps({"id": plant_id, "name": f"! aloe {10**9 - plant_id}"})
    connection.request(
        "POST", "/plants", body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    )
    answer = connection.getresponse()
    answered = time.monotonic_ns()
    answer.read()
    if answer.status != http.HTTPStatus.OK:
        raise RuntimeError(answer.status)
    return answered


def _elsewhere(other: subprocess.Popen[str], plant_id: int) -> int:
    assert other.stdin is not None
    assert other.stdout is not None
    other.stdin.write(f"{plant_id}\n")
    other.stdin.flush()
    return int(other.stdout.readline())


def _fill(database: Path, plants: int) -> None:
    """Make a store of plants with negative ids; their names sort after those of the new ones."""
    words = ("Aloe", "Monstera", "Ficus", "Érable", "Tomato", "Basil", "Sedum", "Salvia")
    generator = random.Random(1)
    with closing(Store(database)) as store:
        for start in range(1, plants + 1, 2000):
            entries = []
            for number in range(start, min(start + 2000, plants + 1)):
                name = f"{generator.choice(words)} {generator.choice(words)} {generator.randrange(plants)}"
                tag = {"tag": generator.choice(words)} if number % 3 else {}
                entries.append((new_plant({"id": -number, "name": name} | tag), COMMAND))
            add_each(store, entries)


def _desktop(app: QApplication, database: Path) -> tuple[Desktop, int]:
    """Open the window, wait for the API, and return its port as well."""
    desktop = Desktop(app, location_of(database), 0)
    desktop.start()
    while not isinstance(desktop.state, On):
        app.processEvents()
    return desktop, desktop.state.port


def main() -> None:
    """Run the window with a script beside it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, default=60)
    parser.add_argument("--stored", type=int, default=0)
    parser.add_argument("--sorted", choices=("name", "tag", "added"), default="added")
    parser.add_argument("--search", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLANTDESK_HOME"] = home
        database = Path(home) / "plants.db"
        _fill(database, options.stored)
        app = QApplication([])
        desktop, port = _desktop(app, database)
        assert desktop.window is not None
        table = desktop.window.findChildren(PlantTableView)[0]
        if options.sorted != "added":
            table.sortByColumn(Column[options.sorted.upper()], Qt.SortOrder.AscendingOrder)
        if options.search:
            desktop.window.findChildren(SearchField)[0].setText(options.search)
        screen = Screen(table)
        script = Script(port, database, options.plants)
        script.finished.connect(app.quit)
        QTimer.singleShot(_SETTLE_MS if options.stored else 0, script.start)
        app.exec()
        desktop.close()
    for way, answered in script.answered.items():
        waits = sorted((screen.shown[plant_id] - moment) / 1e6 for plant_id, moment in answered.items())
        p90 = waits[len(waits) * 9 // 10]
        print(f"{way:16} median {statistics.median(waits):5.1f} ms, p90 {p90:5.1f}, slowest {waits[-1]:5.1f}")


if __name__ == "__main__":
    main()
