"""The bar that says why plants cannot be shown or saved, and what to do, for as long as it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.errors import StoreDamagedError
from plantdesk.ui.info_bar import BarKind, InfoBar

if TYPE_CHECKING:
    from plantdesk.errors import PlantDeskError, StoreError
    from plantdesk.ui.ways_on import WayOn


class StoreNotice(QObject):
    """Owns its bar. What it tells lasts until the store is well: there is nothing to close."""

    try_again_wanted = Signal()
    restore_wanted = Signal()
    other_file_wanted = Signal()

    def __init__(self, bar: InfoBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bar = bar

    @Slot(object)
    def show_health(self, trouble: StoreError | None) -> None:
        """Tell what keeps the open store from taking plants, or that it is well again."""
        if trouble is None:
            self._bar.hide()
            return
        text, ways_on = str(trouble), []
        if isinstance(trouble, StoreDamagedError):
            ways_on = [self._way_to_restore()]
        else:
            text += " " + self.tr("PlantDesk goes on by itself when it can.")
        self._bar.show_state(BarKind.ERROR, self.tr("Plants cannot be saved"), text, *ways_on, lasting=True)

    def show_no_store(self, reason: PlantDeskError) -> None:
        """Tell why there is no open store."""
        damaged = isinstance(reason, StoreDamagedError)
        self._bar.show_state(
            BarKind.ERROR,
            self.tr("Your plants could not be opened"),
            str(reason),
            *([self._way_to_restore()] if damaged else []),
            (self.tr("Try again"), self.try_again_wanted.emit),
            (self.tr("Choose another file…"), self.other_file_wanted.emit),
            lasting=True,
        )

    def _way_to_restore(self) -> WayOn:
        return self.tr("Restore a backup…"), self.restore_wanted.emit
