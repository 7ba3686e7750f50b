from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject

from plantdesk.ui.garbage_collector import GarbageCollector

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


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
    InCycle(destroyed_on)
    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert destroyed_on == []
    collector.start()
    qtbot.waitUntil(lambda: bool(destroyed_on))
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
