"""What the event loop does beside the window."""

import gc
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.event_loop import GarbageCollector, Midnight, quit_on_signals
from plantdesk.ui.theme.theme import Theme
from tests.ui.conftest import Adder

_HOUR, _DAY = 3600, 86_400


@pytest.fixture
def pass_midnight() -> Iterator[Callable[[], None]]:
    """A function that changes the time zone from one in which it is eleven at night to one in which it is 0:30."""
    if not hasattr(time, "tzset"):
        pytest.skip("Windows has one time zone for all processes")

    def set_zone(east: int) -> None:
        minutes, seconds = divmod(abs(east), 60)
        patch.setenv("TZ", f"TST{'-' if east > 0 else '+'}{minutes // 60}:{minutes % 60:02}:{seconds:02}")
        time.tzset()

    with pytest.MonkeyPatch.context() as patch:
        late = (23 * _HOUR - int(time.time()) + _DAY // 2) % _DAY - _DAY // 2
        set_zone(late)
        yield partial(set_zone, late + 3 * _HOUR // 2)
    time.tzset()


def let_time_out(midnight: Midnight) -> None:
    timer = midnight.findChild(QTimer)
    assert isinstance(timer, QTimer)
    assert timer.isActive()
    assert 0 < timer.interval() <= 60_000
    timer.timeout.emit()


def test_the_table_shows_another_today(
    qtbot: QtBot, theme: Theme, store: SqliteStore, add: Adder, pass_midnight: Callable[[], None]
) -> None:
    """When midnight is passed, “today” means other plants."""
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.plants.browser import PlantBrowser

    add("Aloe")
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE plant SET added_at = added_at - ?", (1000 * _HOUR,))
    bridge = Bridge()
    browser = PlantBrowser(theme, bridge)
    qtbot.addWidget(browser)
    browser.search_bar.set_search("added:today")
    browser.set_store(store)
    try:
        qtbot.waitUntil(lambda: browser.model.rows.is_complete and browser.model.rowCount() == 1)
        pass_midnight()
        for midnight in browser.findChildren(Midnight):
            let_time_out(midnight)
        qtbot.waitUntil(lambda: browser.model.rows.is_complete and browser.model.rowCount() == 0)
    finally:
        browser.release_store()
        bridge.close()


class InCycle(QObject):
    """Refers to itself, and notes the thread on which it is destroyed."""

    def __init__(self, destroyed_on: list[threading.Thread]) -> None:
        super().__init__()
        self._itself = self
        self._destroyed_on = destroyed_on

    def __del__(self) -> None:
        self._destroyed_on.append(threading.current_thread())


def allocate() -> None:
    """Make more objects than the automatic collector waits for."""
    kept = [[number] for number in range(100_000)]
    del kept


def test_a_cycle_is_collected_on_the_gui_thread_whatever_other_threads_allocate(qtbot: QtBot) -> None:
    destroyed_on: list[threading.Thread] = []
    gc.freeze()  # as a second after the start
    _collector = GarbageCollector()
    InCycle(destroyed_on)
    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert destroyed_on == []
    kept = [[number] for number in range(10_000)]
    qtbot.waitUntil(lambda: bool(destroyed_on))
    del kept
    assert destroyed_on == [threading.main_thread()]


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_that_is_ignored_at_the_start_stays_so(ignored: signal.Signals, qapp: QApplication) -> None:
    before = signal.signal(ignored, signal.SIG_IGN)
    try:
        with quit_on_signals(qapp.quit):
            assert signal.getsignal(ignored) is signal.SIG_IGN
        assert signal.getsignal(ignored) is signal.SIG_IGN
    finally:
        signal.signal(ignored, before)
