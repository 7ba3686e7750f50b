import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from plantdesk.domain.errors import StoreBusyError
from plantdesk.domain.protocols import PlantReader
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.store.sqlite.reader import SqliteReader
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import RepeatedQuery, StoreQueries, Task, Tasks
from plantdesk.ui.bridge import Bridge
from tests.support.waiting import SECONDS
from tests.ui.conftest import Adder


@pytest.fixture(params=["short_tasks", "long_tasks"])
def tasks(request: pytest.FixtureRequest, lone_bridge: Bridge) -> Tasks:
    """Either way to run a task: both behave alike."""
    chosen: Tasks = getattr(lone_bridge, request.param)
    return chosen


def busy(_task: Task) -> None:
    raise StoreBusyError


def broken(_task: Task) -> None:
    raise ZeroDivisionError


def test_result_and_exception_come_on_the_gui_thread(
    qtbot: QtBot, tasks: Tasks, lone_bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[tuple[object, threading.Thread]] = []

    def receive(answer: object) -> None:
        received.append((answer, threading.current_thread()))

    tasks.run(lone_bridge, lambda _task: 7, receive)
    qtbot.waitUntil(lambda: received == [(7, threading.main_thread())])
    tasks.run(lone_bridge, busy, None, receive)
    qtbot.waitUntil(lambda: len(received) == 2)
    assert isinstance(received[1][0], StoreBusyError)
    assert received[1][1] is threading.main_thread()
    assert caplog.records == []


def test_a_defect_is_logged_also_when_it_is_reported_and_what_nobody_handles(
    qtbot: QtBot, tasks: Tasks, lone_bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[Exception] = []
    tasks.run(lone_bridge, broken, None, received.append)
    qtbot.waitUntil(lambda: bool(received))
    assert "ZeroDivisionError" in caplog.text
    tasks.run(lone_bridge, busy).wait()
    assert "StoreBusyError" in caplog.text


def test_progress_comes_before_the_result(qtbot: QtBot, tasks: Tasks, lone_bridge: Bridge) -> None:
    received: list[object] = []

    def count(task: Task) -> str:
        for number in range(3):
            task.report(number)
        return "done"

    tasks.run(lone_bridge, count, received.append, progress=received.append)
    qtbot.waitUntil(lambda: "done" in received)
    assert received == [0, 1, 2, "done"]


def test_nothing_comes_from_a_cancelled_task_or_for_a_deleted_receiver(
    qtbot: QtBot, tasks: Tasks, lone_bridge: Bridge
) -> None:
    received: list[object] = []
    task = tasks.run(lone_bridge, lambda _task: 1, received.append, received.append, progress=received.append)
    task.wait()
    task.cancel()  # its result waits in the event loop already
    receiver = QObject()
    tasks.run(receiver, lambda _task: 1, received.append).wait()
    delete(receiver)
    tasks.run(lone_bridge, lambda _task: 2, received.append)
    qtbot.waitUntil(lambda: bool(received))
    assert received == [2]


def test_a_cancelled_task_that_waits_is_never_called(lone_bridge: Bridge) -> None:
    released = threading.Event()
    called: list[int] = []
    lone_bridge.short_tasks.run(lone_bridge, lambda _task: released.wait())
    task = lone_bridge.short_tasks.run(lone_bridge, lambda _task: called.append(1))
    task.cancel()
    task.wait()
    released.set()
    lone_bridge.short_tasks.run_and_wait(lambda: None)
    assert called == []


def test_a_long_task_delays_neither_short_ones_nor_the_end(qtbot: QtBot) -> None:
    bridge = Bridge()
    released = threading.Event()
    received: list[object] = []
    task = bridge.long_tasks.run(bridge, lambda _task: released.wait(), received.append)
    bridge.short_tasks.run(bridge, lambda _task: "short", received.append)
    qtbot.waitUntil(lambda: received == ["short"])
    bridge.close()
    assert not released.is_set()
    released.set()
    task.wait()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def ask_endless(bridge: Bridge, queries: StoreQueries) -> list[object]:
    """Ask for what takes for ever, and wait until it runs; return the list for its answer."""
    started, received = threading.Event(), list[object]()

    def query(reader: PlantReader, _task: Task) -> None:
        started.set()
        assert isinstance(reader, SqliteReader)
        with translate_errors():
            reader._connection.execute(ENDLESS).fetchone()  # noqa: SLF001  a query that never ends by itself

    queries.run(bridge, query, received.append, received.append)
    assert started.wait(SECONDS)
    return received


def test_a_cancelled_query_is_interrupted_and_the_next_one_runs(
    qtbot: QtBot, bridge: Bridge, queries: StoreQueries
) -> None:
    received = ask_endless(bridge, queries)
    queries.cancel()
    queries.run(bridge, lambda reader, _task: reader.next_free_id(), received.append)
    qtbot.waitUntil(lambda: bool(received))
    assert received == [1]


def test_closing_interrupts_the_query_that_runs(bridge: Bridge, queries: StoreQueries) -> None:
    received = ask_endless(bridge, queries)
    queries.close()
    queries.close()
    assert received == []


def test_after_a_failure_the_file_is_opened_again(qtbot: QtBot, bridge: Bridge, queries: StoreQueries) -> None:
    readers: list[PlantReader] = []
    failures: list[Exception] = []
    counts: list[int] = []

    def fail(reader: PlantReader, _task: Task) -> PlantReader:
        readers.append(reader)
        raise StoreBusyError

    def count(reader: PlantReader, _task: Task) -> int:
        readers.append(reader)
        return reader.count()

    queries.run(bridge, fail, readers.append, failures.append)
    queries.run(bridge, count, counts.append, failures.append)
    qtbot.waitUntil(lambda: counts == [0])
    assert [type(failure) for failure in failures] == [StoreBusyError]
    assert readers[0] is not readers[1]


def test_closing_behind_another_task_leaves_no_connection_open(qtbot: QtBot, store: SqliteStore, add: Adder) -> None:
    add("Fern")
    bridge = Bridge()
    queries = StoreQueries(bridge.short_tasks, store)
    found: list[int] = []
    queries.run(bridge, lambda reader, _task: reader.next_free_id(), found.append)
    qtbot.waitUntil(lambda: found == [2])
    ended = threading.Event()
    bridge.short_tasks.run(bridge, lambda _task: ended.wait())
    threading.Timer(0.05, ended.set).start()
    queries.close()
    bridge.close()
    store.close()
    assert [file.name for file in store.path.parent.glob("plants.db*")] == ["plants.db"]


def test_changes_while_it_counts_or_pauses_are_counted_once(qtbot: QtBot, bridge: Bridge, store: SqliteStore) -> None:
    queries, counted = list[int](), list[int]()

    def query(_reader: PlantReader, _task: Task) -> int:
        queries.append(len(queries))
        return queries[-1]

    def done(result: int) -> None:
        counted.append(result)
        if result == 0:  # the pause has begun
            for _ in range(3):
                repeated.run_soon()

    repeated = RepeatedQuery(bridge.new_worker("test-counts"), store, query, done)
    for _ in range(3):
        repeated.run_soon()
    qtbot.waitUntil(lambda: counted == [0, 1])
    repeated.run_soon()
    qtbot.waitUntil(lambda: counted == [0, 1, 2])
    repeated.close()
