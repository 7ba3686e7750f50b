"""At midnight “today” means other plants. The time zone is chosen so that midnight is three seconds away."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from plantdesk.ui.midnight import Midnight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from plantdesk.store.sqlite.store import Store
    from plantdesk.ui.theme.theme import Theme
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
