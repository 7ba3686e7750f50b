import time

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from plantdesk import HOME_PAGE
from plantdesk.platform import paths
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import OpenStore, WindowContext
from plantdesk.ui.widgets.messages import InfoBar
from plantdesk.ui.window.notices import VersionNotice
from tests.platform.test_updates import release, release_server


class Shown:
    """The bar and the setting."""

    def __init__(self, context: WindowContext, store: SqliteStore, queries: StoreQueries) -> None:
        self.preferences = context.preferences
        self.preferences.are_new = False
        self.context = context
        self.page = context.page
        self.opened = OpenStore(store, queries)

    def begin(self, address: str) -> None:
        """Open a store in a window that asks at this address."""
        VersionNotice(self.context, address).set_store(self.opened)

    def switch(self) -> None:
        """Change the setting as the settings page does."""
        self.preferences.change(ask_for_updates=not self.preferences.settings.ask_for_updates)

    def offers(self) -> bool:
        """Whether the new version is shown."""
        bars = self.page.findChildren(InfoBar)
        return any(bar.isVisible() and bar.title == "PlantDesk 99.0.0 is available" for bar in bars)


@pytest.fixture
def shown(context: WindowContext, store: SqliteStore, queries: StoreQueries) -> Shown:
    return Shown(context, store, queries)


def test_nothing_is_asked_before_somebody_wants_it(shown: Shown, qtbot: QtBot) -> None:
    with release_server(release("v99.0.0")) as (address, came):
        shown.begin(address)
        assert not shown.preferences.settings.ask_for_updates
        assert came == []
        shown.switch()
        qtbot.waitUntil(shown.offers)
    assert len(came) == 1
    assert shown.preferences.settings.ask_for_updates


def test_it_is_offered_by_every_package_and_its_button_opens_the_page_alone(
    shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "package_channel", lambda: "deb")  # no repository brings new versions
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    shown.preferences.change(ask_for_updates=True)
    with release_server(release("v99.0.0")) as (address, _):
        shown.begin(address)
        qtbot.waitUntil(shown.offers)
    shown.page.findChildren(InfoBar)[0].findChildren(QPushButton)[0].click()
    assert opened == [f"{HOME_PAGE}/releases/tag/v99.0.0"]


def test_it_is_asked_once_a_day_also_over_starts(shown: Shown, qtbot: QtBot) -> None:
    shown.preferences.change(ask_for_updates=True, updates_asked_at=int(time.time()) - 3600)
    with release_server(release("v99.0.0")) as (address, came):
        shown.begin(address)
        shown.switch()
        shown.switch()
        shown.preferences.change(updates_asked_at=1)
        shown.switch()
        shown.switch()
        qtbot.waitUntil(shown.offers)
    assert len(came) == 1
