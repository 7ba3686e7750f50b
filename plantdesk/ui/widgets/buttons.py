"""A close button, a button that ignores double clicks, a copy button, and copying of secrets."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QPushButton, QToolButton
from typing_extensions import override

from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_text import announce, set_tool_tip

#: Formats that exclude a text from clipboard histories, on Linux and on Windows. Qt cannot set that of macOS.
_SECRET_FORMATS = {
    "x-kde-passwordManagerHint": b"secret",
    'application/x-qt-windows-mime;value="ExcludeClipboardContentFromMonitorProcessing"': b"1",
}
_CLEAR_AFTER_MS = 60_000
#: Milliseconds for which the button shows a confirmation.
_FEEDBACK_MS = 1500


def copy_secret(secret: str, clear_after_ms: int = _CLEAR_AFTER_MS) -> None:
    """Copy `secret`, and remove it from the clipboard after `clear_after_ms`, or when the program ends."""
    content = QMimeData()
    content.setText(secret)
    for format_, value in _SECRET_FORMATS.items():
        content.setData(format_, value)
    clipboard = QGuiApplication.clipboard()
    clipboard.setMimeData(content)

    def clear() -> None:
        if clipboard.text() == secret:
            clipboard.clear()

    QTimer.singleShot(clear_after_ms, clipboard, clear)
    app = QGuiApplication.instance()
    if app is not None:
        app.aboutToQuit.connect(clear)  # Windows and macOS keep the clipboard of a program that has ended


class CloseButton(QToolButton):
    """A close button. It gets the focus by Tab only. Its accessible name is also its tooltip."""

    def __init__(self, theme: Theme, name: str, color: str = "text") -> None:
        super().__init__()
        self.setAccessibleName(name)
        set_tool_tip(self, name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.icons.put_on(self, "x", color)


class OneClickButton(QPushButton):
    """A button that ignores the second press of a double click: it was meant for an earlier button there."""

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()


def make_text_button(text: str, slot: Callable[[], object]) -> OneClickButton:
    """Return a button with a text that calls `slot` when it is clicked."""
    button = OneClickButton(text)
    button.clicked.connect(slot)
    return button


class CopyButton(QPushButton):
    """A button that copies the text of `set_content`, and shows for a moment that it has."""

    def __init__(
        self, theme: Theme, label: str, *, name: str = "", primary: bool = False, secret: bool = False
    ) -> None:
        """Make a button with a label; with an accessible `name` it has only an icon, and `label` is its tooltip."""
        super().__init__()
        self._theme = theme
        self._label = label
        self._has_only_icon = bool(name)
        self._color = "muted" if name else "text"
        if primary:
            self._color = "on_accent"
        self._is_secret = secret
        self._content = ""
        self.setAccessibleName(name)
        if name or primary:
            self.setProperty("variant", "icon" if name else "primary")
        self._feedback_timer = QTimer(self, singleShot=True, interval=_FEEDBACK_MS)
        self._feedback_timer.timeout.connect(self._show_label)
        self.clicked.connect(self.copy)
        self._show_label()

    def set_content(self, text: str) -> None:
        """Set the text that a click copies."""
        self._content = text

    @Slot()
    def copy(self) -> None:
        """Put the text on the clipboard, if requested as a secret, and confirm that on the button."""
        if self._is_secret:
            copy_secret(self._content)
        else:
            QGuiApplication.clipboard().setText(self._content)
        self.setMinimumWidth(self.width())
        self._show_text(self.tr("Copied"), "check", "ok" if self._has_only_icon else self._color)
        self._feedback_timer.start()
        announce(self, self.tr("Copied"))

    @Slot()
    def _show_label(self) -> None:
        self._show_text(self._label, "copy", self._color)

    def _show_text(self, label: str, icon: str, color: str) -> None:
        if self._has_only_icon:
            set_tool_tip(self, label)
        else:
            self.setText(label)
        self._theme.icons.put_on(self, icon, color)
