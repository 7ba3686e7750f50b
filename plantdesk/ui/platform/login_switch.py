"""“Start at login” in the Tools menu: shows the system's setting, and changes it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from plantdesk.domain.errors import PlantDeskError
from plantdesk.platform import login
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section
from plantdesk.ui.texts import error_text

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext

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
