"""The command that opens the dialog of the list of known names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from typing_extensions import override

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.known_names.dialog import NamesDialog


class NameLists(Feature):
    """Opens one dialog at a time."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._dialog: NamesDialog | None = None
        context.menus.add(Section.TOOLS_PLANTS, self.tr("&Known names…"), self.open_dialog)

    @override
    def release_store(self) -> None:
        if self._dialog is not None:
            self._dialog.close()

    @Slot()
    def open_dialog(self) -> None:
        """Open the dialog."""
        from plantdesk.ui.known_names.dialog import NamesDialog

        if self._dialog is None:
            self._dialog = NamesDialog(self.context, self.context.page)
            self._dialog.finished.connect(self._forget)
        self._dialog.open()

    @Slot()
    def _forget(self) -> None:
        self._dialog = None
