"""The command for the settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from typing_extensions import override

from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Command, Section
from plantdesk.ui.qt import bring_to_front

if TYPE_CHECKING:
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.settings.dialog import SettingsDialog
    from plantdesk.ui.settings.page import EntrySwitches, ServerSettings, SettingRows


class SettingsPage(Feature):
    """Opens the settings.

    `api_access_requested`, `backup_requested`: the buttons beside the settings of these.
    `manual_requested(page, heading)`: the button for quick entry.
    """

    api_access_requested = Signal()
    backup_requested = Signal()
    manual_requested = Signal(str, str)

    def __init__(self, context: WindowContext, server: ServerSettings, switches: EntrySwitches) -> None:
        super().__init__(context)
        self._server, self._switches = server, switches
        self._found: list[Command] = []
        self._dialog: SettingsDialog | None = None
        self._rows: SettingRows | None = None
        context.preferences.changed.connect(self._show_saved)
        command = context.menus.add(Section.EDIT_SETTINGS, self.tr("Sett&ings…"), self.open_dialog, "Ctrl+,")
        command.setMenuRole(QAction.MenuRole.PreferencesRole)
        context.menus.others = self._commands

    @override
    def release_store(self) -> None:
        if self._dialog is not None:
            self._dialog.close()

    @Slot()
    def open_dialog(self) -> SettingsDialog:
        """Open the dialog, or bring it to the front."""
        if self._dialog is None:
            dialog, rows = self._dialog, self._rows = self._made()
            rows.api_access_requested.connect(self.api_access_requested)
            rows.backup_requested.connect(self.backup_requested)
            rows.manual_requested.connect(self.manual_requested)
            dialog.closed.connect(self._forget)
            self._show_saved()
        bring_to_front(self._dialog)
        return self._dialog

    def _made(self) -> tuple[SettingsDialog, SettingRows]:
        from plantdesk.ui.settings.dialog import SettingsDialog
        from plantdesk.ui.settings.page import SettingRows

        rows = SettingRows(self.context, self._server, self._switches)
        dialog = SettingsDialog(self.context.theme, rows.sections, self.context.page)
        rows.setParent(dialog)
        return dialog, rows

    def _commands(self) -> list[Command]:
        """Return a command for each setting, which opens the dialog there."""
        if not self._found:
            dialog, rows = self._made()
            for place, section in enumerate(rows.sections):
                for number, row in enumerate(section.rows):
                    action, title = QAction(self), f"{dialog.windowTitle()}: {section.title}: {row.label}"
                    action.triggered.connect(partial(self._open_at, place, number))
                    self._found.append(Command(title, action, row.words))
            dialog.deleteLater()
        return self._found

    def _open_at(self, section: int, row: int) -> None:
        dialog = self.open_dialog()
        if self._rows is not None:
            dialog.focus_row(self._rows.sections[section].rows[row])

    @Slot()
    def show_last_backup(self) -> None:
        """Show the last backup, where the dialog is open."""
        if self._rows is not None:
            self._rows.backups.show_last()

    @Slot()
    def _show_saved(self) -> None:
        if self._dialog is not None:
            self._dialog.show_saved(are_saved=self.context.preferences.are_saved)

    @Slot()
    def _forget(self) -> None:
        self._dialog = self._rows = None

    @Slot()
    def open_at_port(self) -> None:
        """Open the dialog with the cursor in the port."""
        dialog = self.open_dialog()
        if self._rows is not None:
            dialog.focus_row(self._rows.port)
