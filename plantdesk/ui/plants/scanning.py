"""Scanned addresses of plants, and those of links: finds the plant, as soon as there is a store."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from plantdesk.domain.addresses import InvalidAddressError, id_of
from plantdesk.domain.records import PlantRow
from plantdesk.ui.background import StoreQueries, plant_of
from plantdesk.ui.held_keys import HeldKeys
from plantdesk.ui.widgets.messages import Toast


class Scanning(QObject):
    """Finds the plant of a scanned address, as soon as there is a store.

    `found(id, takes_focus)`: show the plant and its card; move the focus to its row, or leave it.
    """

    found = Signal(object, bool)

    def __init__(self, toast: Toast, keys: HeldKeys, parent: QObject) -> None:
        """Report in `toast` an invalid address or a missing plant; `keys` are held for a plant that takes the focus."""
        super().__init__(parent)
        self._toast, self._keys = toast, keys
        self._queries: StoreQueries | None = None
        self._requested: int | None = None

    def set_store(self, queries: StoreQueries | None) -> None:
        """Search this store; None: wait for one."""
        self._queries = queries
        if queries is not None and self._requested is not None:
            self.show(self._requested)

    def open_address(self, address: str) -> None:
        """Show the plant of an address, which may come from anyone."""
        try:
            self.show(id_of(address))
        except InvalidAddressError as error:
            self._toast.show_error(error)

    def show(self, plant_id: int, *, takes_focus: bool = True) -> None:
        """Show a plant; the focus goes to its row, or stays in a field for the next address."""
        if self._queries is None:
            self._requested = plant_id
        else:
            self._requested = None
            if takes_focus:
                self._keys.hold()
            self._queries.ask(self, partial(plant_of, plant_id=plant_id), partial(self._on_read, plant_id, takes_focus))

    def _on_read(self, plant_id: int, takes_focus: bool, row: PlantRow | None) -> None:
        if row is None:
            if takes_focus:
                self._keys.drop_commands()
            self._toast.show_problem(self.tr("No plant has the ID {id}.").format(id=plant_id))
            return
        self.found.emit(plant_id, takes_focus)
        if takes_focus:
            self._keys.release()
