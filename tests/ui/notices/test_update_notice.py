from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton

from plantdesk import HOME_PAGE
from plantdesk.platform import paths
from plantdesk.ui.notices.update_notice import UpdateNotice
from plantdesk.ui.widgets.info_bar import BarKind, InfoBar
from tests.platform.test_updates import release, release_server

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.ui.feature import WindowContext


class Shown:
    """The bars, the menu's action, and the notice behind them."""

    def __init__(self, context: WindowContext) -> None:
        self.bar = context.page.bar
        self.preferences = context.preferences
        self.page = context.page
        self.notice = UpdateNotice(context)
        self.action = context.menus.actions[-1]

    def asks(self) -> bool:
        """Whether the question is shown, which has a bar of its own."""
        bars = self.page.findChildren(InfoBar)
        return any(bar is not self.bar and not bar.isHidden() for bar in bars)


@pytest.fixture
def shown(context: WindowContext) -> Shown:
    return Shown(context)


def test_nothing_is_asked_before_somebody_wants_it(shown: Shown, qtbot: QtBot) -> None:
    with release_server(release("v99.0.0")) as (address, came):
        shown.notice.begin(address)
        assert not shown.action.isChecked()
        assert came == []
        shown.action.trigger()
        qtbot.waitUntil(shown.bar.isVisible)
    assert len(came) == 1
    assert shown.bar.title == "PlantDesk 99.0.0 is available"
    assert shown.preferences.settings.ask_for_updates


def test_ticking_the_action_answers_the_question(shown: Shown, qtbot: QtBot) -> None:
    with release_server(release("v0.0.1")) as (address, came):
        shown.notice.begin(address)
        assert shown.asks()
        shown.action.trigger()
        assert not shown.asks()
        qtbot.waitUntil(lambda: len(came) == 1)


def test_an_answered_question_is_not_asked_again(shown: Shown) -> None:
    shown.preferences.change(updates_answered=True)
    shown.notice.begin("http://127.0.0.1:9")
    assert not shown.asks()


def test_its_button_opens_the_page_and_nothing_else_happens(
    shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    shown.preferences.change(ask_for_updates=True)
    with release_server(release("v99.0.0")) as (address, _):
        shown.notice.begin(address)
        qtbot.waitUntil(shown.bar.isVisible)
    shown.bar.findChildren(QPushButton)[0].click()
    assert opened == [f"{HOME_PAGE}/releases/tag/v99.0.0"]


def test_it_is_asked_once_a_day_also_over_starts(shown: Shown, qtbot: QtBot) -> None:
    shown.preferences.change(ask_for_updates=True, updates_asked_at=int(time.time()) - 3600)
    with release_server(release("v99.0.0")) as (address, came):
        shown.notice.begin(address)
        shown.action.trigger()
        shown.action.trigger()
        shown.preferences.change(updates_asked_at=1)
        shown.action.trigger()
        shown.action.trigger()
        qtbot.waitUntil(shown.bar.isVisible)
    assert len(came) == 1


def test_it_replaces_no_other_message(shown: Shown, context: WindowContext, qtbot: QtBot) -> None:
    shown.bar.show_state(BarKind.ERROR, "Your plants could not be opened", "", lasting=True)
    shown.preferences.change(ask_for_updates=True)
    with release_server(release("v99.0.0")) as (address, came):
        shown.notice.begin(address)
        qtbot.waitUntil(lambda: len(came) == 1)
        answered: list[int] = []
        tasks = context.bridge.long_tasks
        tasks.ask(context.page, lambda _task: wait_for_other_tasks(), answered.append)
        qtbot.waitUntil(lambda: bool(answered))
    assert shown.bar.title == "Your plants could not be opened"
    shown.bar.hide()
    shown.action.trigger()
    assert shown.bar.title == "PlantDesk 99.0.0 is available"


def wait_for_other_tasks() -> int:
    """Wait until all other background tasks have delivered their results."""
    others = [each for each in threading.enumerate() if each.name == "window-task"]
    for thread in others:
        if thread is not threading.current_thread():
            thread.join()
    return len(others)


def test_it_is_offered_by_every_package(qtbot: QtBot, context: WindowContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """No repository brings new versions, security fixes among them."""
    monkeypatch.setattr(paths, "package_channel", lambda: "deb")
    shown = Shown(context)
    shown.preferences.change(ask_for_updates=True)
    with release_server(release("v99.0.0")) as (address, came):
        shown.notice.begin(address)
        qtbot.waitUntil(shown.bar.isVisible)
    assert shown.action.isVisible()
    assert len(came) == 1
