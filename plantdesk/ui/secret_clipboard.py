"""Copies a secret so that clipboard histories leave it out, and takes it back from the clipboard after a minute."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QTimer
from PySide6.QtGui import QGuiApplication

#: What programs that keep a history look for: KDE's Klipper and others on Linux, and Windows (Win+V, cloud clipboard).
#: macOS looks for a type of NSPasteboard that Qt cannot set.
_HINTS = {
    "x-kde-passwordManagerHint": b"secret",
    'application/x-qt-windows-mime;value="ExcludeClipboardContentFromMonitorProcessing"': b"1",
}
_CLEAR_AFTER_MS = 60_000


def copy_secret(secret: str, clear_after_ms: int = _CLEAR_AFTER_MS) -> None:
    """Put `secret` on the clipboard; after `clear_after_ms`, clear the clipboard if the secret is still there."""
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
