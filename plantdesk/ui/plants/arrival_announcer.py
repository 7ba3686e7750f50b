"""Announces plants that programs add to screen readers, in sentences and at a limited rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from plantdesk.ui.plants.table.cells import Column, cell_text
from plantdesk.ui.texts import quoted, source_text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from plantdesk.domain.records import Changes, PlantRow

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
        self._sources: set[str] = set()
        self._more = False
        self._pause = QTimer(self, singleShot=True, interval=interval_ms)
        self._pause.timeout.connect(self._announce)

    def add(self, changes: Changes) -> None:
        """Announce added plants, except those of the form, which the form announces."""
        rows = [row for row in changes.added if row.source.kind != "form"]
        if not rows:
            return
        self._count += len(rows)
        self._newest = rows[-1]
        self._sources.update(source_text(row.source) for row in rows)
        self._more = self._more or changes.needs_reload
        if not self._pause.isActive():
            self._announce()

    @Slot()
    def _announce(self) -> None:
        if self._newest is None:
            return
        text = self._sentence(self._newest)
        self._count, self._newest, self._more = 0, None, False
        self._sources.clear()
        self._pause.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._widget, text))

    def _sentence(self, newest: PlantRow) -> str:
        if self._count == 1 and not self._more:
            text = self.tr("{name} was added by {source}.")
            return text.format(name=quoted(cell_text(newest, Column.NAME)), source=quoted(source_text(newest.source)))
        count = QLocale().toString(self._count)
        if self._more:
            count = self.tr("Over {n}").format(n=count)
        if len(self._sources) > 1:
            return self.tr("{count} plants were added by programs.").format(count=count)
        text = self.tr("{count} plants were added by {source}.")
        return text.format(count=count, source=quoted(source_text(newest.source)))
