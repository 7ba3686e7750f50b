"""The bar that says why plants cannot be shown or saved, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.errors import StoreDamagedError, StoreGoneError, StoreMovedError
from plantdesk.ui.widgets.info_bar import BarKind, InfoBar

if TYPE_CHECKING:
    from plantdesk.errors import PlantDeskError, StoreError
    from plantdesk.ui.widgets.action_buttons import MessageAction


class StoreNotice(QObject):
    """Owns its bar, which stays until the store works again: there is nothing to close."""

    try_again_wanted = Signal()
    restore_wanted = Signal()
    other_file_wanted = Signal()
    new_store_wanted = Signal()

    def __init__(self, bar: InfoBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bar = bar

    @Slot(object)
    def show_health(self, trouble: StoreError | None) -> None:
        """Show what keeps the open store from saving plants; None: it saves them again."""
        if trouble is None:
            self._bar.hide()
            return
        text, actions = str(trouble), []
        if isinstance(trouble, StoreDamagedError | StoreMovedError):
            actions = [self._restore_action()]
        if not isinstance(trouble, StoreDamagedError):
            text += " " + self.tr("PlantDesk goes on by itself when it can.")
        self._show(self.tr("Plants cannot be saved"), text, *actions)

    def show_no_store(self, reason: PlantDeskError) -> None:
        """Show why there is no open store."""
        actions = [self._restore_action()] if isinstance(reason, StoreDamagedError | StoreGoneError) else []
        if isinstance(reason, StoreGoneError):
            actions.append((self.tr("Start without plants"), self.new_store_wanted.emit))
        actions += [
            (self.tr("Try again"), self.try_again_wanted.emit),
            (self.tr("Choose another file…"), self.other_file_wanted.emit),
        ]
        self._show(self.tr("Your plants could not be opened"), str(reason), *actions)

    def hide(self) -> None:
        """Hide the bar while the file is being opened again."""
        self._bar.hide()

    def _show(self, title: str, text: str, *actions: MessageAction) -> None:
        """Leave a bar that says the same already: it would be announced again, and its buttons lose the focus."""
        if self._bar.isHidden() or (self._bar.title, self._bar.text) != (title, text):
            self._bar.show_state(BarKind.ERROR, title, text, *actions, lasting=True)

    def _restore_action(self) -> MessageAction:
        return self.tr("Restore a backup…"), self.restore_wanted.emit
