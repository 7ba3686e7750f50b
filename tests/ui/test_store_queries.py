from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from plantdesk.ui.bridge import Bridge
from plantdesk.ui.store_queries import StoreQueries

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.store import Store
    from tests.ui.conftest import Adder


def test_closing_behind_a_long_task_leaves_no_connection_open(qtbot: QtBot, store: Store, add: Adder) -> None:
    add("Fern")
    bridge = Bridge()
    queries = StoreQueries(bridge, store)
    found: list[int] = []
    queries.ask_next_free_id(bridge, found.append)
    qtbot.waitUntil(lambda: found == [2])
    ended = threading.Event()
    bridge.run(ended.wait)
    threading.Timer(0.05, ended.set).start()
    queries.close()
    bridge.close()
    store.close()
    assert [each.name for each in store.path.parent.glob("plants.db*")] == ["plants.db"]
