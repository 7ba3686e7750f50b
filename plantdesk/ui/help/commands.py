"""The commands of the Help menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext


class HelpCommands(Feature):
    """Shows the manual, the keyboard shortcuts, the folder of the store, and the version."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        menus = context.menus
        menus.add(Section.HELP, self.tr("&Manual"), self._show_manual)
        menus.add(Section.HELP, self.tr("&Keyboard shortcuts"), self._show_shortcuts, "Ctrl+/", "F1")
        if context.location.folder is not None:
            menus.add(Section.HELP, self.tr("Open &data folder"), self._open_data_folder)
        about = menus.add(Section.HELP_ABOUT, self.tr("&About PlantDesk"), self._show_about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    @Slot()
    def _show_manual(self) -> None:
        from plantdesk.ui.help.manual_dialog import ManualDialog

        ManualDialog(self.context.theme, self.context.page).show()

    @Slot()
    def _show_shortcuts(self) -> None:
        from plantdesk.ui.help.shortcuts_dialog import ShortcutsDialog

        ShortcutsDialog(self.context.menus, self.context.page).open()

    @Slot()
    def _open_data_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.context.location.folder)))

    @Slot()
    def _show_about(self) -> None:
        from plantdesk.ui.help.about_dialog import AboutDialog

        AboutDialog(self.context.theme, self.context.page).open()
