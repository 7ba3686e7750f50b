"""The bar that reports why plants cannot be shown or saved, with actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog

from plantdesk.domain.errors import StoreDamagedError, StoreGoneError, StoreMovedError
from plantdesk.ui.feature import Feature
from plantdesk.ui.qt import override
from plantdesk.ui.widgets.info_bar import BarKind

if TYPE_CHECKING:
    from plantdesk.domain.errors import PlantDeskError, StoreError
    from plantdesk.ui.feature import OpenStore, WindowContext
    from plantdesk.ui.widgets.action_buttons import MessageAction


class StoreNotice(Feature):
    """Its bar stays until the store works again: there is nothing to close."""

    try_again_wanted = Signal()
    restore_wanted = Signal()
    new_store_wanted = Signal()
    file_chosen = Signal(str)

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._bar = context.page.add_bar()
        context.bridge.health_changed.connect(self._show_health)

    @override
    def set_store(self, opened: OpenStore) -> None:
        self._bar.hide()

    @override
    def show_no_store(self, reason: PlantDeskError) -> None:
        actions = [self._restore_action()] if isinstance(reason, StoreDamagedError | StoreGoneError) else []
        if isinstance(reason, StoreGoneError):
            actions.append((self.tr("Start without plants"), self.new_store_wanted.emit))
        actions += [
            (self.tr("Try again"), self.try_again_wanted.emit),
            (self.tr("Choose another file…"), self.choose_file),
        ]
        self._show(self.tr("Your plants could not be opened"), str(reason), *actions)

    def show_opening(self) -> None:
        """Hide the bar while the file is being opened again."""
        self._bar.hide()

    @Slot()
    def choose_file(self) -> None:
        """Let the user name another file, existing or new."""
        name, _ = QFileDialog.getSaveFileName(
            self.context.page,
            self.tr("Choose a plant store, or name a new one"),
            str(self.context.path.parent),
            self.tr("Plant stores (*.db)"),
            options=QFileDialog.Option.DontConfirmOverwrite,
        )
        if name:
            self.file_chosen.emit(name)

    @Slot(object)
    def _show_health(self, trouble: StoreError | None) -> None:
        """Show what keeps the open store from saving plants; None: it saves them again."""
        if trouble is None:
            self._bar.hide()
            return
        text, actions = str(trouble), []
        if isinstance(trouble, StoreDamagedError | StoreMovedError):
            actions = [self._restore_action()]
        if not isinstance(trouble, StoreDamagedError):
            text += " " + self.tr("PlantDesk continues by itself when it can.")
        self._show(self.tr("Plants cannot be saved"), text, *actions)

    def _show(self, title: str, text: str, *actions: MessageAction) -> None:
        """Show a state, unless it is shown already: its buttons would lose the focus."""
        if self._bar.isHidden() or (self._bar.title, self._bar.text) != (title, text):
            self._bar.show_state(BarKind.ERROR, title, text, *actions, lasting=True)

    def _restore_action(self) -> MessageAction:
        return self.tr("Restore a backup…"), self.restore_wanted.emit
