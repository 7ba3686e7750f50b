"""The commands of the Help menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from plantdesk import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.menus import Menus
    from plantdesk.ui.theme.theme import Theme


class HelpCommands(QObject):
    """Carries out what `menus` signals; `path` is the file of the store, open or not."""

    def __init__(self, theme: Theme, menus: Menus, path: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self.path = path
        self._theme = theme
        self._menus = menus
        self._window = parent
        menus.shortcuts_wanted.connect(self._show_shortcuts)
        menus.data_folder_wanted.connect(self._open_data_folder)
        menus.about_wanted.connect(self._show_about)

    @Slot()
    def _show_shortcuts(self) -> None:
        from plantdesk.ui.help.shortcuts_dialog import ShortcutsDialog

        ShortcutsDialog(self._menus.actions, self._window).open()

    @Slot()
    def _open_data_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.path.parent)))

    @Slot()
    def _show_about(self) -> None:
        from plantdesk.ui.widgets.message_box import MessageBox

        text = self.tr("PlantDesk {version}").format(version=__version__)
        details = self.tr("Keeps your plants, and takes more of them from your own scripts.")
        box = MessageBox(self._theme, self.tr("About PlantDesk"), text, details, self._window)
        box.set_icon("sprout", "accent")
        box.add_button(self.tr("Close"))
        box.open()
