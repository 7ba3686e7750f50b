"""The sidebar with a million plants: from a change in the store to its number on the screen.

    python -m tests.benchmarks.sidebar [--plants 1000000] [--rounds 20]

Prints the median and the slowest in milliseconds, and the longest time without an event loop iteration. Goal: 300 ms,
and no pause that a user notices.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

from plantdesk.desktop import Desktop
from plantdesk.domain.edits import DeleteAll, SetTag
from plantdesk.domain.import_batches import ImportBatch, OnConflict
from plantdesk.domain.records import COMMAND
from plantdesk.domain.selections import HasTag, Selection
from plantdesk.domain.validation import plant_fields
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.sidebar.view import ENTRY_ROLE, SidebarView
from tests.benchmarks.table import Pulse

_SECONDS = 60
#: Rows that are imported at once.
_BATCH = 10_000
_FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO plant (id, name, searched_name, tag, seq, added_at, source_id)
    SELECT i, 'Plant ' || i, 'plant ' || i, CASE WHEN i % 5 THEN 'room ' || (i % 200) END, i, i, 1 + i % 2 FROM n"""


class Bench:
    """The window with a store of many plants."""

    def __init__(self, desktop: Desktop, path: Path, plants: int) -> None:
        self._count = plants
        self._desktop = desktop
        self._until(lambda: desktop.workspace is not None)
        window = desktop.window
        assert window is not None
        self._until(lambda: window.findChildren(SidebarView) != [])
        (self._view,) = window.findChildren(SidebarView)
        self._has_changed = True
        self._view.model().dataChanged.connect(self._on_changed)
        self._store = Store(path)
        self._pulse = Pulse()
        self._first = 0

    def run(self, rounds: int) -> None:
        """Make each change some times, and print its times."""
        started = time.perf_counter()
        self._until(lambda: self._plants("room 1") is not None)
        print(f"open: all numbers {1000 * (time.perf_counter() - started):.0f} ms")
        print(f"{'change':28}{'median':>8}{'slowest':>9}{'longest pause':>15}")
        new = plant_fields({"name": "New", "tag": "room 1"})
        self._measure("add a plant", rounds, lambda: self._store.add_as_next(new, COMMAND).result(_SECONDS))
        one = Selection.of(HasTag("room 1", exact=True))
        self._measure("move 1,000 plants", rounds, lambda: self._apply(SetTag(Selection(ids=self._some()), "room 1")))
        self._measure("undo that", rounds, self._undo)
        self._measure("delete all of a tag", 1, lambda: self._apply(DeleteAll(one)))
        self._measure("undo that", 1, self._undo)
        every = Selection()
        self._measure("change the tag of all", 1, lambda: self._apply(SetTag(every, "room 1")))
        self._measure("undo that", 1, self._undo)
        self._measure(
            "undo one plant after it", rounds, self._undo, lambda: self._apply(SetTag(Selection(ids=[7]), "room 1"))
        )
        self._measure("delete all", 1, lambda: self._apply(DeleteAll(every)))
        self._measure("undo that", 1, self._undo)
        self._measure("redo that", 1, lambda: self._store.redo(COMMAND).result(_SECONDS))
        self._measure("undo that", 1, self._undo)
        self._measure("import as many", 1, self._import)
        self._measure("undo that", 1, self._undo)
        self._store.close()

    def _some(self) -> range:
        self._first += 10_000
        return range(self._first, self._first + 1000)

    def _undo(self) -> None:
        self._store.undo(None, COMMAND).result(_SECONDS)

    def _apply(self, edit: SetTag | DeleteAll) -> None:
        self._store.apply([edit], COMMAND).result(_SECONDS)

    def _import(self) -> None:
        with closing(self._store.new_import()) as plants_import:
            for first in range(10**9, 10**9 + self._count, _BATCH):
                ids = range(first, first + _BATCH)
                names, tags = [f"Plant {n}" for n in ids], [f"room {n % 200}" for n in ids]
                plants_import.add(ImportBatch(1, ids, ids, names, tags, [None] * _BATCH))
            plants_import.compare(OnConflict.REFUSE, ("id", "name", "tag", "note"))
            plants_import.apply("plants.csv")

    def _measure(
        self, title: str, rounds: int, change: Callable[[], object], prepare: Callable[[], object] | None = None
    ) -> None:
        times = []
        self._pulse.restart()
        longest = 0.0
        for _ in range(rounds):
            if prepare is not None:
                before = self._plants("room 1")
                prepare()
                self._until_changed(before)
            before = self._plants("room 1")
            change()
            started = time.perf_counter()
            self._pulse.restart()
            self._until_changed(before)
            times.append(1000 * (time.perf_counter() - started))
            longest = max(longest, 1000 * self._pulse.longest)
        print(f"{title:28}{statistics.median(times):8.0f}{max(times):9.0f}{longest:15.0f}")

    def _until_changed(self, before: int | None) -> None:
        self._until(lambda: self._has_changed and self._plants("room 1") != before)

    def _on_changed(self) -> None:
        self._has_changed = True

    def _plants(self, text: str) -> int | None:
        self._has_changed = False
        model = self._view.model()
        rows = (model.index(row, 0) for row in range(model.rowCount()))
        return next((index.data(ENTRY_ROLE).plants for index in rows if index.data() == text), None)

    @staticmethod
    def _until(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + _SECONDS
        while not condition():
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)  # polling would take a processor
            if time.monotonic() > end:
                raise TimeoutError


@contextmanager
def open_window(plants: int) -> Iterator[tuple[Desktop, Path]]:
    """Start the program with a store of so many plants; yield it and the path of the store."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLANTDESK_HOME"] = folder
        path = Path(folder) / "plants.db"
        Store(path).close()
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(_FILL, (plants,))
        desktop = Desktop(QApplication([]), location_of(path), 0)
        desktop.start()
        yield desktop, path
        desktop.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with open_window(options.plants) as (desktop, path):
        Bench(desktop, path, options.plants).run(options.rounds)


if __name__ == "__main__":
    main()
