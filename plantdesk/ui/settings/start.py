"""The rows about how PlantDesk starts, and what is left of it when its window is closed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QPushButton, QSystemTrayIcon

from plantdesk.domain.errors import PlantDeskError
from plantdesk.platform import login
from plantdesk.ui.settings.rows import SettingRow
from plantdesk.ui.texts import error_text
from plantdesk.ui.widgets.fields import CopyButton

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext

#: Milliseconds between two looks for a tray.
_WATCH = 1000
_log = logging.getLogger(__name__)


class StartRows(QObject):
    """`manual_requested(page, heading)`: the manual says how to bind a key."""

    manual_requested = Signal(str, str)

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences = context.preferences
        self._login_box = QCheckBox(self.tr("&Start PlantDesk without its window"))
        self._login_box.clicked.connect(self._switch_login)
        self._login = SettingRow(context.theme, self.tr("At login"), self._login_box, words=self.tr("autostart"))
        self._tray_box = QCheckBox(self.tr("Keep &running when the window is closed"))
        self._tray_box.clicked.connect(lambda on: self._preferences.change(keep_in_tray=on, tray_answered=True))
        self._tray = SettingRow(
            context.theme, self.tr("Tray"), self._tray_box, hint=" ", words=self.tr("background notification area")
        )
        command = login.quick_command()
        copy = CopyButton(context.theme, self.tr("Copy {command}").format(command="plantdesk quick"))
        copy.set_content(command)
        how = QPushButton(self.tr("How to bind a key"))
        how.clicked.connect(lambda: self.manual_requested.emit("window", "quick entry"))
        hint = self.tr("A small window for one plant.")
        quick = SettingRow(
            context.theme, self.tr("Quick entry"), copy, how, hint=hint, words=self.tr("shortcut hotkey keyboard")
        )
        self._watch = QTimer(self, interval=_WATCH)  # Qt does not report it
        self._watch.timeout.connect(self._follow_tray)
        #: All of them, in their order.
        self.rows = [self._login, self._tray, quick]

    def follow(self) -> None:
        """Show what is set now, and whether there is a tray."""
        try:
            self._login_box.setChecked(login.login_item().is_on())
        except (OSError, PlantDeskError) as error:
            _log.warning("Whether PlantDesk starts at login cannot be read: %s", error)
            self._login_box.setChecked(False)
        self._tray_box.setChecked(self._preferences.settings.keep_in_tray)
        self._follow_tray()
        self._watch.start()

    @Slot()
    def _follow_tray(self) -> None:
        """A tray may come and go while the settings are open."""
        if not self._tray_box.window().isVisible():
            self._watch.stop()
        has_tray = QSystemTrayIcon.isSystemTrayAvailable()
        self._tray_box.setEnabled(has_tray)
        self._tray.set_hint("" if has_tray else self.tr("This desktop has no tray."))

    @Slot(bool)
    def _switch_login(self, on: bool) -> None:
        self._login.show_error("")
        try:
            login.switch_login(on=on)
        except (OSError, PlantDeskError) as error:
            text = self.tr("The start at login could not be changed. {reason}")
            self._login.show_error(text.format(reason=error_text(error)))
        self.follow()
