"""Asks before the window is closed while it runs what closing would cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from plantdesk.ui.widgets.message_box import MessageBox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.feature import Feature
    from plantdesk.ui.theme.theme import Theme


class CloseQuestion(QObject):
    """Decides whether a window may close. The question closes by itself when nothing runs any more.

    `confirmed`: close it all the same.
    """

    confirmed = Signal()

    def __init__(self, theme: Theme, window: QWidget, features: Sequence[Feature]) -> None:
        super().__init__(window)
        self._theme, self._window, self._features = theme, window, features
        self._box: MessageBox | None = None
        for feature in features:
            feature.settled.connect(self._on_settled)

    def may_close(self) -> bool:
        """Return whether nothing would be cancelled; otherwise open the question."""
        running = self._running()
        if running and not self._is_open():
            box = self._box = MessageBox(
                self._theme, "PlantDesk", self.tr("Close PlantDesk and cancel this?"), running, self._window
            )
            box.set_icon("triangle-alert", "warning")
            box.add_button(self.tr("&Cancel it and close")).clicked.connect(self.confirmed)
            box.add_button(self.tr("&Keep open"))
            box.open()
        return not running

    @Slot()
    def _on_settled(self) -> None:
        if self._box is not None and self._is_open() and not self._running():
            self._box.reject()

    def _is_open(self) -> bool:
        return self._box is not None and isValid(self._box) and self._box.isVisible()

    def _running(self) -> str:
        return " ".join(filter(None, (feature.running for feature in self._features)))
