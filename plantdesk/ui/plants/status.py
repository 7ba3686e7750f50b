"""What the status bar shows about plants: how many are selected, and whether the last one is saved."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from plantdesk.ui.texts import plural
from plantdesk.ui.theme.metrics import M
from plantdesk.ui.widgets.plain_label import PlainLabel


class PlantsStatus(QWidget):
    """Two labels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._in_trouble = False
        self._selection = PlainLabel(tone="muted")
        self._saved = PlainLabel(self.tr("Saved"), tone="muted")
        self._saved.hide()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 0, 0, 0)
        layout.setSpacing(M)
        layout.addWidget(self._selection)
        layout.addWidget(self._saved)

    def show_store(self, *, is_open: bool) -> None:
        """Show whether plants are saved only while there is a store to save them in."""
        self._saved.setVisible(is_open)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Show how many plants are selected."""
        text = plural(count, self.tr("1 plant selected"), self.tr("{count} plants selected"))
        self._selection.setText(text if count else "")

    @Slot(bool)
    def show_saving(self, saving: bool) -> None:
        """Show whether a plant is being saved."""
        done = self.tr("Not saved") if self._in_trouble else self.tr("Saved")
        self._saved.setText(self.tr("Saving…") if saving else done)

    def show_trouble(self, *, there: bool) -> None:
        """Show “Not saved” while the store cannot save plants."""
        self._in_trouble = there
        self.show_saving(False)
