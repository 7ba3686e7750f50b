"""The commands about the window and the program: close, theme, text size, start at login, help."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices

from plantdesk.domain.errors import PlantDeskError
from plantdesk.platform import login
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Key, Section, check
from plantdesk.ui.texts import error_text
from plantdesk.ui.theme.colors import ThemeMode

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


_TEXT_STEP = 1.1


class AppearanceCommands(Feature):
    """Changes the theme and the size of text."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        menus, section = context.menus, Section.VIEW_APPEARANCE
        modes = (
            (self.tr("&System"), ThemeMode.SYSTEM.value),
            (self.tr("&Light"), ThemeMode.LIGHT.value),
            (self.tr("&Dark"), ThemeMode.DARK.value),
        )
        group = menus.add_choices(section, modes, self._set_mode, self.tr("&Theme"))
        check(group, context.theme.mode.value)
        menus.add(section, self.tr("&Larger text"), partial(self._scale_text, _TEXT_STEP), Key.ZoomIn, "Ctrl+=")
        menus.add(section, self.tr("S&maller text"), partial(self._scale_text, 1 / _TEXT_STEP), Key.ZoomOut)
        menus.add(section, self.tr("N&ormal text"), partial(self._set_text_scale, 1.0), "Ctrl+0")

    def _set_mode(self, mode: str) -> None:
        self.context.theme.set_mode(ThemeMode(mode))
        self.context.preferences.change(theme=mode)

    def _scale_text(self, factor: float) -> None:
        self._set_text_scale(self.context.theme.text_scale * factor)

    def _set_text_scale(self, scale: float) -> None:
        theme = self.context.theme
        theme.set_text_scale(round(scale, 2))
        self.context.preferences.change(text_scale=theme.text_scale)


logger = logging.getLogger(__name__)


class LoginSwitch(Feature):
    """Reads the setting each time the menu opens: the system has a switch of its own as well."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._action = context.menus.add_switch(Section.TOOLS_SYSTEM, self.tr("&Start at login"), self._switch)
        context.menus.menu(Section.TOOLS_SYSTEM).aboutToShow.connect(self._read)

    @Slot()
    def _read(self) -> None:
        try:
            on = login.login_item().is_on()
        except (OSError, PlantDeskError) as error:
            logger.warning("Whether PlantDesk starts at login cannot be read: %s", error)
            on = False
        self._action.setChecked(on)

    @Slot(bool)
    def _switch(self, on: bool) -> None:
        try:
            login.switch_login(on=on)
        except (OSError, PlantDeskError) as error:
            text = self.tr("The start at login could not be changed. {reason}").format(reason=error_text(error))
            self.context.page.toast.show_problem(text)
        self._read()


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
        from plantdesk.ui.window.help_dialogs import ManualDialog

        ManualDialog(self.context.theme, self.context.page).show()

    @Slot()
    def _show_shortcuts(self) -> None:
        from plantdesk.ui.window.shortcuts_dialog import ShortcutsDialog

        ShortcutsDialog(self.context.menus, self.context.page).open()

    @Slot()
    def _open_data_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.context.location.folder)))

    @Slot()
    def _show_about(self) -> None:
        from plantdesk.ui.window.help_dialogs import AboutDialog

        AboutDialog(self.context.theme, self.context.page).open()
