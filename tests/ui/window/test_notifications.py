"""Notifications on a D-Bus with a portal: of what the user must act on, while the window is not seen."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import pytest

from plantdesk.domain.errors import BackupFolderError, StoreBusyError, StoreFullError, Text
from plantdesk.domain.server_state import Failed, NoOpenStoreError, On, PortInUseError
from plantdesk.ui.main_window import MainWindow
from plantdesk.ui.window.notifications import Notifications
from plantdesk.ui.window.tray import Tray
from tests.support.secret_service import session_bus
from tests.support.waiting import SECONDS
from tests.ui.conftest import NoServer

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.server_control import ApiControl

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are portals on Linux only")

PATH, INTERFACE = "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification"


class Portal:
    """Notes the calls that it gets, and clicks notifications."""

    def __init__(self, bus: str) -> None:
        from jeepney.bus_messages import message_bus
        from jeepney.io.blocking import Proxy, open_dbus_connection

        self.calls: queue.SimpleQueue[tuple[str, ...]] = queue.SimpleQueue()
        self._connection = open_dbus_connection(bus)
        Proxy(message_bus, self._connection).RequestName("org.freedesktop.portal.Desktop")
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        from jeepney import HeaderFields, MessageType, new_method_return

        with suppress(OSError):  # until the bus ends
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._connection.send(new_method_return(message))
                    name, *values = message.body
                    texts = [values[0][key][1] for key in ("title", "body")] if values else []
                    self.calls.put((str(message.header.fields[HeaderFields.member]), name, *texts))

    def click(self, name: str) -> None:
        """Choose a notification."""
        from jeepney import DBusAddress, new_signal

        address = DBusAddress(PATH, interface=INTERFACE)
        self._connection.send(new_signal(address, "ActionInvoked", "ssav", (name, "show", [])))

    def next(self) -> tuple[str, ...]:
        """Return the next call."""
        return self.calls.get(timeout=SECONDS)


def tray(context: WindowContext) -> Tray:
    window = context.page.window()
    assert isinstance(window, MainWindow)
    return Tray(context, window, cast("ApiControl", NoServer()))


@pytest.fixture
def portal(context: WindowContext) -> Iterator[Portal]:
    """The portal that the notifications of the window use."""
    from PySide6.QtDBus import QDBusConnection

    from plantdesk.ui.window.portal_notifications import PortalNotifications

    with session_bus() as address:
        portal = Portal(address)
        bus = QDBusConnection.connectToBus(address, "test-notifications")
        notifications = Notifications(context, tray(context))
        notifications.portal = PortalNotifications(notifications, bus)
        notifications.portal.clicked.connect(notifications.show_window)
        yield portal
        QDBusConnection.disconnectFromBus("test-notifications")


def test_a_port_that_is_lost_is_reported_while_the_window_is_minimised(
    qtbot: QtBot, context: WindowContext, portal: Portal
) -> None:
    window = context.page.window()
    taken = Failed(PortInUseError(8721, None), 8721)
    context.bridge.server_changed.emit(taken)  # the window shows it
    window.showMinimized()
    context.bridge.server_changed.emit(Failed(NoOpenStoreError(), 8721))  # nothing to act on
    context.bridge.server_changed.emit(taken)
    context.bridge.server_changed.emit(taken)
    text = "Port 8721 is in use by another program. Choose another port."
    assert portal.next() == ("AddNotification", "api", "The API is off", text)
    portal.click("api")
    qtbot.waitUntil(lambda: not window.isMinimized())
    context.bridge.server_changed.emit(On("http://127.0.0.1:8721", 8721))
    assert portal.next() == ("RemoveNotification", "api")
    assert portal.calls.empty()


def test_a_full_disk_and_a_failing_backup_are_reported_while_the_window_is_hidden(
    context: WindowContext, portal: Portal
) -> None:
    context.page.window().hide()
    context.bridge.health_changed.emit(StoreBusyError())  # passes by itself
    context.bridge.health_changed.emit(StoreFullError())
    assert portal.next()[:3] == ("AddNotification", "store", "Plants cannot be saved")
    context.bridge.health_changed.emit(None)
    assert portal.next() == ("RemoveNotification", "store")
    error = BackupFolderError(Text("The drive is not there."))
    context.bridge.backup_changed.emit(error)
    assert portal.next() == ("AddNotification", "backup", "Backups fail", "The drive is not there.")
    assert portal.calls.empty()


@pytest.mark.parametrize("has_bus", [True, False])
def test_without_a_portal_a_notification_is_reported_as_not_shown(qtbot: QtBot, *, has_bus: bool) -> None:
    from PySide6.QtDBus import QDBusConnection

    from plantdesk.ui.window.portal_notifications import PortalNotifications

    with session_bus() as address:
        bus = QDBusConnection.connectToBus(address if has_bus else "unix:path=/nowhere", "test-no-portal")
        portal = PortalNotifications(bus=bus)
        with qtbot.waitSignal(portal.failed) as failed:
            portal.show("api", "The API is off", "Choose another port.")
        assert failed.args == ["api"]
        QDBusConnection.disconnectFromBus("test-no-portal")
