"""The action buttons of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from plantdesk.ui.widgets.one_click_button import OneClickButton

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtWidgets import QHBoxLayout, QPushButton

    #: A button's label, and what it does.
    MessageAction = tuple[str, Callable[[], object]]


class ActionButtons:
    """Keeps a row of buttons in a layout, from position `first` on."""

    def __init__(self, layout: QHBoxLayout, *, first: int, small: bool = False, links: bool = False) -> None:
        self._layout = layout
        self._links = links
        self._first = first
        self._small = small
        self._buttons: list[QPushButton] = []

    @property
    def widths(self) -> list[int]:
        """How wide the buttons want to be, in pixels."""
        return [button.sizeHint().width() for button in self._buttons]

    @property
    def buttons(self) -> list[QPushButton]:
        """The buttons, in their order."""
        return list(self._buttons)

    def set_actions(self, actions: Iterable[MessageAction]) -> None:
        """Replace the buttons by one for each action."""
        for button in self._buttons:
            self._layout.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = [self._button(label, action) for label, action in actions]
        for place, button in enumerate(self._buttons, start=self._first):
            self._layout.insertWidget(place, button)
            button.show()  # a layout would do it only later

    def rename(self, old: str, new: str) -> None:
        """Give the button that is labelled `old` another label; it keeps the focus."""
        for button in self._buttons:
            if button.text() == old:
                button.setText(new)

    def _button(self, label: str, action: Callable[[], object]) -> QPushButton:
        button = OneClickButton(label)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        if self._links:
            button.setProperty("variant", "link")
        elif self._small:
            button.setProperty("small", "true")
        button.clicked.connect(action)
        return button
