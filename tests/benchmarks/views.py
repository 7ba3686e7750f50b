"""Searches and sorts of a million plants in the window.

    python -m tests.benchmarks.views [--plants N] [--rounds 7]

Every search is typed and every sort is clicked, on the real widgets and a real store: right after a start, and right
after an import of a tenth as many plants. Prints median and 90th percentile of the milliseconds until the first rows
are shown, until all are counted, and from the commit of an added plant to its row, and the memory. Needs no display.
"""

import argparse
import itertools
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from plantdesk.domain.imports import ImportRow, OnConflict
from plantdesk.domain.records import COMMAND
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.plants.browser import PlantBrowser
from plantdesk.ui.plants.table.cells import Column
from plantdesk.ui.plants.table.model import PLANT_ROLE
from plantdesk.ui.plants.table.row_order import RowsState
from plantdesk.ui.theme.theme import Theme
from tests.benchmarks.figures import Figure, report
from tests.benchmarks.load import memory
from tests.support.adding import plant

_TAGS = ("succulent", "living room", "kitchen", None, "office", "orchid", "archive")
_NAMES = ("Echeveria elegans", "Monstera deliciosa", "Aloe vera", "Ficus lyrata", "Wollemia nobilis")


class Case(NamedTuple):
    """A search, or a sort by a column."""

    name: str
    search: str
    column: Column | None


CASES = [
    Case("rare word", "rarissima", None),
    Case("no hit", "zzzz", None),
    Case("an ID", "123456", None),
    Case("frequent word", "frequens", None),
    Case("one letter", "e", None),
    Case("two letters", "an", None),
    Case("sort by name", "", Column.NAME),
    Case("sort by tag", "", Column.TAG),
    Case("sort by source", "", Column.SOURCE),
]
#: How rows are shown when plants are added.
ADDS = [Case("newest first", "", None), Case("while searching", "aloe", None), Case("by name", "", Column.NAME)]
_ids = itertools.count(-1, -1)
#: Seconds between two added plants: of those that come faster, several are shown at a time.
_REST = 0.5


class Window:
    """The table of the plants, on a store."""

    def __init__(self, browser: PlantBrowser) -> None:
        self._browser = browser
        self._timer = QTimer(interval=1)  # ends the waiting for an event
        self._timer.start()

    def measure(self, case: Case) -> tuple[float, float]:
        """Do what the case says; return the seconds until the first rows are shown, and until all are there."""
        start = time.perf_counter()
        if case.column is None:
            self._browser.search_field.setText(case.search)
        else:
            self._browser.table.sortByColumn(case.column, Qt.SortOrder.AscendingOrder)
        self.wait(self._shows_rows)
        first = time.perf_counter() - start
        self.wait(lambda: self._browser.model.rows.is_complete)
        every = time.perf_counter() - start
        self._browser.search_field.clear()
        self._browser.table.sortByColumn(Column.ADDED, Qt.SortOrder.DescendingOrder)
        self.wait(lambda: self._shows_rows() and self._browser.model.rows.is_complete)
        return first, every

    def measure_add(self, store: SqliteStore, case: Case) -> float:
        """Add a plant that is the first one of a case; return the seconds from its commit until its row is shown."""
        self._browser.search_field.setText(case.search)
        column, order = case.column or Column.ADDED, Qt.SortOrder
        self._browser.table.sortByColumn(column, order.DescendingOrder if case.column is None else order.AscendingOrder)
        rested = time.perf_counter() + _REST
        self.wait(lambda: self._shows_rows() and self._browser.model.rows.is_complete and time.perf_counter() > rested)
        number = next(_ids)
        name = f"! aloe {10**9 + number}"
        store.add(plant(number, name), COMMAND).result()
        start = time.perf_counter()
        model, table = self._browser.model, self._browser.table
        self.wait(lambda: model.index(table.rowAt(0), Column.NAME).data() == name)
        return time.perf_counter() - start

    def wait(self, until: Callable[[], bool]) -> None:
        """Process events until something is true."""
        QApplication.processEvents()
        while not until():
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

    def _shows_rows(self) -> bool:
        model, table = self._browser.model, self._browser.table
        if model.rows.state is RowsState.LOADING or not (model.rowCount() or model.rows.is_complete):
            return False
        index = model.index(table.rowAt(0), 0)
        return model.rowCount() == 0 or (index.isValid() and index.data(PLANT_ROLE) is not None)


def fill(path: Path, plants: int) -> None:
    """Make a store of so many plants, with ids in no order."""
    SqliteStore(path).close()
    rows = (
        (seq * 7919 % 15_485_863, seq, _name(seq), _TAGS[seq % len(_TAGS)], 1_700_000_000_000 + seq, 1 + seq % 2)
        for seq in range(1, plants + 1)
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        sql = """INSERT INTO plant (id, seq, name, tag, added_at, source_id, searched_name, searched_tag)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, lower(?3), lower(?4))"""
        connection.executemany(sql, rows)


def _name(seq: int) -> str:
    special = {seq % 13_157: "Rarissima", (seq + 1) % 26: "Frequens"}.get(0)
    return f"{special or _NAMES[seq % len(_NAMES)]} {seq}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    app = QApplication(sys.argv[:1])
    theme = Theme(app)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLANTDESK_HOME"] = str(Path(folder, "home"))
        path = Path(folder, "plants.plantdesk")
        fill(path, options.plants)
        with _opened(path, theme) as (store, bridge, window):
            figures += measure_all(window, options.rounds, "After a start")
            add(store, range(options.plants + 1, options.plants * 11 // 10))
            figures += measure_all(window, options.rounds, "After an import")
            store.subscribe(bridge.notify_changes)
            figures += measure_adds(window, store, options.rounds)
    report(figures)


@contextmanager
def _opened(path: Path, theme: Theme) -> Iterator[tuple[SqliteStore, Bridge, Window]]:
    start = time.perf_counter()
    store, bridge = SqliteStore(path), Bridge()
    browser = PlantBrowser(theme, bridge)
    bridge.changed.connect(browser.apply)
    browser.resize(1180, 760)
    browser.show()
    window = Window(browser)
    browser.set_store(store)
    window.wait(lambda: browser.model.rows.is_complete)
    print(f"all rows after {time.perf_counter() - start:.2f} s, memory {memory():.0f} MiB")
    yield store, bridge, window
    browser.release_store()
    bridge.close()
    store.close()


def add(store: SqliteStore, numbers: range) -> None:
    """Import plants."""
    rows = (ImportRow(1, seq, 20_000_000 + seq, _name(seq), _TAGS[seq % len(_TAGS)], None) for seq in numbers)
    with closing(store.new_import()) as plants:
        while batch := [*itertools.islice(rows, 10_000)]:
            plants.add(batch)
        plants.compare(OnConflict.REFUSE, ("id", "name", "tag"))
        plants.apply("plants.csv")


def measure_all(window: Window, rounds: int, title: str) -> Iterator[Figure]:
    """Measure all cases and print them; yield the best round of each, in milliseconds."""
    results = {case: [window.measure(case) for _ in range(rounds)] for case in CASES}
    print(f"\n{title}, memory {memory():.0f} MiB")
    print_results(results)
    for case, times in results.items():
        firsts, ends = zip(*times, strict=True)
        yield Figure(f"{title}, {case.name}, first rows, ms", min(firsts) * 1000)
        if case.column is not None:
            yield Figure(f"{title}, {case.name}, all rows, ms", min(ends) * 1000)


def measure_adds(window: Window, store: SqliteStore, rounds: int) -> Iterator[Figure]:
    """Measure how soon a plant that a program adds is shown, and print it; yield the best round of each case."""
    print()
    for case in ADDS:
        times = [window.measure_add(store, case) for _ in range(rounds)]
        print(f"commit to row, {case.name:16}{summary(times):>8} ms")
        yield Figure(f"Commit to row, {case.name}, ms", min(times) * 1000)


def print_results(results: Mapping[Case, Sequence[tuple[float, float]]]) -> None:
    """Print the seconds until the first rows, and all rows, are shown."""
    print(f"\n{'median/p90, ms':18}{'first rows':>14}{'all rows':>14}")
    for case, times in results.items():
        print(f"{case.name:18}" + "".join(f"{summary(part):>14}" for part in zip(*times, strict=True)))


def summary(seconds: Iterable[float]) -> str:
    """Return median and 90th percentile in milliseconds."""
    values = sorted(second * 1000 for second in seconds)
    return f"{statistics.median(values):.0f}/{values[len(values) * 9 // 10]:.0f}"


if __name__ == "__main__":
    main()
