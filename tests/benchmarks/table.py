"""The table with a million plants: `python tests/benchmarks/table.py [--plants N]`.

Every action is done as a user does it, on the real widgets and a real store. Prints the time until its effect is shown,
and the longest time without an event loop iteration. Needs no display; with one, set QT_QPA_PLATFORM.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, Qt, QTimer, Slot
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from plantdesk.domain.records import FORM, Changes, PlantRow
from plantdesk.store.sqlite.store import Store
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.theme.theme import Theme

_TAGS = ("succulent", "living room", "kitchen", None, "office", "orchid", "archive")
_NAMES = ("Echeveria elegans", "Monstera deliciosa", "Aloe vera", "Ficus lyrata", "Wollemia nobilis")


class Pulse(QObject):
    """A timer of one millisecond: the longest pause between two timeouts is how long the window was blocked."""

    def __init__(self) -> None:
        super().__init__()
        self._last = time.perf_counter()
        self.longest = 0.0
        self._timer = QTimer(self, interval=1, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start()

    def restart(self) -> None:
        """Discard the pauses so far."""
        self._last = time.perf_counter()
        self.longest = 0.0

    @Slot()
    def _on_beat(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now


class Bench:
    """A browser on a store of many plants."""

    def __init__(self, browser: PlantBrowser, plants: int) -> None:
        self._browser = browser
        self._plants = plants
        self._next_id = plants + 1
        self._pulse = Pulse()

    def run(self, store: Store) -> None:
        """Do each action once, and print its times."""
        table, field, model = self._browser.table, self._browser.search_field, self._browser.model
        bar = table.verticalScrollBar()
        everything = self._plants
        print(f"{'action':34}{'shown after':>14}{'longest pause':>16}")
        self._measure("open: first rows", lambda: self._browser.set_store(store), self._first_row_is_there)
        self._measure("open: all rows", lambda: None, lambda: model.complete)
        self._measure("drag the scroll bar, 60 steps", lambda: self._drag(60), self._first_row_is_there)
        self._measure("jump to the middle", lambda: bar.setValue(bar.maximum() // 2), self._first_row_is_there)
        table.setFocus()
        self._measure("Ctrl+End", lambda: QTest.keyClick(table, Qt.Key.Key_End, _CONTROL), self._first_row_is_there)
        self._measure("Ctrl+A", lambda: QTest.keyClick(table, Qt.Key.Key_A, _CONTROL), self._all_selected)
        self._measure("arrow up", lambda: QTest.keyClick(table, Qt.Key.Key_Up), lambda: table.selected_count() == 1)
        self._measure("Ctrl+Home", lambda: QTest.keyClick(table, Qt.Key.Key_Home, _CONTROL), self._first_row_is_there)
        self._measure("add a plant", lambda: self._add(1), lambda: model.rowCount() == everything + 1)
        self._measure("add a thousand plants", lambda: self._add(1000), lambda: model.rowCount() == everything + 1001)
        for text in ("e", "echeveria 77", "office", "zzz", "123456"):
            self._measure(f"search “{text}”", lambda text=text: field.setText(text), self._settled)  # type: ignore[misc]
        self._measure("search, letter by letter", lambda: self._type("monstera 99"), self._settled)
        self._measure("clear the search: first rows", field.clear, lambda: not model.busy)
        self._measure("clear the search: all rows", lambda: None, lambda: model.complete)
        for column in Column:
            self._measure(
                f"sort by {column.name.lower()}",
                lambda column=column: self._browser.sort_by(column, descending=False),  # type: ignore[misc]
                self._settled,
            )

    def _measure(self, name: str, action: Callable[[], object], shown: Callable[[], bool]) -> None:
        QCoreApplication.processEvents()
        self._pulse.restart()
        start = time.perf_counter()
        action()
        while not shown() and time.perf_counter() - start < 60:
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)  # the timer ends the waiting
        took = time.perf_counter() - start
        QTest.qWait(30)
        print(f"{name:34}{took * 1000:11.0f} ms{self._pulse.longest * 1000:13.0f} ms")

    def _first_row_is_there(self) -> bool:
        table = self._browser.table
        index = table.model().index(table.rowAt(0), 0)
        return index.isValid() and index.data(PLANT_ROLE) is not None

    def _settled(self) -> bool:
        model = self._browser.model
        return model.complete and not model.busy

    def _all_selected(self) -> bool:
        return self._browser.table.selected_count() == self._browser.model.rowCount()

    def _drag(self, steps: int) -> None:
        bar = self._browser.table.verticalScrollBar()
        for step in range(steps):
            bar.setValue(bar.maximum() * step // steps)
            QApplication.processEvents()

    def _type(self, text: str) -> None:
        for end in range(1, len(text) + 1):
            self._browser.search_field.setText(text[:end])
            QTest.qWait(60)

    def _add(self, count: int) -> None:
        now = round(time.time() * 1000)
        rows = [PlantRow(self._next_id + n, "A new plant", "office", now, FORM) for n in range(count)]
        self._next_id += count
        self._browser.apply(Changes(tuple(rows)))


_CONTROL = Qt.KeyboardModifier.ControlModifier


def _fill(path: Path, plants: int) -> None:
    Store(path).close()
    rows = (
        (seq, seq, f"{_NAMES[seq % len(_NAMES)]} {seq}", _TAGS[seq % len(_TAGS)], 1_700_000_000_000 + seq)
        for seq in range(1, plants + 1)
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        sql = """INSERT INTO plant (id, seq, name, tag, added_at, source_id, searched_name, searched_tag)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1, lower(?3), lower(?4))"""
        connection.executemany(sql, rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plants", type=int, default=1_000_000)
    plants = parser.parse_args().plants
    app = QApplication(sys.argv[:1])
    theme = Theme(app)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plants.plantdesk")
        _fill(path, plants)
        store = Store(path)
        bridge = Bridge()
        browser = PlantBrowser(theme, bridge)
        browser.resize(1180, 760)
        browser.show()
        Bench(browser, plants).run(store)
        browser.close_store()
        bridge.close()
        store.close()


if __name__ == "__main__":
    main()
