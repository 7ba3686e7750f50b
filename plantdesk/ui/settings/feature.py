"""The settings dialog, its command, and a command for each row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.feature import Feature, WindowContext
from plantdesk.ui.menus import Command, Section
from plantdesk.ui.qt import STRETCH, bring_to_front, fill, make_separator_line
from plantdesk.ui.settings.layout import SettingCommands, SettingRow, SettingsSection, fit_rows
from plantdesk.ui.theme.metrics import EDGE, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ReservedScrollBar, ScrollArea
from plantdesk.ui.widgets.dialog import ButtonRole, Dialog
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.settings.rows import SettingRows


#: For text of 13 px.
_WIDTH = 640
_HEIGHT = 640


class SettingsDialog(Dialog):
    """The non-modal dialog with all settings on one page. Each change applies at once."""

    def __init__(self, theme: Theme, sections: Sequence[SettingsSection], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Settings"), parent)
        self.setModal(False)
        self._theme = theme
        self._rows = [row for section in sections for row in section.rows]
        text = self.tr("These settings last until PlantDesk is closed: their file cannot be written.")
        self._unsaved_label = PlainLabel(text, tone="warning", wrapped=True)
        self._unsaved_label.setContentsMargins(EDGE, L, EDGE, 0)
        self._unsaved_label.hide()
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        page = QWidget()
        fill(QVBoxLayout(page), *sections, STRETCH, margins=(EDGE, L, S, 0), spacing=0)
        self._area = ScrollArea(page, horizontal=False)
        ReservedScrollBar(self._area)
        note = PlainLabel(self.tr("Changes apply at once."), tone="muted")
        foot = fill(QHBoxLayout(), note, STRETCH, self.buttons, margins=(EDGE, M, EDGE, M))
        fill(QVBoxLayout(self), self._unsaved_label, (self._area, 1), make_separator_line(), foot, margins=0, spacing=0)
        theme.changed.connect(self._align_rows)
        self._align_rows()
        self.resize_to_fit(QSize(theme.metrics.scaled(_WIDTH), theme.metrics.scaled(_HEIGHT)))
        self._rows[0].focus_target.setFocus()

    def show_saved(self, *, are_saved: bool) -> None:
        """Show a warning while the settings cannot be saved."""
        self._unsaved_label.setVisible(not are_saved)

    def focus_row(self, row: SettingRow) -> None:
        """Scroll to a row, and move the focus to its first control."""
        row.focus_target.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._area.ensureWidgetVisible(row)

    @Slot()
    def _align_rows(self) -> None:
        fit_rows(self._rows, self._theme)


class SettingsFeature(Feature):
    """The command that opens the settings dialog, and the commands that open it at one setting."""

    def __init__(self, context: WindowContext, server: ApiControl, commands: SettingCommands) -> None:
        super().__init__(context)
        self._server = server
        self._other_commands = commands
        self._cached_commands: list[Command] = []
        self._dialog: SettingsDialog | None = None
        self._rows: SettingRows | None = None
        context.preferences.changed.connect(self._show_saved)
        command = context.menus.add(Section.EDIT_SETTINGS, self.tr("Sett&ings…"), self.open_dialog, "Ctrl+,")
        command.setMenuRole(QAction.MenuRole.PreferencesRole)
        context.menus.extra_commands = self._make_commands

    @override
    def release_store(self) -> None:
        if self._dialog is not None:
            self._dialog.close()

    @Slot()
    def open_dialog(self) -> SettingsDialog:
        """Open the dialog or raise it, and return it."""
        if self._dialog is None:
            self._dialog, self._rows = dialog, _ = self._make_dialog()
            dialog.finished.connect(self._on_closed)
            self._show_saved()
        bring_to_front(self._dialog)
        return self._dialog

    def _make_dialog(self) -> tuple[SettingsDialog, SettingRows]:
        from plantdesk.ui.settings.rows import SettingRows

        rows = SettingRows(self.context, self._server, self._other_commands)
        dialog = SettingsDialog(self.context.theme, rows.sections, self.context.page)
        rows.setParent(dialog)
        return dialog, rows

    def _make_commands(self) -> list[Command]:
        """Return a command for each setting. It opens the dialog at the row of the setting."""
        if not self._cached_commands:
            dialog, rows = self._make_dialog()
            for section_index, section in enumerate(rows.sections):
                for row_index, row in enumerate(section.rows):
                    action = QAction(self)
                    title = f"{dialog.windowTitle()}: {section.title}: {row.label}"
                    action.triggered.connect(partial(self._open_at, section_index, row_index))
                    self._cached_commands.append(Command(title, action, row.words))
            dialog.deleteLater()
        return self._cached_commands

    def _open_at(self, section: int, row: int) -> None:
        dialog = self.open_dialog()
        if self._rows is not None:
            dialog.focus_row(self._rows.sections[section].rows[row])

    @Slot()
    def show_last_backup(self) -> None:
        """Read the time of the last backup again, if the dialog is open."""
        if self._rows is not None:
            self._rows.backups.show_last()

    @Slot()
    def _show_saved(self) -> None:
        if self._dialog is not None:
            self._dialog.show_saved(are_saved=self.context.preferences.are_saved)

    @Slot()
    def _on_closed(self) -> None:
        self._dialog = self._rows = None

    @Slot()
    def open_at_port(self) -> None:
        """Open the dialog with the focus on the port."""
        dialog = self.open_dialog()
        if self._rows is not None:
            dialog.focus_row(self._rows.port_row)
