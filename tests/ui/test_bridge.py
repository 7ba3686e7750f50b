import threading
import time
from concurrent.futures import Future
from itertools import pairwise

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from plantdesk.domain.records import FORM, Changes, PlantRow
from plantdesk.ui import bridge
from plantdesk.ui.bridge import Bridge


def added(*ids: int) -> Changes:
    return Changes(tuple(PlantRow(plant_id, "x", None, 0, FORM) for plant_id in ids))


def test_the_first_of_a_burst_comes_at_once_and_the_rest_together(qtbot: QtBot, lone_bridge: Bridge) -> None:
    heard: list[Changes] = []
    lone_bridge.changed.connect(heard.append)
    lone_bridge.notify_changes(added(1))
    qtbot.waitUntil(lambda: len(heard) == 1)

    def notify() -> None:
        for number in range(2, 50):
            lone_bridge.notify_changes(added(number))

    burst = threading.Thread(target=notify)
    burst.start()
    burst.join()
    qtbot.waitUntil(lambda: len(heard) == 2)
    assert [row.id for changes in heard for row in changes.added] == list(range(1, 50))


@pytest.mark.timing
def test_a_window_that_is_slow_to_show_changes_has_time_between_two_signals(qtbot: QtBot, lone_bridge: Bridge) -> None:
    heard: list[float] = []

    def work(_changes: Changes) -> None:
        heard.append(time.monotonic())
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass
        lone_bridge.notify_changes(added(len(heard)))

    lone_bridge.changed.connect(work)
    lone_bridge.notify_changes(added(0))
    qtbot.waitUntil(lambda: len(heard) == 4)  # a busy machine takes several times as long
    assert all(after - before >= 0.24 for before, after in pairwise(heard)), "of which 0.2 s are free"


def test_results_come_before_the_changes_of_their_commits_under_load(
    qtbot: QtBot, lone_bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge, "_PAUSE_MS", 0)
    futures = [Future[int]() for _ in range(3000)]
    results, early, last = set[int](), list[int](), list[int]()
    for future in futures:
        lone_bridge.follow(lone_bridge, future, results.add)

    def on_changed(changes: Changes) -> None:
        early.extend(row.id for row in changes.added if row.id not in results)
        last[:] = [changes.added[-1].id]

    def write() -> None:
        for number, future in enumerate(futures):
            future.set_result(number)
            lone_bridge.notify_changes(added(number))

    lone_bridge.changed.connect(on_changed)
    writer = threading.Thread(target=write)
    writer.start()
    qtbot.waitUntil(lambda: last == [len(futures) - 1])
    writer.join()
    assert early == []


def test_too_many_to_list_are_to_be_read_again(qtbot: QtBot, lone_bridge: Bridge) -> None:
    for start in range(0, 3000, 1000):
        lone_bridge.notify_changes(added(*range(start, start + 1000)))
    with qtbot.waitSignal(lone_bridge.changed) as received:
        pass
    (changes,) = received.args
    assert changes.needs_reload
    assert len(changes.added) == 1000


def test_the_last_state_of_a_plant_counts_when_changes_are_merged(qtbot: QtBot, lone_bridge: Bridge) -> None:
    old, new = (PlantRow(1, name, None, 0, FORM) for name in ("old", "new"))
    lone_bridge.notify_changes(added(9))
    with qtbot.waitSignal(lone_bridge.changed):
        pass
    for changes in (added(2), Changes(updated=(old,), removed=(3,)), Changes(removed=(2,)), Changes(updated=(new,))):
        lone_bridge.notify_changes(changes)
    with qtbot.waitSignal(lone_bridge.changed) as received:
        pass
    assert received.args == [Changes(updated=(new,), removed=(3, 2))]


def test_nothing_comes_through_a_closed_bridge_or_for_a_deleted_receiver(qtbot: QtBot) -> None:
    bridge = Bridge()
    heard: list[object] = []
    bridge.changed.connect(heard.append)
    future: Future[int] = Future()
    bridge.follow(bridge, future, heard.append)
    bridge.notify_changes(added(1))
    bridge.close()
    bridge.notify_changes(added(2))
    bridge.notify_server_state("on")
    other, gone = Bridge(), QObject()
    other.follow(gone, future, heard.append)
    delete(gone)
    future.set_result(1)
    with qtbot.waitSignal(other.changed):
        other.notify_changes(added(3))
    other.close()
    assert heard == []
