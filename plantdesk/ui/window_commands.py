"""The commands of the File menu about the window itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Key, Section

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext


class WindowCommands(Feature):
    """Closes the window, which ends the program."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        close = context.page.window().close
        context.menus.add(Section.FILE_WINDOW, self.tr("&Close window"), close, Key.Close)
        leave = context.menus.add(Section.FILE_WINDOW, self.tr("&Quit"), close, "Ctrl+Q")
        leave.setMenuRole(QAction.MenuRole.QuitRole)
