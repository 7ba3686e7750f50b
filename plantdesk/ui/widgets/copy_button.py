"""A button that copies a text and confirms it for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from plantdesk.ui.widgets.secret_edit import copy_secret

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

#: Milliseconds for which the button says that it has copied.
_FEEDBACK_MS = 1500


class CopyButton(QPushButton):
    """Copies the text of the last `set_content`; as a secret, it stays out of histories and for a minute only."""

    def __init__(
        self, theme: Theme, label: str, parent: QWidget | None = None, *, primary: bool = False, secret: bool = False
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._label = label
        self._color = "on_accent" if primary else "text"
        self._secret = secret
        self._content = ""
        self.setAutoDefault(False)
        if primary:
            self.setProperty("variant", "primary")
        self._back = QTimer(self, singleShot=True, interval=_FEEDBACK_MS)
        self._back.timeout.connect(self._show_label)
        self.clicked.connect(self.copy)
        self._show_label()

    def set_content(self, text: str) -> None:
        """Copy `text` when clicked."""
        self._content = text

    @Slot()
    def copy(self) -> None:
        """Put the text into the clipboard."""
        if self._secret:
            copy_secret(self._content)
        else:
            QGuiApplication.clipboard().setText(self._content)
        self.setMinimumWidth(self.width())
        self._show(self.tr("Copied"), "check")
        self._back.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.tr("Copied")))

    @Slot()
    def _show_label(self) -> None:
        self._show(self._label, "copy")

    def _show(self, label: str, icon: str) -> None:
        self.setText(label)
        self._theme.icons.put_on(self, icon, self._color)
