"""Stops the blinking of the text cursor some seconds after the last input, as GTK does: each blink costs a paint."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication

_BLINKING_MS = 10_000
#: Lets Qt ask the desktop again, where the user may have turned the blinking off.
_OF_THE_DESKTOP = -1


class CursorBlinking(QObject):
    """Lets the cursor blink again with the next input, which Qt reports as a move of the cursor or of the focus."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hints = QGuiApplication.styleHints()
        self._is_stopped = False
        self._timer = QTimer(self, singleShot=True, interval=_BLINKING_MS)
        self._timer.timeout.connect(self._stop)
        QGuiApplication.inputMethod().cursorRectangleChanged.connect(self._on_input)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.focusObjectChanged.connect(self._on_input)
        self._timer.start()

    @Slot()
    def _on_input(self) -> None:
        self._timer.start()
        if self._is_stopped:
            self._is_stopped = False
            self._hints.setCursorFlashTime(_OF_THE_DESKTOP)

    @Slot()
    def _stop(self) -> None:
        if self._hints.cursorFlashTime() > 0:
            self._is_stopped = True
            self._hints.setCursorFlashTime(0)
