"""What the status bar shows about plants: how many are selected, and whether the last one is saved."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from plantdesk.ui.qt import set_properties
from plantdesk.ui.texts import plural
from plantdesk.ui.theme.metrics import M
from plantdesk.ui.widgets.plain_label import PlainLabel
from plantdesk.ui.widgets.tool_tips import set_tool_tip

#: Milliseconds for which “Saved” is shown.
_SHOWN_MS = 2000


class PlantsStatus(QWidget):
    """What is selected and saved, and how many plants were added today. `today_wanted`: the user wants to see those."""

    today_wanted = Signal()

    def __init__(self, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        """Make an empty status; “Saved” is shown for `shown_ms` milliseconds."""
        super().__init__(parent)
        self._in_trouble = False
        self._selection = PlainLabel(tone="muted")
        self._saved = PlainLabel(tone="muted")
        self._today_button = QPushButton()
        self._today_button.setProperty("variant", "quiet")
        set_tool_tip(self._today_button, self.tr("Show the plants that were added today"))
        self._today_button.clicked.connect(self.today_wanted)
        self._today_button.hide()
        self._expiry = QTimer(self, singleShot=True, interval=shown_ms)
        self._expiry.timeout.connect(self._saved.clear)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 0, 0, 0)
        layout.setSpacing(M)
        layout.addWidget(self._saved)
        layout.addWidget(self._selection)
        layout.addWidget(self._today_button)

    def show_today(self, count: int) -> None:
        """Show how many plants were added today."""
        self._today_button.setText(self.tr("{count} today").format(count=QLocale().toString(count)))
        self._today_button.setVisible(count > 0)

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
        """Show that a plant is being saved, or for a moment that it is saved."""
        if saving:
            self._show(self.tr("Saving…"), "muted")
        elif self._in_trouble:
            self._show(self.tr("Not saved"), "error")
        else:
            self._show(self.tr("Saved"), "muted")
            self._expiry.start()

    def show_trouble(self, *, there: bool) -> None:
        """Show “Not saved” while the store cannot save plants."""
        was, self._in_trouble = self._in_trouble, there
        if was or there:
            self.show_saving(False)

    def _show(self, text: str, tone: str) -> None:
        self._expiry.stop()
        set_properties(self._saved, tone=tone)
        self._saved.setText(text)
