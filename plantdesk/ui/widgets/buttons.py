"""Buttons: those that close, copy, or take one click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QToolButton

from plantdesk.ui.qt import override
from plantdesk.ui.widgets.fields import copy_secret
from plantdesk.ui.widgets.plain_text import announce, set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent

    from plantdesk.ui.theme.theme import Theme


class CloseButton(QToolButton):
    """Gets the focus by Tab only; its name is also its tooltip."""

    def __init__(self, theme: Theme, name: str, color: str = "text") -> None:
        super().__init__()
        self.setAccessibleName(name)
        set_tool_tip(self, name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.icons.put_on(self, "x", color)


class OneClickButton(QPushButton):
    """Ignores the second press of a double click, which was meant for the button of before."""

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()


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
        announce(self, self.tr("Copied"))

    @Slot()
    def _show_label(self) -> None:
        self._show(self._label, "copy", self._color)

    def _show(self, label: str, icon: str, color: str) -> None:
        if self._icon_only:
            set_tool_tip(self, label)
        else:
            self.setText(label)
        self._theme.icons.put_on(self, icon, color)
