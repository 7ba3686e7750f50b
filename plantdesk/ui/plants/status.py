"""The part of the status bar that shows the number of selected plants and whether plants are saved."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from plantdesk.domain.texts import Text
from plantdesk.ui.qt import fill, set_properties
from plantdesk.ui.texts import translated
from plantdesk.ui.theme.metrics import M
from plantdesk.ui.widgets.plain_text import PlainLabel

#: Milliseconds for which “Saved” is shown.
_SHOWN_MS = 2000


class PlantsStatus(QWidget):
    """Shows how many plants are selected, and for `shown_ms` milliseconds that plants are saved."""

    def __init__(self, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        super().__init__(parent)
        self._unsaved: frozenset[str] = frozenset()
        self._selection = PlainLabel(tone="muted")
        self._saved = PlainLabel(tone="muted")
        self._expiry_timer = QTimer(self, singleShot=True, interval=shown_ms)
        self._expiry_timer.timeout.connect(self._saved.clear)
        fill(QHBoxLayout(self), self._saved, self._selection, margins=(2, 0, 0, 0), spacing=M)

    def show_store(self, *, is_open: bool) -> None:
        """Show the state of saving only while a store is open."""
        self._saved.setVisible(is_open)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Show how many plants are selected."""
        text = translated(Text("{count:,} plants selected", one="1 plant selected", count=count))
        self._selection.setText(text if count else "")

    @Slot(bool)
    def show_saving(self, is_saving: bool) -> None:
        """Show that a plant is being saved, or for a moment that it is saved."""
        if is_saving:
            self._show(self.tr("Saving…"), "muted")
        elif self._unsaved:
            self._show(self.tr("Not saved"), "error")
        else:
            self._show(self.tr("Saved"), "muted")
            self._expiry_timer.start()

    def show_unsaved(self, part: str, is_unsaved: bool) -> None:
        """Show “Not saved” while some `part` of the window has something that could not be saved."""
        before = self._unsaved
        self._unsaved = before | {part} if is_unsaved else before - {part}
        if self._unsaved != before:
            self.show_saving(False)

    def _show(self, text: str, tone: str) -> None:
        self._expiry_timer.stop()
        set_properties(self._saved, tone=tone)
        self._saved.setText(text)
