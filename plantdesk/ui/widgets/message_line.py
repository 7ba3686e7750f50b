"""One line of message under a form: an icon, a sentence, and action buttons."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from plantdesk.ui.qt import override, set_properties
from plantdesk.ui.theme.metrics import XS, S
from plantdesk.ui.widgets.action_buttons import ActionButtons
from plantdesk.ui.widgets.message import Message

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.action_buttons import MessageAction

_ICON = 16
#: Milliseconds for which a success message is shown.
_SHOWN_MS = 8000


class Tone(Enum):
    """What a message is: the tone of its text, and its icon (None: no icon)."""

    HINT = ("muted", None)
    OK = ("ok", "circle-check")
    ERROR = ("error", "circle-alert")
    WARNING = ("warning", "triangle-alert")


class MessageLine(Message):
    """Shows a message, or the hint while there is none.

    A success message disappears after a while, unless the pointer or the focus is on it. A screen reader announces
    every message but hints, together with its buttons.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        """Make an empty line; a success message is shown for `shown_ms` milliseconds."""
        layout = QHBoxLayout()
        super().__init__(theme, _ICON, ActionButtons(layout, first=2, links=True), parent)
        self._tone = Tone.HINT
        self._hint = ""
        self._expiry.setInterval(shown_ms)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(S)
        layout.addWidget(self._icon)
        layout.addWidget(self._text)
        layout.addStretch(1)
        self.setLayout(layout)
        self.setMinimumHeight(theme.metrics.compact_row - 2)  # as its buttons: nothing moves
        self.clear()

    @property
    def tone(self) -> Tone:
        """The tone in which it is shown; HINT while there is no message."""
        return self._tone

    def set_hint(self, text: str) -> None:
        """Set what is shown while there is no message."""
        unused = self._tone is Tone.HINT and self.text == self._hint
        self._hint = text
        if unused:
            self.clear()

    @override
    def clear(self) -> None:
        """Remove the message; the hint is shown again."""
        self.show_message(Tone.HINT, self._hint)

    def show_message(self, tone: Tone, text: str, *actions: MessageAction) -> None:
        """Show a sentence, and a button for each of `actions` (its label and what it does)."""
        self._tone = tone
        color, icon = tone.value
        set_properties(self._text, tone=color)
        self.set_content(icon, color, text, actions)
        self._fit_text()
        if tone is Tone.OK:
            self._expiry.start()
        else:
            self._expiry.stop()
        if tone is not Tone.HINT:
            self.announce_with_buttons([label for label, _ in actions])

    def rename_action(self, old: str, new: str) -> None:
        """Give the button that is labelled `old` another label."""
        self._action_buttons.rename(old, new)
        self._fit_text()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _fit_text(self) -> None:
        """Give the sentence its natural width, or what the buttons leave, so that they follow it directly."""
        taken = sum(width + S for width in self._action_buttons.widths)
        taken += 0 if self._icon.isHidden() else self._icon.width() + S
        natural = self._text.fontMetrics().horizontalAdvance(self._text.text()) + XS
        self._text.setFixedWidth(max(min(natural, self.width() - taken), 1))
