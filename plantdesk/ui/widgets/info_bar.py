"""A bar between form and table for a lasting state: title, text and action buttons."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from plantdesk.ui.qt import add_layout, override, set_properties
from plantdesk.ui.theme.metrics import XS, L, M, S
from plantdesk.ui.widgets.action_buttons import ActionButtons
from plantdesk.ui.widgets.close_button import CloseButton
from plantdesk.ui.widgets.message import Message
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from plantdesk.ui.theme.theme import Theme
    from plantdesk.ui.widgets.action_buttons import MessageAction

_ICON = 20
_STEPS = 1000


class BarKind(Enum):
    """The kind of a bar; the value is its colour in the style sheet, and its icon."""

    INFO = ("info", "info")
    WARNING = ("warning", "triangle-alert")
    ERROR = ("error", "circle-alert")

    @property
    def rank(self) -> int:
        """Its position among the kinds, the most serious first."""
        return list(reversed(BarKind)).index(self)


class InfoBar(Message):
    """Hidden until `show_state`. It pushes down what is below it and never covers anything."""

    kind = BarKind.INFO

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        buttons = QHBoxLayout()
        super().__init__(theme, _ICON, ActionButtons(buttons, first=0), parent)
        self._title = PlainLabel(role="strong", wrapped=True)
        for label in (self._title, self._text):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close_button = CloseButton(theme, self.tr("Close this message"))
        self._close_button.clicked.connect(self.hide)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.hide()
        self._content = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lay_out(buttons)
        self.hide()

    @property
    def title(self) -> str:
        """The title that is shown."""
        return self._title.text()

    def show_state(self, kind: BarKind, title: str, text: str, *actions: MessageAction, lasting: bool = False) -> None:
        """Show a state with a button for each action; a `lasting` one has no button to close it."""
        self.kind = kind
        name, icon = kind.value
        set_properties(self, bar=name)
        self._progress.hide()
        self._title.setText(title)
        self.set_content(icon, name, text, actions)
        self._text.setVisible(bool(text) or lasting)
        beside = Qt.AlignmentFlag.AlignTop if text or lasting else Qt.AlignmentFlag.AlignVCenter
        self._row.setAlignment(self._icon, beside)
        self._place_buttons()
        self._close_button.setVisible(not lasting)
        self.setAccessibleName(title)
        self.show()
        self.announce(f"{title}. {text}")

    def show_progress(self, text: str, share: float | None) -> None:
        """Show how far (0 to 1; None: not known) what the bar is about has come; screen readers do not speak it."""
        self._text.setText(text)
        self._progress.setRange(0, 0 if share is None else _STEPS)
        self._progress.setValue(round((share or 0) * _STEPS))
        self._progress.setAccessibleName(self.title)
        self._progress.show()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place_buttons()
        super().resizeEvent(event)

    def _place_buttons(self) -> None:
        """Place the buttons beside the text, or below it where they would take more than half of the width."""
        beside = sum(self._action_buttons.widths) <= self.width() // 2
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._content.setDirection(direction)

    def _lay_out(self, buttons: QHBoxLayout) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._title)
        texts.addWidget(self._text)
        texts.addWidget(self._progress)
        layout = self._row = QHBoxLayout(self)
        layout.setContentsMargins(L, M, S + XS, M)
        layout.setSpacing(S)
        layout.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignTop)
        buttons.setSpacing(S)
        buttons.addStretch()
        self._content.setSpacing(S)
        add_layout(self._content, texts, 1)
        add_layout(self._content, buttons)
        add_layout(layout, self._content, 1)
        layout.addWidget(self._close_button)
