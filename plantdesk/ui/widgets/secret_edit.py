"""Secrets: a field that shows one, and copying that clipboard histories leave out, for one minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QLineEdit

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from plantdesk.ui.theme.theme import Theme

#: What programs that keep a history look for: KDE's Klipper and others on Linux, and Windows (Win+V, cloud clipboard).
#: macOS looks for a type of NSPasteboard that Qt cannot set.
_HINTS = {
    "x-kde-passwordManagerHint": b"secret",
    'application/x-qt-windows-mime;value="ExcludeClipboardContentFromMonitorProcessing"': b"1",
}
_CLEAR_AFTER_MS = 60_000


def copy_secret(secret: str, clear_after_ms: int = _CLEAR_AFTER_MS) -> None:
    """Put `secret` on the clipboard; clear it if the secret is still there after `clear_after_ms`, or at the end."""
    content = QMimeData()
    content.setText(secret)
    for format_, value in _HINTS.items():
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


class SecretEdit(QLineEdit):
    """Read-only. Nothing in it can be selected: Qt would copy a selection without the hints for histories."""

    def __init__(self, theme: Theme, name: str) -> None:
        """Make a field with a `name` for screen readers."""
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFont(theme.metrics.fixed_font())
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.selectionChanged.connect(self.deselect)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) or event.matches(QKeySequence.StandardKey.Cut):
            copy_secret(self.text())
        else:
            super().keyPressEvent(event)
