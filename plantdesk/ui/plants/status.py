"""What the status bar shows about plants, and the announcements to screen readers about plants that programs add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from plantdesk.domain.errors import Text
from plantdesk.ui.plants.table.cells import Column, cell_text
from plantdesk.ui.qt import fill, set_properties
from plantdesk.ui.texts import quoted, shown, source_text
from plantdesk.ui.theme.metrics import M
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

if TYPE_CHECKING:
    from plantdesk.domain.records import Changes, PlantRow


#: Milliseconds for which “Saved” is shown.
_SHOWN_MS = 2000


class PlantsStatus(QWidget):
    """Shows how many plants are selected, and whether they are saved."""

    def __init__(self, parent: QWidget | None = None, *, shown_ms: int = _SHOWN_MS) -> None:
        """Make an empty status; “Saved” is shown for `shown_ms` milliseconds."""
        super().__init__(parent)
        self._unsaved: set[str] = set()
        self._selection = PlainLabel(tone="muted")
        self._saved = PlainLabel(tone="muted")
        self._expiry = QTimer(self, singleShot=True, interval=shown_ms)
        self._expiry.timeout.connect(self._saved.clear)
        fill(QHBoxLayout(self), self._saved, self._selection, margins=(2, 0, 0, 0), spacing=M)

    def show_store(self, *, is_open: bool) -> None:
        """Show whether plants are saved, except while there is no store to save them in."""
        self._saved.setVisible(is_open)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Show how many plants are selected."""
        text = shown(Text("{count:,} plants selected", one="1 plant selected", count=count))
        self._selection.setText(text if count else "")

    @Slot(bool)
    def show_saving(self, saving: bool) -> None:
        """Show that a plant is being saved, or for a moment that it is saved."""
        if saving:
            self._show(self.tr("Saving…"), "muted")
        elif self._unsaved:
            self._show(self.tr("Not saved"), "error")
        else:
            self._show(self.tr("Saved"), "muted")
            self._expiry.start()

    def show_unsaved(self, part: str, there: bool) -> None:
        """Show “Not saved” while a part of the window has something that could not be saved."""
        if there is not (part in self._unsaved):
            self._unsaved ^= {part}
            self.show_saving(False)

    def _show(self, text: str, tone: str) -> None:
        self._expiry.stop()
        set_properties(self._saved, tone=tone)
        self._saved.setText(text)


#: The shortest time between two announcements, in milliseconds.
_INTERVAL_MS = 5000


class ArrivalAnnouncer(QObject):
    """Announces the first plant at once, and those of the following seconds together."""

    def __init__(self, widget: QWidget, *, interval_ms: int = _INTERVAL_MS) -> None:
        """Announce for `widget`, at most every `interval_ms` milliseconds."""
        super().__init__(widget)
        self._widget = widget
        self._count = 0
        self._newest: PlantRow | None = None
        self._has_more = False
        self._pause = QTimer(self, singleShot=True, interval=interval_ms)
        self._pause.timeout.connect(self._announce)

    def add(self, changes: Changes) -> None:
        """Announce added plants, except those of the form, which announces them itself."""
        rows = [row for row in changes.added if row.source.kind != "form"]
        if not rows:
            return
        self._count += len(rows)
        self._newest = rows[-1]
        self._has_more = self._has_more or changes.needs_reload
        if not self._pause.isActive():
            self._announce()

    @Slot()
    def _announce(self) -> None:
        if self._newest is None:
            return
        text = self.tr("Plants were added by programs.")
        if self._count == 1 and not self._has_more:
            name, source = cell_text(self._newest, Column.NAME), source_text(self._newest.source)
            text = self.tr("{name} was added by {source}.").format(name=quoted(name), source=quoted(source))
        elif not self._has_more:
            count = QLocale().toString(self._count)
            text = self.tr("{count} plants were added by programs.").format(count=count)
        self._count, self._newest, self._has_more = 0, None, False
        self._pause.start()
        announce(self._widget, text)
