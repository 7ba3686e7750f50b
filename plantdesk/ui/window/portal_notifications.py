"""Notifications of the desktop portal (Linux).

Not those of `org.freedesktop.Notifications`: one of its arguments is an unsigned number, which PySide cannot send.
Those of a tray icon come second: many desktops lack a tray, and they cannot be withdrawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCall, QDBusPendingCallWatcher

if TYPE_CHECKING:
    from collections.abc import Sequence

_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Notification"
_ON_ACTION = SLOT("_on_action(QDBusMessage)")
_SHOW = "show"


class PortalNotifications(QObject):
    """Shows notifications, without waiting for the desktop.

    `clicked`: the user has chosen one of them. `failed(name)`: no portal shows this one.
    """

    clicked = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, bus: QDBusConnection | None = None) -> None:
        super().__init__(parent)
        self._bus = QDBusConnection.sessionBus() if bus is None else bus
        # The stub asks for bytes where the binding takes nothing but the text that SLOT() gives.
        self._bus.connect(_SERVICE, _PATH, _INTERFACE, "ActionInvoked", self, _ON_ACTION)  # type: ignore[call-overload]

    def show(self, name: str, title: str, text: str) -> None:
        """Show a notification in place of the one of this name."""
        call = self._call("AddNotification", [name, {"title": title, "body": text, "default-action": _SHOW}])
        if call.isError():  # there is no bus; a watcher would report nothing
            self.failed.emit(name)
            return
        watcher = QDBusPendingCallWatcher(call, self)
        watcher.setObjectName(name)
        watcher.finished.connect(self._on_answer)

    def remove(self, name: str) -> None:
        """Remove the notification of a name."""
        self._call("RemoveNotification", [name])

    def _call(self, method: str, arguments: Sequence[object]) -> QDBusPendingCall:
        message = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, method)
        message.setArguments(arguments)
        return self._bus.asyncCall(message)

    @Slot(QDBusPendingCallWatcher)
    def _on_answer(self, watcher: QDBusPendingCallWatcher) -> None:
        watcher.deleteLater()
        if watcher.isError():
            self.failed.emit(watcher.objectName())

    @Slot(QDBusMessage)
    def _on_action(self, message: QDBusMessage) -> None:
        if message.arguments()[1:2] == [_SHOW]:
            self.clicked.emit()
