"""A button that copies a text and confirms it for 1.5 seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QPushButton

from plantdesk.ui.widgets.secret_edit import copy_secret
from plantdesk.ui.widgets.tool_tips import set_tool_tip

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme

#: Milliseconds for which the button confirms.
_FEEDBACK_MS = 1500


class CopyButton(QPushButton):
    """Copies the text of the last `set_content`; as a secret, it stays out of histories and for a minute only."""

    def __init__(
        self, theme: Theme, label: str, *, name: str = "", primary: bool = False, secret: bool = False
    ) -> None:
        """Make a button with a label, or only with an icon: then `name` is its accessible name, `label` its tooltip."""
        super().__init__()
        self._theme = theme
        self._label = label
        self._icon_only = bool(name)
        self._color = "on_accent" if primary else "text_2" if name else "text"
        self._secret = secret
        self._content = ""
        self.setAccessibleName(name)
        if name or primary:
            self.setProperty("variant", "icon" if name else "primary")
        self._feedback = QTimer(self, singleShot=True, interval=_FEEDBACK_MS)
        self._feedback.timeout.connect(self._show_label)
        self.clicked.connect(self.copy)
        self._show_label()

    def set_content(self, text: str) -> None:
        """Copy `text` when clicked."""
        self._content = text

    @Slot()
    def copy(self) -> None:
        """Put the text on the clipboard."""
        if self._secret:
            copy_secret(self._content)
        else:
            QGuiApplication.clipboard().setText(self._content)
        self.setMinimumWidth(self.width())
        self._show(self.tr("Copied"), "check", "ok" if self._icon_only else self._color)
        self._feedback.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.tr("Copied")))

    @Slot()
    def _show_label(self) -> None:
        self._show(self._label, "copy", self._color)

    def _show(self, label: str, icon: str, color: str) -> None:
        if self._icon_only:
            set_tool_tip(self, label)
        else:
            self.setText(label)
        self._theme.icons.put_on(self, icon, color)
