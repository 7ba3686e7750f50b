"""The command that opens the history window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section
from plantdesk.ui.questions import ask_if_of_other_desk

if TYPE_CHECKING:
    from plantdesk.domain.history import Change
    from plantdesk.ui.feature import OpenStore, WindowContext
    from plantdesk.ui.history.dialog import HistoryDialog


class History(Feature):
    """Opens one history window, or raises it."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._opened: OpenStore | None = None
        self._dialog: HistoryDialog | None = None
        self._action = context.menus.add(Section.EDIT_HISTORY, self.tr("&History…"), self.open_dialog, "Ctrl+H")
        self._action.setEnabled(False)

    @override
    def set_store(self, opened: OpenStore) -> None:
        self._close()
        self._opened = opened
        self._action.setEnabled(True)

    @override
    def release_store(self) -> None:
        self._close()
        self._opened = None
        self._action.setEnabled(False)

    @Slot()
    def open_dialog(self) -> None:
        """Open the history window, when it has read what it shows."""
        if self._opened is None:
            return
        if self._dialog is None or not isValid(self._dialog):
            from plantdesk.ui.history.dialog import HistoryDialog

            self._dialog = HistoryDialog(self.context, self._opened, self.context.page)
            self._dialog.action_requested.connect(self._take_back)
            self._dialog.ready.connect(self._dialog.show, Qt.ConnectionType.SingleShotConnection)
        self._dialog.raise_()
        self._dialog.activateWindow()

    @Slot(object)
    def _take_back(self, change: Change) -> None:
        if self._opened is not None and self._dialog is not None:
            take_back = partial(self.context.undo_stack.take_back, change)
            ask_if_of_other_desk(self.context, self._opened.store, change, self._dialog, take_back)

    def _close(self) -> None:
        if self._dialog is not None and isValid(self._dialog):
            self._dialog.close()
        self._dialog = None
