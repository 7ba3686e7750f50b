from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.ui.sidebar.feature import Counter

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge


def test_changes_while_it_counts_or_pauses_are_counted_once(qtbot: QtBot, bridge: Bridge, store: Store) -> None:
    queries, counted = list[int](), list[int]()

    def query(_reader: PlantReader, _task: Task) -> int:
        queries.append(len(queries))
        return queries[-1]

    def done(result: int) -> None:
        counted.append(result)
        if result == 0:  # the pause has begun
            for _ in range(3):
                counter.count_soon()

    counter = Counter(bridge.worker("test-counts"), store, query, done, 60_000)
    for _ in range(3):
        counter.count_soon()
    qtbot.waitUntil(lambda: counted == [0, 1])
    counter.count_soon()
    qtbot.waitUntil(lambda: counted == [0, 1, 2])
    counter.close()
