"""The whole window program with an icon in the tray; the offscreen platform of the tests has none of its own."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from plantdesk.domain.errors import StoreFullError, StoreUnreachableError
from plantdesk.domain.server_state import Off
from plantdesk.platform import paths, settings
from plantdesk.store.sqlite.store import SqliteStore
from plantdesk.ui.settings.feature import SettingsDialog
from plantdesk.ui.widgets.dialog import Dialog, MessageBox
from tests.support.program_driver import ProgramDriver, Show
from tests.support.waiting import SECONDS
from tests.support.window_driver import WindowDriver, plain
from tests.test_second_start import quick_window, started

pytestmark = pytest.mark.qt_log_ignore("systemTrayWindowChanged")  # of X11, which the platform of the tests is not

QUESTION = "Keep accepting plants in the background?"


@pytest.fixture
def show_with_tray(show: Show, monkeypatch: pytest.MonkeyPatch) -> Show:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    return show


@pytest.fixture
def desk(show_with_tray: Show) -> Iterator[ProgramDriver]:
    with show_with_tray() as desk:
        desk.until_on()
        yield desk
        desk.window.is_quitting = True


def make_token(desk: ProgramDriver) -> None:
    """Let a program add plants, and wait until the window knows of it."""
    copy = desk.button("Copy the address of the API")
    assert not copy.isVisible()
    with closing(SqliteStore(paths.database_file())) as store:
        store.tokens.create("script").result(SECONDS)
    desk.until(copy.isVisible)


def questions(desk: WindowDriver) -> list[MessageBox]:
    return [box for box in desk.window.findChildren(MessageBox) if box.isVisible() and box.text == QUESTION]


def answer(desk: WindowDriver, button: str) -> None:
    desk.until(lambda: len(questions(desk)) == 1)
    WindowDriver(desk.qtbot, questions(desk)[0]).button(button).click()


def icon(desk: WindowDriver) -> QSystemTrayIcon | None:
    found = desk.window.findChild(QSystemTrayIcon)
    return found if found is not None and found.isVisible() else None


def shown_icon(desk: WindowDriver) -> QSystemTrayIcon:
    shown = icon(desk)
    assert shown is not None
    return shown


def commands(desk: WindowDriver) -> dict[str, QAction]:
    """Return the commands of the menu of the icon."""
    menu = shown_icon(desk).contextMenu()
    assert isinstance(menu, QMenu)
    return {plain(action.text()): action for action in menu.actions() if not action.isSeparator()}


def test_closing_asks_once_and_hides_the_window_which_a_second_start_shows(desk: ProgramDriver, home: Path) -> None:
    assert icon(desk) is None
    make_token(desk)
    desk.until(desk.name.hasFocus)
    assert not desk.window.close()
    answer(desk, "Keep running")
    desk.until(lambda: not desk.window.isVisible())
    assert icon(desk) is not None
    with socket.create_connection(("127.0.0.1", desk.until_on().port), timeout=SECONDS):
        pass
    second = started({**os.environ, "PLANTDESK_HOME": str(home)})
    desk.until(desk.window.isVisible)
    desk.until(lambda: second.poll() == 0)
    second.communicate()
    desk.until(desk.name.hasFocus)
    assert not desk.window.close()
    assert not desk.window.isVisible()
    assert not questions(desk)


def test_who_answers_quit_is_never_asked_again(qtbot: QtBot, desk: ProgramDriver) -> None:
    make_token(desk)
    desk.window.close()
    with qtbot.waitSignal(desk.window.closing):
        answer(desk, "Quit")
    assert not desk.window.isVisible()
    saved = settings.load(paths.settings_file())
    assert (saved.keep_in_tray, saved.tray_answered) == (False, True)


def test_escape_leaves_the_window_open_and_the_question_for_the_next_time(desk: ProgramDriver) -> None:
    make_token(desk)
    for _ in range(2):
        desk.window.close()
        desk.until(lambda: len(questions(desk)) == 1)
        QTest.keyClick(questions(desk)[0], Qt.Key.Key_Escape)
        assert desk.window.isVisible()


def test_ctrl_q_ends_the_program_in_any_case(qtbot: QtBot, desk: ProgramDriver) -> None:
    desk.desktop.preferences.change(keep_in_tray=True)
    desk.activate()
    with qtbot.waitSignal(desk.window.closing):
        qtbot.keyClick(desk.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_without_a_token_closing_asks_nothing(desk: ProgramDriver) -> None:
    assert desk.window.close()


def test_another_store_has_no_icon_and_its_window_closes(show_with_tray: Show, tmp_path: Path) -> None:
    with show_with_tray(tmp_path / "balcony.db") as desk:
        desk.desktop.preferences.change(keep_in_tray=True)
        assert icon(desk) is None
        assert desk.window.close()


def test_without_the_api_closing_asks_nothing(desk: ProgramDriver) -> None:
    desk.choose("Tools", "API on")
    desk.until(lambda: desk.status.text.startswith("API off"))
    assert desk.window.close()


def test_the_window_never_hides_where_there_is_no_tray(show: Show) -> None:
    with show() as desk:
        desk.until_on()
        desk.desktop.preferences.change(keep_in_tray=True)
        assert desk.window.close()


def test_a_closed_window_stays_hidden_while_settings_are_saved(desk: ProgramDriver) -> None:
    desk.window.close()
    desk.desktop.preferences.change(label_line="As it closes")
    assert not desk.window.isVisible()


def test_the_menu_of_the_icon_has_what_works_without_the_window(qtbot: QtBot, desk: ProgramDriver) -> None:
    desk.desktop.preferences.change(keep_in_tray=True)
    desk.add("Fern")
    desk.until(lambda: "1 plant today" in commands(desk))
    assert not commands(desk)["1 plant today"].isEnabled()
    desk.window.close()
    commands(desk)["Copy API address"].trigger()
    assert QGuiApplication.clipboard().text().startswith("http://127.0.0.1:")
    commands(desk)["API on"].trigger()
    desk.until(lambda: isinstance(desk.session.api.state, Off))
    commands(desk)["Add a plant…"].trigger()
    desk.until(lambda: quick_window() is not None)
    assert not desk.window.isVisible()
    commands(desk)["Show PlantDesk"].trigger()
    assert desk.window.isVisible()
    desk.window.close()
    commands(desk)["Settings…"].trigger()
    assert desk.window.isVisible()
    assert desk.the(SettingsDialog).isVisible()
    desk.window.close()
    with qtbot.waitSignal(desk.window.closing):
        commands(desk)["Quit"].trigger()


def test_a_click_shows_the_window_and_the_icon_says_what_is_wrong(desk: ProgramDriver) -> None:
    desk.desktop.preferences.change(keep_in_tray=True)
    shown = shown_icon(desk)
    assert shown.toolTip() == "PlantDesk"
    desk.window.close()
    shown.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert desk.window.isVisible()
    desk.session.bridge.health_changed.emit(StoreUnreachableError())
    assert shown.toolTip().startswith("The plant store cannot be reached.")
    desk.session.bridge.health_changed.emit(None)
    assert shown.toolTip() == "PlantDesk"


def test_the_icon_shows_what_to_act_on_until_the_window_is_seen(
    desk: ProgramDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda _icon, *texts: messages.append(texts[:2]))
    health = desk.session.bridge.health_changed
    health.emit(StoreUnreachableError())  # passes by itself
    desk.window.showMinimized()
    health.emit(StoreUnreachableError())
    assert icon(desk) is None
    health.emit(StoreFullError())
    assert icon(desk) is not None
    assert messages == [("Plants cannot be saved", "The disk is full. Free some space on it.")]
    shown_icon(desk).messageClicked.emit()
    desk.until(lambda: not desk.window.isMinimized() and icon(desk) is None)
    health.emit(None)
    desk.window.showMinimized()
    health.emit(StoreFullError())
    assert icon(desk) is not None
    health.emit(None)  # there is nothing to act on any more
    assert icon(desk) is None


def test_a_start_at_login_stays_in_the_tray(show_with_tray: Show) -> None:
    with show_with_tray(background=True, keep_in_tray=True) as desk:
        desk.until_on()
        assert not desk.window.isVisible()
        assert icon(desk) is not None
        commands(desk)["Show PlantDesk"].trigger()
        assert desk.window.isVisible()
        desk.window.is_quitting = True


def test_where_no_tray_comes_the_window_is_minimised(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.ui.window.tray._CHECK_INTERVAL_MS", 10)
    with show(background=True, keep_in_tray=True) as desk:
        desk.until(desk.window.isMinimized)


def test_the_settings_switch_the_tray_and_say_how_to_bind_a_key(desk: ProgramDriver) -> None:
    desk.choose("Edit", "Settings…")
    page = WindowDriver(desk.qtbot, desk.the(SettingsDialog))
    box = page.button("Keep running when the window is closed")
    box.click()
    assert icon(desk) is not None
    box.click()
    assert icon(desk) is None
    page.button("Copy plantdesk quick").click()
    assert QGuiApplication.clipboard().text().endswith("plantdesk quick")
    page.button("How to bind a key").click()
    desk.until(lambda: any("PlantDesk manual" in dialog.windowTitle() for dialog in desk.window.findChildren(Dialog)))
