"""From a plant's 200, or another process's commit, to its row on the screen of the open window.

    python tests/benchmarks/live.py [PLANTS]

Prints the median and the slowest in milliseconds. A row counts as shown when the table has painted with it on top.
"""

from __future__ import annotations

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

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from plantdesk.desktop import Desktop
from plantdesk.server_state import On
from plantdesk.store import Store
from plantdesk.ui.plants.table.view import PlantTable
from plantdesk.ui.qt import override

_ELSEWHERE = """
import sys, time
from pathlib import Path
from plantdesk.records import COMMAND, new_plant
from plantdesk.store import Store
store = Store(Path(sys.argv[1]))
for line in sys.stdin:
    store.add(new_plant({"id": int(line), "name": "From elsewhere"}), COMMAND).result()
    print(time.monotonic_ns(), flush=True)
"""


class Screen(QObject):
    """Records when the table was painted, and the plant in its first row."""

    def __init__(self, table: PlantTable) -> None:
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
        if model.rowCount():
            self.shown.setdefault(int(model.index(0, 0).data()), time.monotonic_ns())


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
    body = json.dumps({"id": plant_id, "name": "Posted"})
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


def main() -> None:
    """Run the window with a script beside it."""
    plants = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLANTDESK_HOME"] = home
        database = Path(home) / "plants.db"
        app = QApplication([])
        desktop = Desktop(app, database, 0)
        desktop.start()
        while not isinstance(desktop.state, On):
            app.processEvents()
        assert desktop.window is not None
        screen = Screen(desktop.window.findChildren(PlantTable)[0])
        script = Script(desktop.state.port, database, plants)
        script.finished.connect(app.quit)
        script.start()
        app.exec()
        desktop.close()
    for way, answered in script.answered.items():
        waits = [(screen.shown[plant_id] - moment) / 1e6 for plant_id, moment in answered.items()]
        print(f"{way:16} median {statistics.median(waits):5.1f} ms, slowest {max(waits):5.1f} ms, of {len(waits)}")


if __name__ == "__main__":
    main()
