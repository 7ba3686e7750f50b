"""The colour scheme of the desktop portal on Linux, if Qt does not know it.

Qt asks the portal only under desktops that it recognises; elsewhere `QStyleHints.colorScheme()` stays Unknown.
"""

from __future__ import annotations

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage, QDBusPendingCallWatcher, QDBusVariant

_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_SETTINGS = "org.freedesktop.portal.Settings"
_NAMESPACE = "org.freedesktop.appearance"
_KEY = "color-scheme"
_IS_DARK_BY_SCHEME = {1: True, 2: False}
_ON_CHANGED = SLOT("_on_setting_changed(QDBusMessage)")
_TIMEOUT_MS = 150


class PortalScheme(QObject):
    """The colour scheme of the desktop portal, kept up to date by its D-Bus signal. Needs a session bus."""

    #: The scheme has changed.
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        #: Whether the desktop is dark; None if it does not say.
        self.is_dark: bool | None = None
        self._bus = QDBusConnection.sessionBus()
        # The stub asks for bytes, but the binding takes only the text that SLOT() returns.
        self._bus.connect(_SERVICE, _PATH, _SETTINGS, "SettingChanged", self, _ON_CHANGED)  # type: ignore[call-overload]
        self._read_scheme()

    def _read_scheme(self) -> None:
        """Read the scheme for the first paint, blocking at most 150 ms; after that, asynchronously."""
        reply = self._bus.call(_make_read_call(), QDBus.CallMode.Block, _TIMEOUT_MS)
        if reply.type() is QDBusMessage.MessageType.ReplyMessage:
            self.is_dark = _parse_is_dark(reply)
        elif reply.errorName() == "org.freedesktop.DBus.Error.NoReply":
            self._watcher = QDBusPendingCallWatcher(self._bus.asyncCall(_make_read_call()), self)
            self._watcher.finished.connect(self._on_late_reply)

    @Slot(QDBusPendingCallWatcher)
    def _on_late_reply(self, watcher: QDBusPendingCallWatcher) -> None:
        reply = watcher.reply()
        if reply.type() is QDBusMessage.MessageType.ReplyMessage:
            self._set_dark(_parse_is_dark(reply))

    @Slot(QDBusMessage)
    def _on_setting_changed(self, message: QDBusMessage) -> None:
        namespace, key, *_ = message.arguments()
        if (namespace, key) == (_NAMESPACE, _KEY):
            self._set_dark(_parse_is_dark(message))

    def _set_dark(self, is_dark: bool | None) -> None:
        if is_dark is not self.is_dark:
            self.is_dark = is_dark
            self.changed.emit()


def _make_read_call() -> QDBusMessage:
    message = QDBusMessage.createMethodCall(_SERVICE, _PATH, _SETTINGS, "ReadOne")
    message.setArguments([_NAMESPACE, _KEY])
    return message


def _parse_is_dark(message: QDBusMessage) -> bool | None:
    value = message.arguments()[-1]
    while isinstance(value, QDBusVariant):
        value = value.variant()
    return _IS_DARK_BY_SCHEME.get(value)
