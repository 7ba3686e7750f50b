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
from tests.test_second_start import quick_window, start_program

pytestmark = pytest.mark.qt_log_ignore("systemTrayWindowChanged")  # of X11, which the platform of the tests is not

QUESTION = "Keep accepting plants in the background?"


@pytest.fixture
def show_with_tray(show: Show, monkeypatch: pytest.MonkeyPatch) -> Show:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    return show


@pytest.fixture
def user(show_with_tray: Show) -> Iterator[ProgramDriver]:
    with show_with_tray() as user:
        user.until_on()
        yield user
        user.window.is_quitting = True


def make_token(user: ProgramDriver) -> None:
    """Let a program add plants, and wait until the window knows of it."""
    copy = user.button("Copy the address of the API")
    assert not copy.isVisible()
    with closing(SqliteStore(paths.database_file())) as store:
        store.tokens.create("script").result(SECONDS)
    user.until(copy.isVisible)


def questions(user: WindowDriver) -> list[MessageBox]:
    return [box for box in user.window.findChildren(MessageBox) if box.isVisible() and box.text == QUESTION]


def answer(user: WindowDriver, button: str) -> None:
    user.until(lambda: len(questions(user)) == 1)
    WindowDriver(user.qtbot, questions(user)[0]).button(button).click()


def icon(user: WindowDriver) -> QSystemTrayIcon | None:
    found = user.window.findChild(QSystemTrayIcon)
    return found if found is not None and found.isVisible() else None


def shown_icon(user: WindowDriver) -> QSystemTrayIcon:
    shown = icon(user)
    assert shown is not None
    return shown


def commands(user: WindowDriver) -> dict[str, QAction]:
    """Return the commands of the menu of the icon."""
    menu = shown_icon(user).contextMenu()
    assert isinstance(menu, QMenu)
    return {plain(action.text()): action for action in menu.actions() if not action.isSeparator()}


def test_closing_asks_once_and_hides_the_window_which_a_second_start_shows(user: ProgramDriver, home: Path) -> None:
    assert icon(user) is None
    make_token(user)
    user.until(user.name.hasFocus)
    assert not user.window.close()
    answer(user, "Keep running")
    user.until(lambda: not user.window.isVisible())
    assert icon(user) is not None
    with socket.create_connection(("127.0.0.1", user.until_on().port), timeout=SECONDS):
        pass
    second = start_program({**os.environ, "PLANTDESK_HOME": str(home)})
    user.until(user.window.isVisible)
    user.until(lambda: second.poll() == 0)
    second.communicate()
    user.until(user.name.hasFocus)
    assert not user.window.close()
    assert not user.window.isVisible()
    assert not questions(user)


def test_who_answers_quit_is_never_asked_again(qtbot: QtBot, user: ProgramDriver) -> None:
    make_token(user)
    user.window.close()
    with qtbot.waitSignal(user.window.closing):
        answer(user, "Quit")
    assert not user.window.isVisible()
    saved = settings.load(paths.settings_file())
    assert (saved.keep_in_tray, saved.tray_answered) == (False, True)


def test_escape_leaves_the_window_open_and_the_question_for_the_next_time(user: ProgramDriver) -> None:
    make_token(user)
    for _ in range(2):
        user.window.close()
        user.until(lambda: len(questions(user)) == 1)
        QTest.keyClick(questions(user)[0], Qt.Key.Key_Escape)
        assert user.window.isVisible()


def test_ctrl_q_ends_the_program_in_any_case(qtbot: QtBot, user: ProgramDriver) -> None:
    user.desktop.preferences.change(keep_in_tray=True)
    user.activate()
    with qtbot.waitSignal(user.window.closing):
        qtbot.keyClick(user.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_without_a_token_closing_asks_nothing(user: ProgramDriver) -> None:
    assert user.window.close()


def test_another_store_has_no_icon_and_its_window_closes(show_with_tray: Show, tmp_path: Path) -> None:
    with show_with_tray(tmp_path / "balcony.db") as user:
        user.desktop.preferences.change(keep_in_tray=True)
        assert icon(user) is None
        assert user.window.close()


def test_without_the_api_closing_asks_nothing(user: ProgramDriver) -> None:
    user.choose("Tools", "API on")
    user.until(lambda: user.status.text.startswith("API off"))
    assert user.window.close()


def test_the_window_never_hides_where_there_is_no_tray(show: Show) -> None:
    with show() as user:
        user.until_on()
        user.desktop.preferences.change(keep_in_tray=True)
        assert user.window.close()


def test_a_closed_window_stays_hidden_while_settings_are_saved(user: ProgramDriver) -> None:
    user.window.close()
    user.desktop.preferences.change(label_line="As it closes")
    assert not user.window.isVisible()


def test_the_menu_of_the_icon_has_what_works_without_the_window(qtbot: QtBot, user: ProgramDriver) -> None:
    user.desktop.preferences.change(keep_in_tray=True)
    user.add("Fern")
    user.until(lambda: "1 plant today" in commands(user))
    assert not commands(user)["1 plant today"].isEnabled()
    user.window.close()
    commands(user)["Copy API address"].trigger()
    assert QGuiApplication.clipboard().text().startswith("http://127.0.0.1:")
    commands(user)["API on"].trigger()
    user.until(lambda: isinstance(user.session.api.state, Off))
    commands(user)["Add a plant…"].trigger()
    user.until(lambda: quick_window() is not None)
    assert not user.window.isVisible()
    commands(user)["Show PlantDesk"].trigger()
    assert user.window.isVisible()
    user.window.close()
    commands(user)["Settings…"].trigger()
    assert user.window.isVisible()
    assert user.the(SettingsDialog).isVisible()
    user.window.close()
    with qtbot.waitSignal(user.window.closing):
        commands(user)["Quit"].trigger()


def test_a_click_shows_the_window_and_the_icon_says_what_is_wrong(user: ProgramDriver) -> None:
    user.desktop.preferences.change(keep_in_tray=True)
    shown = shown_icon(user)
    assert shown.toolTip() == "PlantDesk"
    user.window.close()
    shown.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert user.window.isVisible()
    user.session.bridge.health_changed.emit(StoreUnreachableError())
    assert shown.toolTip().startswith("The plant store cannot be reached.")
    user.session.bridge.health_changed.emit(None)
    assert shown.toolTip() == "PlantDesk"


def test_the_icon_shows_what_to_act_on_until_the_window_is_seen(
    user: ProgramDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda _icon, *texts: messages.append(texts[:2]))
    health = user.session.bridge.health_changed
    health.emit(StoreUnreachableError())  # passes by itself
    user.window.showMinimized()
    health.emit(StoreUnreachableError())
    assert icon(user) is None
    health.emit(StoreFullError())
    assert icon(user) is not None
    assert messages == [("Plants cannot be saved", "The disk is full. Free some space on it.")]
    shown_icon(user).messageClicked.emit()
    user.until(lambda: not user.window.isMinimized() and icon(user) is None)
    health.emit(None)
    user.window.showMinimized()
    health.emit(StoreFullError())
    assert icon(user) is not None
    health.emit(None)  # there is nothing to act on any more
    assert icon(user) is None


def test_a_start_at_login_stays_in_the_tray(show_with_tray: Show) -> None:
    with show_with_tray(background=True, keep_in_tray=True) as user:
        user.until_on()
        assert not user.window.isVisible()
        assert icon(user) is not None
        commands(user)["Show PlantDesk"].trigger()
        assert user.window.isVisible()
        user.window.is_quitting = True


def test_where_no_tray_comes_the_window_is_minimised(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plantdesk.ui.window.tray._CHECK_INTERVAL_MS", 10)
    with show(background=True, keep_in_tray=True) as user:
        user.until(user.window.isMinimized)


def test_the_settings_switch_the_tray_and_say_how_to_bind_a_key(user: ProgramDriver) -> None:
    user.choose("Edit", "Settings…")
    page = WindowDriver(user.qtbot, user.the(SettingsDialog))
    box = page.button("Keep running when the window is closed")
    box.click()
    assert icon(user) is not None
    box.click()
    assert icon(user) is None
    page.button("Copy plantdesk quick").click()
    assert QGuiApplication.clipboard().text().endswith("plantdesk quick")
    page.button("How to bind a key").click()
    user.until(lambda: any("PlantDesk manual" in dialog.windowTitle() for dialog in user.window.findChildren(Dialog)))
