"""Type-ahead: letters that are typed into the table go to the first plant whose name begins with them."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QObject, Signal
from PySide6.QtGui import QGuiApplication


class TypeAhead(QObject):
    """Collects letters until a pause. `wanted(text)`: a plant whose name begins with `text` is wanted."""

    wanted = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._text = ""
        self._since = QElapsedTimer()

    @property
    def is_typing(self) -> bool:
        """Whether the next letter is added to those before it, so that a space is one as well."""
        pause = 2 * QGuiApplication.styleHints().keyboardInputInterval()
        return bool(self._text) and self._since.isValid() and not self._since.hasExpired(pause)

    def add(self, letters: str) -> None:
        """Find a name that begins with what is typed, and these letters."""
        self._text = self._text + letters if self.is_typing else letters
        self._since.start()
        if self._text.strip():
            self.wanted.emit(self._text)
