"""The page of an empty store: the form above it comes first, then sample plants, files, and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from plantdesk.ui.page import DROP_TARGET
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.widgets.painting import StatePage
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


class WelcomePage(StatePage):
    """Shows what can be done with an empty store; its buttons only emit signals."""

    undo_requested = Signal()
    samples_requested = Signal()
    import_requested = Signal()
    access_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "sprout", "accent", self.tr("No plants yet"), parent)
        self.setObjectName(DROP_TARGET)
        self.set_text(
            self.tr("Type a name above and press Enter. You can also drop a file here, or paste rows of a table.")
        )
        self._undo_button = self.add_button(self.tr("Undo"))
        self._samples_button = self.add_button(self.tr("Add 20 sample plants"))
        self._undo_button.clicked.connect(self.undo_requested)
        self._samples_button.clicked.connect(self.samples_requested)
        self.add_button(self.tr("Import…")).clicked.connect(self.import_requested)
        access = QPushButton(self.tr("API access…"))
        access.setProperty("variant", "quiet")
        access.clicked.connect(self.access_requested)
        programs = PlainLabel(self.tr("Programs on this computer can add plants, too:"), tone="muted")
        self.add_line(fill(QHBoxLayout(), STRETCH, programs, access, STRETCH, spacing=S))

    def show_store(self, *, had_plants: bool, offers_samples: bool) -> None:
        """Show whether there were plants before, and whether sample plants can be added."""
        self.set_title(self.tr("No plants any more") if had_plants else self.tr("No plants yet"))
        self._undo_button.setVisible(had_plants)
        self._samples_button.setVisible(offers_samples)
