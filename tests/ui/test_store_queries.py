from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from plantdesk.domain.errors import StoreBusyError
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.store.sqlite.queries import Reader
from plantdesk.ui.bridge import Bridge
from plantdesk.ui.store_queries import StoreQueries, next_free_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.background import Task
    from tests.ui.conftest import Adder

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def endless(started: threading.Event) -> Callable[[PlantReader, Task], None]:
    def query(reader: PlantReader, _task: Task) -> None:
        started.set()
        assert isinstance(reader, Reader)
        with translate_errors():
            reader._raw.execute(ENDLESS).fetchone()  # noqa: SLF001  a query that never ends by itself

    return query


def test_a_cancelled_query_is_interrupted_and_the_next_one_runs(
    qtbot: QtBot, bridge: Bridge, queries: StoreQueries
) -> None:
    started = threading.Event()
    received: list[object] = []
    queries.ask(bridge, endless(started), received.append, received.append)
    assert started.wait(10)
    queries.cancel()
    queries.ask(bridge, next_free_id, received.append)
    qtbot.waitUntil(lambda: bool(received))
    assert received == [1]


def test_closing_interrupts_the_query_that_runs(bridge: Bridge, queries: StoreQueries) -> None:
    started = threading.Event()
    received: list[object] = []
    queries.ask(bridge, endless(started), received.append, received.append)
    assert started.wait(10)
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

    queries.ask(bridge, fail, readers.append, failures.append)
    queries.ask(bridge, count, counts.append, failures.append)
    qtbot.waitUntil(lambda: counts == [0])
    assert [type(failure) for failure in failures] == [StoreBusyError]
    assert readers[0] is not readers[1]


def test_closing_behind_another_task_leaves_no_connection_open(qtbot: QtBot, store: Store, add: Adder) -> None:
    add("Fern")
    bridge = Bridge()
    queries = StoreQueries(bridge.short_tasks, store)
    found: list[int] = []
    queries.ask(bridge, next_free_id, found.append)
    qtbot.waitUntil(lambda: found == [2])
    ended = threading.Event()
    bridge.short_tasks.ask(bridge, lambda _task: ended.wait())
    threading.Timer(0.05, ended.set).start()
    queries.close()
    bridge.close()
    store.close()
    assert [each.name for each in store.path.parent.glob("plants.db*")] == ["plants.db"]
