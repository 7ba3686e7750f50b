"""Notifications beside the icon in the tray: of what the user must act on, while the window is not seen."""

from typing import cast

import pytest
from PySide6.QtWidgets import QSystemTrayIcon

from plantdesk.domain.errors import BackupFolderError, StoreBusyError, StoreFullError
from plantdesk.domain.server_state import Failed, NoOpenStoreError, Off, On, PortInUseError
from plantdesk.domain.texts import Text
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.window.tray import TrayFeature
from tests.support.api_switch import ApiSwitch

pytestmark = pytest.mark.qt_log_ignore("systemTrayWindowChanged")  # of X11, which the platform of the tests is not

TAKEN = Failed(PortInUseError(8721, None), 8721)


@pytest.fixture
def messages(context: WindowContext, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The messages of the tray."""
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda _icon, *texts: messages.append(texts[:2]))
    window = context.page.window()
    assert isinstance(window, MainWindow)
    tray = TrayFeature(context, window, cast("ApiControl", ApiSwitch(context.bridge, Off())))
    tray.start()
    return messages


def test_a_port_that_is_lost_is_reported_once_while_the_window_is_minimised(
    context: WindowContext, messages: list[tuple[str, str]]
) -> None:
    context.bridge.server_changed.emit(TAKEN)  # the window shows it
    context.page.window().showMinimized()
    context.bridge.server_changed.emit(Failed(NoOpenStoreError(), 8721))  # nothing to act on
    context.bridge.server_changed.emit(TAKEN)
    context.bridge.server_changed.emit(TAKEN)
    assert messages == [("The API is off", "Port 8721 is in use by another program. Choose another port.")]
    context.bridge.server_changed.emit(On("http://127.0.0.1:8721", 8721))
    context.bridge.server_changed.emit(TAKEN)
    assert len(messages) == 2


def test_a_full_disk_and_a_failing_backup_are_reported_while_the_window_is_hidden(
    context: WindowContext, messages: list[tuple[str, str]]
) -> None:
    context.page.window().hide()
    context.bridge.health_changed.emit(StoreBusyError())  # passes by itself
    context.bridge.health_changed.emit(StoreFullError())
    context.bridge.health_changed.emit(None)
    context.bridge.backup_changed.emit(BackupFolderError(Text("The drive is not there.")))
    assert [title for title, _ in messages] == ["Plants cannot be saved", "Backups fail"]
