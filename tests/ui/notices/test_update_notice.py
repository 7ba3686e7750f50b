from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QPushButton

from plantdesk import HOME_PAGE, resources
from plantdesk.ui.notices.update_notice import UpdateNotice
from plantdesk.ui.preferences import Preferences
from plantdesk.ui.widgets.info_bar import BarKind, InfoBar
from tests.test_updates import release, telling

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.theme.theme import Theme


class Told:
    """The bar, the menu's action, and the notice behind them."""

    def __init__(self, qtbot: QtBot, theme: Theme, bridge: Bridge, file: Path) -> None:
        self.bar = InfoBar(theme)
        qtbot.addWidget(self.bar)
        self.action = QAction()
        self.action.setCheckable(True)
        self.preferences = Preferences(file)
        self.question = InfoBar(theme)
        qtbot.addWidget(self.question)
        self.notice = UpdateNotice(self.action, self.bar, lambda: self.question, bridge, self.preferences)


@pytest.fixture
def told(qtbot: QtBot, theme: Theme, bridge: Bridge, tmp_path: Path) -> Told:
    return Told(qtbot, theme, bridge, tmp_path / "settings.json")


def test_nothing_is_asked_before_somebody_wants_it(told: Told, qtbot: QtBot) -> None:
    with telling(release("v99.0.0")) as (address, came):
        told.notice.begin(address)
        assert not told.action.isChecked()
        assert came == []
        told.action.trigger()
        qtbot.waitUntil(told.bar.isVisible)
    assert len(came) == 1
    assert told.bar.title == "PlantDesk 99.0.0 is out"
    assert told.preferences.settings.ask_for_updates


def test_ticking_the_action_answers_the_question(told: Told, qtbot: QtBot) -> None:
    with telling(release("v0.0.1")) as (address, came):
        told.notice.begin(address)
        assert told.question.isVisible()
        told.action.trigger()
        assert told.question.isHidden()
        qtbot.waitUntil(lambda: len(came) == 1)


def test_an_answered_question_is_not_asked_again(told: Told) -> None:
    told.preferences.change(updates_answered=True)
    told.notice.begin("http://127.0.0.1:9")
    assert told.question.isHidden()


def test_its_button_opens_the_page_and_nothing_else_happens(
    told: Told, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    told.preferences.change(ask_for_updates=True)
    with telling(release("v99.0.0")) as (address, _):
        told.notice.begin(address)
        qtbot.waitUntil(told.bar.isVisible)
    told.bar.findChildren(QPushButton)[0].click()
    assert opened == [f"{HOME_PAGE}/releases/tag/v99.0.0"]


def test_it_is_asked_once_a_day_also_over_starts(told: Told, qtbot: QtBot) -> None:
    told.preferences.change(ask_for_updates=True, updates_asked_at=int(time.time()) - 3600)
    with telling(release("v99.0.0")) as (address, came):
        told.notice.begin(address)
        told.action.trigger()
        told.action.trigger()
        told.preferences.change(updates_asked_at=1)
        told.action.trigger()
        told.action.trigger()
        qtbot.waitUntil(told.bar.isVisible)
    assert len(came) == 1


def test_it_lies_over_nothing(told: Told, qtbot: QtBot) -> None:
    told.bar.show_state(BarKind.ERROR, "Your plants could not be opened", "", lasting=True)
    told.preferences.change(ask_for_updates=True)
    with telling(release("v99.0.0")) as (address, came):
        told.notice.begin(address)
        qtbot.waitUntil(lambda: len(came) == 1)
        qtbot.waitUntil(lambda: told.notice.has_news)
    assert told.bar.title == "Your plants could not be opened"
    told.bar.hide()
    told.action.trigger()
    assert told.bar.title == "PlantDesk 99.0.0 is out"


def test_it_is_offered_by_every_package(
    qtbot: QtBot, theme: Theme, bridge: Bridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No repository brings new versions, security fixes among them."""
    monkeypatch.setattr(resources, "channel", lambda: "deb")
    told = Told(qtbot, theme, bridge, tmp_path / "settings.json")
    told.preferences.change(ask_for_updates=True)
    with telling(release("v99.0.0")) as (address, came):
        told.notice.begin(address)
        qtbot.waitUntil(told.bar.isVisible)
    assert told.action.isVisible()
    assert len(came) == 1
