"""What the pages of the dialog have in common: a button that makes one change, and a summary beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent
    from PySide6.QtWidgets import QBoxLayout


class CleanUpPage(QWidget):
    """A way to clean up. `changed`: another summary, or another text of the button. `applied`: the change is made."""

    changed = Signal()
    applied = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setWindowTitle(title)  # of its tab
        self.button_text, self.summary = "", ""
        self.can_apply = self._has_started = False
        #: Each can be a column where the screen is too narrow.
        self.rows: list[QBoxLayout] = []

    def start(self) -> None:
        """Read what the page shows, when it is shown first."""

    def apply(self) -> None:
        """Request the change."""

    def cancel(self) -> None:
        """End what runs in the background: the dialog is closed."""

    def show_state(self, button_text: str, summary: str, *, can_apply: bool) -> None:
        """Show what the button would do, where there is anything to do."""
        self.button_text, self.summary, self.can_apply = button_text, summary, can_apply
        self.changed.emit()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_started:
            self._has_started = True
            self.start()
