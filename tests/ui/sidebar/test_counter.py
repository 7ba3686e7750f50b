from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from plantdesk.ui.sidebar import feature
from plantdesk.ui.sidebar.feature import Counter

if TYPE_CHECKING:
    import pytest
    from pytestqt.qtbot import QtBot

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge


def test_a_change_after_the_pause_of_a_slow_query_is_counted_at_once(
    qtbot: QtBot, bridge: Bridge, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds, counted = [0], list[int]()
    monkeypatch.setattr(feature, "monotonic", lambda: seconds[0])

    def query(_reader: PlantReader, _task: Task) -> int:
        seconds[0] += 60
        return seconds[0]

    parent = QObject()
    counting = Counter(bridge, store, "test-counts", query, counted.append, parent)
    counting.count_soon()
    qtbot.waitUntil(lambda: counted == [60])
    seconds[0] += 3600
    counting.count_soon()
    qtbot.waitUntil(lambda: counted == [60, 3720])
    counting.close()
