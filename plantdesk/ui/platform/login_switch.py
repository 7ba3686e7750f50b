"""“Start at login” in the Tools menu: shows how the system has it, and changes it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from plantdesk.errors import PlantDeskError
from plantdesk.integration import login
from plantdesk.ui.widgets.info_bar import BarKind, InfoBar

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

logger = logging.getLogger(__name__)


class LoginSwitch(QObject):
    """Looks each time the menu opens, for the system has a switch of its own as well."""

    def __init__(self, action: QAction, bar: InfoBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._action = action
        self._bar = bar
        action.triggered.connect(self._switch)

    @Slot()
    def look(self) -> None:
        """Tick the action if the system will start PlantDesk."""
        try:
            on = login.item().is_on()
        except (OSError, PlantDeskError) as error:
            logger.warning("Whether PlantDesk starts at login cannot be read: %s", error)
            on = False
        self._action.setChecked(on)

    @Slot(bool)
    def _switch(self, on: bool) -> None:  # noqa: FBT001  Qt's signal
        try:
            login.switch(on=on)
        except (OSError, PlantDeskError) as error:
            title = self.tr("The start at login could not be changed")
            self._bar.show_state(BarKind.ERROR, title, getattr(error, "strerror", None) or str(error))
        self.look()
