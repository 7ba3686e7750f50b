"""The time zone is chosen so that midnight, when “today” means other plants, is three seconds away."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from plantdesk.ui import event_loop
from plantdesk.ui.event_loop import CursorBlinking, GarbageCollector, Midnight, quit_on_signals
from tests.support.desk import Desk

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot
    from pytestqt.wait_signal import SignalBlocker

    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.workspace import Workspace
    from tests.ui.conftest import Adder


pytestmark = pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has one time zone for all processes")
_LEFT, _DAY, _TIMEOUT = 3, 86_400, 20_000


@pytest.fixture(autouse=True)
def _midnight_is_near() -> Iterator[None]:
    east = (_DAY - _LEFT - int(time.time())) % _DAY
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", f"TST-{east // 3600}:{east // 60 % 60:02}:{east % 60:02}")
        time.tzset()
        yield
    time.tzset()


def test_a_new_day_is_noticed(qtbot: QtBot) -> None:
    midnight = Midnight()
    with qtbot.waitSignal(midnight.passed, timeout=_TIMEOUT):
        pass
    assert datetime.now().astimezone().hour == 0  # localtime() takes a clock that is some milliseconds late


def test_the_table_shows_another_today(qtbot: QtBot, theme: Theme, store: Store, add: Adder) -> None:
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.plants.browser import PlantBrowser

    bridge = Bridge()
    browser = PlantBrowser(theme, bridge)
    qtbot.addWidget(browser)
    add("Aloe")
    browser.search_bar.set_search("added:today")
    browser.set_store(store)
    try:
        qtbot.waitUntil(lambda: browser.model.complete)
        assert browser.model.rowCount() == 1 or time.localtime().tm_hour == 0
        qtbot.waitUntil(lambda: browser.model.complete and browser.model.rowCount() == 0, timeout=_TIMEOUT)
    finally:
        browser.close_store()
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
    collector = GarbageCollector()
    collector.start()
    InCycle(destroyed_on)
    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert destroyed_on == []
    kept = [[number] for number in range(10_000)]
    qtbot.waitUntil(lambda: bool(destroyed_on))
    del kept
    assert destroyed_on == [threading.main_thread()]


@pytest.mark.usefixtures("qapp")
def test_the_window_of_the_store_before_is_collected_at_once() -> None:
    destroyed_on: list[threading.Thread] = []
    GarbageCollector().start()
    InCycle(destroyed_on)
    GarbageCollector().start()
    assert destroyed_on == [threading.main_thread()]


@pytest.mark.usefixtures("qapp")
def test_it_collects_when_a_threshold_is_exceeded() -> None:
    destroyed_on: list[threading.Thread] = []
    collector = GarbageCollector()
    gc.collect()
    InCycle(destroyed_on)
    collector.collect_if_due()
    assert destroyed_on == []
    kept = [[number] for number in range(10_000)]
    collector.collect_if_due()
    assert destroyed_on == [threading.main_thread()]
    del kept


@pytest.fixture(autouse=True)
def blinking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(event_loop, "_BLINKING_MS", 50)
    yield
    QGuiApplication.styleHints().setCursorFlashTime(-1)


def blinks() -> bool:
    return QGuiApplication.styleHints().cursorFlashTime() > 0


def begins_to_blink(qtbot: QtBot) -> SignalBlocker:
    """Return a context in which the cursor begins to blink, however short."""
    changed = QGuiApplication.styleHints().cursorFlashTimeChanged
    return qtbot.waitSignal(changed, check_params_cb=lambda milliseconds: milliseconds != 0)


@pytest.fixture
def widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    layout = QVBoxLayout(widget)
    for kind in (QLineEdit, QPlainTextEdit):
        layout.addWidget(kind())
    qtbot.addWidget(widget)
    widget.show()
    widget.activateWindow()
    line = widget.findChildren(QLineEdit)[0]
    line.setFocus()
    qtbot.waitUntil(line.hasFocus)
    CursorBlinking(widget)
    return widget


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit])
def test_it_stops_after_the_last_key_and_begins_with_the_next(
    qtbot: QtBot, widget: QWidget, kind: type[QWidget]
) -> None:
    field = widget.findChildren(kind)[0]
    field.setFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_Left):
        qtbot.waitUntil(lambda: not blinks())
        with begins_to_blink(qtbot):
            QTest.keyClick(field, key)
    qtbot.waitUntil(lambda: not blinks())


def test_a_click_into_another_field_lets_it_blink(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.waitUntil(lambda: not blinks())
    with begins_to_blink(qtbot):
        QTest.mouseClick(widget.findChildren(QPlainTextEdit)[0].viewport(), Qt.MouseButton.LeftButton)


def test_a_cursor_that_does_not_blink_by_the_users_choice_never_does(qtbot: QtBot, widget: QWidget) -> None:
    QGuiApplication.styleHints().setCursorFlashTime(0)
    stops: list[int] = []
    widget.findChildren(CursorBlinking)[0].findChildren(QTimer)[0].timeout.connect(lambda: stops.append(1))
    qtbot.waitUntil(lambda: bool(stops))
    QTest.keyClick(widget.findChildren(QLineEdit)[0], Qt.Key.Key_A)
    assert not blinks()


def test_the_window_lets_its_cursor_rest(qtbot: QtBot, bare: Workspace) -> None:
    bare.complete()
    bare.appear()
    name = Desk(qtbot, bare).name
    qtbot.waitUntil(lambda: not blinks())
    with begins_to_blink(qtbot):
        QTest.keyClick(name, Qt.Key.Key_A)
    assert name.text() == "a"


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_that_is_ignored_at_the_start_stays_so(ignored: signal.Signals, qapp: QApplication) -> None:
    before = signal.signal(ignored, signal.SIG_IGN)
    try:
        with quit_on_signals(qapp.quit):
            assert signal.getsignal(ignored) is signal.SIG_IGN
        assert signal.getsignal(ignored) is signal.SIG_IGN
    finally:
        signal.signal(ignored, before)
