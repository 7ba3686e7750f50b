"""A message with an icon, a text and action buttons: the base of `InfoBar`, `MessageLine` and `Toast`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from plantdesk.ui.texts import plural
from plantdesk.ui.widgets.icon import Icon
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.action_buttons import ActionButtons, MessageAction


class Message(QFrame):
    """Its icon follows the theme. Subclasses lay out its parts and announce what they show."""

    def __init__(self, theme: Theme, icon_size: int, actions: ActionButtons, parent: QWidget | None) -> None:
        """Make an empty message; `actions` keeps the buttons in the layout of the subclass."""
        super().__init__(parent)
        self._theme = theme
        self._icon = Icon(theme, size=icon_size)
        self._text = PlainLabel(wrapped=True)
        self._action_buttons = actions
        self._expiry = QTimer(self, singleShot=True)
        self._expiry.timeout.connect(self._on_expired)

    @property
    def text(self) -> str:
        """The text that is shown."""
        return self._text.text()

    def set_content(self, icon: str | None, color: str, text: str, actions: Iterable[MessageAction]) -> None:
        """Show an icon (None: none) in a colour of the theme, a text, and a button for each action."""
        self._icon.show_icon(icon, color)
        self._text.setText(text)
        self._action_buttons.set_actions(actions)

    def announce(self, text: str) -> None:
        """Let screen readers speak `text`."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def announce_with_buttons(self, labels: list[str]) -> None:
        """Let screen readers speak the text and the labels of its buttons."""
        names = ", ".join(f"“{label}”" for label in labels)
        buttons = plural(len(labels), self.tr("Button: {names}."), self.tr("Buttons: {names}."), names=names)
        self.announce(f"{self.text} {buttons}" if labels else self.text)

    @property
    def _has_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @Slot()
    def clear(self) -> None:
        """Remove the message."""
        self.hide()

    @Slot()
    def _on_expired(self) -> None:
        """Remove the message, unless the user is on it."""
        if self.underMouse() or self._has_focus:
            self._expiry.start()
        else:
            self.clear()
