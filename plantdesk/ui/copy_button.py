"""A button that copies a text and says so for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

if TYPE_CHECKING:
    from plantdesk.ui.theme import Theme

#: Milliseconds for which the button says that it has copied.
_SHOWN = 1500


class CopyButton(QPushButton):
    """Copies what `set_content` gave it last."""

    def __init__(self, theme: Theme, label: str, parent: QWidget | None = None, *, primary: bool = False) -> None:
        label = " " + label  # Fusion puts the icon right against the text
        super().__init__(label, parent)
        self._theme = theme
        self._label = label
        self._color = "on_accent" if primary else "text"
        self._content = ""
        self.setAutoDefault(False)
        if primary:
            self.setProperty("variant", "primary")
        theme.icons.put_on(self, "copy", self._color)
        self._back = QTimer(self, singleShot=True, interval=_SHOWN)
        self._back.timeout.connect(self._show_label)
        self.clicked.connect(self.copy)

    def set_content(self, text: str) -> None:
        """Copy `text` when clicked."""
        self._content = text

    @Slot()
    def copy(self) -> None:
        """Put the text into the clipboard."""
        QGuiApplication.clipboard().setText(self._content)
        self.setMinimumWidth(self.width())
        self.setText(" " + self.tr("Copied"))
        self._theme.icons.put_on(self, "check", self._color)
        self._back.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.tr("Copied")))

    @Slot()
    def _show_label(self) -> None:
        self.setText(self._label)
        self._theme.icons.put_on(self, "copy", self._color)
