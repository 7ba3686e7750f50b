"""Asks before the window is closed while it runs what closing would cancel, or while plants are not saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from plantdesk.ui.texts import plural
from plantdesk.ui.widgets.message_box import MessageBox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.feature import Feature
    from plantdesk.ui.preferences import Preferences
    from plantdesk.ui.theme.theme import Theme


class CloseQuestion(QObject):
    """Decides whether a window may close. The question closes by itself when there is no reason any more.

    `confirmed`: close it all the same.
    """

    confirmed = Signal()

    def __init__(self, theme: Theme, window: QWidget, features: Sequence[Feature], preferences: Preferences) -> None:
        super().__init__(window)
        self._theme, self._window, self._features, self._preferences = theme, window, features, preferences
        self._box: MessageBox | None = None
        for feature in features:
            feature.settled.connect(self._on_settled)

    def may_close(self) -> bool:
        """Return whether nothing would be cancelled and all plants are saved; otherwise open the question."""
        running, unsaved = self._running(), self._unsaved()
        if running:
            title = self.tr("Close PlantDesk and cancel this?")
            self._ask(title, running, self.tr("&Cancel it and close"), self.tr("&Keep open"))
        elif unsaved:
            title = plural(unsaved, self.tr("1 plant is not saved."), self.tr("{count} plants are not saved."))
            text, confirm = self._kept() if self._preferences.are_saved else self._lost()
            self._ask(title, text, confirm, self.tr("&Show them"))
        return not running and not unsaved

    def _kept(self) -> tuple[str, str]:
        text = self.tr("PlantDesk remembers what you typed, and lists it when it is opened again.")
        return text, self.tr("&Close, keep them")

    def _lost(self) -> tuple[str, str]:
        text = self.tr(
            "What you typed cannot be remembered: the settings file cannot be written. The disk may be full."
        )
        return text, self.tr("&Close, lose them")

    def _ask(self, title: str, text: str, confirm: str, stay: str) -> None:
        if self._is_open():
            return
        box = self._box = MessageBox(self._theme, "PlantDesk", title, text, self._window)
        box.set_icon("triangle-alert", "warning")
        box.add_button(confirm).clicked.connect(self.confirmed)
        box.add_button(stay)
        box.open()

    @Slot()
    def _on_settled(self) -> None:
        if self._box is not None and self._is_open() and not self._running() and not self._unsaved():
            self._box.reject()

    def _is_open(self) -> bool:
        return self._box is not None and isValid(self._box) and self._box.isVisible()

    def _running(self) -> str:
        return " ".join(filter(None, (feature.running for feature in self._features)))

    def _unsaved(self) -> int:
        return sum(feature.keep_unsaved() for feature in self._features)
