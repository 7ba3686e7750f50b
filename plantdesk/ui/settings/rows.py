"""The rows of the settings dialog. Each shows a setting, and changes it at once."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QPushButton, QSpinBox, QSystemTrayIcon
from shiboken6 import isValid

from plantdesk import LARGEST_PORT, __version__
from plantdesk.domain.backups import Backup, BackupKind, StoreBackups
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.server_state import Failed, Off, On, ServerState
from plantdesk.domain.texts import Text
from plantdesk.platform import languages, login
from plantdesk.platform.settings import MAX_BACKUPS, ThemeMode
from plantdesk.transfer.known_names import KnownNames, NamesListInfo
from plantdesk.ui import translation
from plantdesk.ui.api_control import ApiControl
from plantdesk.ui.background import Task, ignore
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.qt import set_properties
from plantdesk.ui.settings.layout import SettingCommands, SettingRow, SettingsSection
from plantdesk.ui.texts import error_text, long_time, size_text, translated
from plantdesk.ui.widgets.buttons import CopyButton, make_text_button
from plantdesk.ui.widgets.dialog import FileDialog
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, make_spin_box
from plantdesk.ui.widgets.plain_text import PlainLabel

_log = logging.getLogger(__name__)
#: For text of 13 px.
_PORT_WIDTH = 96
_COMBO_WIDTH = 220
_SCALE_WIDTH = 72


class BackupRows(QObject):
    """The rows about backups, and a row that opens the folder of the store."""

    def __init__(self, context: WindowContext, back_up: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._theme = context.theme
        self._back_up = back_up
        self._open_file = context.page.toast.open_file
        location = context.location
        self.rows = self._make_rows(location.backups)
        context.preferences.changed.connect(self._show_settings)
        self._show_settings()
        self.show_last()
        if location.folder is not None:
            show = make_text_button(self.tr("Show folder"), partial(self._open_file, location.folder))
            self.rows.append(SettingRow(self._theme, self.tr("Plants"), show, hint=str(location.folder)))

    @Slot()
    def show_last(self) -> None:
        """List the backups on another thread; then show the time and the size of the last one."""
        backups = self._context.location.backups
        self._context.bridge.long_tasks.run(self, lambda _task: backups.newest_first(), self._on_listed, ignore)

    def _make_rows(self, backups: StoreBackups) -> list[SettingRow]:
        """Return the rows about folder, interval and number of backups, and the last one."""
        choose = make_text_button(self.tr("Change…"), self._choose)
        show = make_text_button(self.tr("Show backups"), self._open_folder)
        self._folder_row = SettingRow(self._theme, self.tr("Folder"), choose, hint=" ", words=self.tr("drive disk"))
        intervals = [(self.tr("Day"), "day"), (self.tr("Week"), "week"), (self.tr("Never"), "never")]
        if not backups.is_shared:
            intervals.insert(0, (self.tr("Hour"), "hour"))
        self._interval_box = ComboBox("", intervals)
        change = self._context.preferences.change
        self._interval_box.activated.connect(lambda _index: change(backup_every=self._interval_box.currentData()))
        hint = self.tr("When plants have changed.")
        self._count_box = make_spin_box(QSpinBox)
        self._count_box.setRange(1, MAX_BACKUPS)
        self._count_box.setKeyboardTracking(False)
        self._count_box.valueChanged.connect(lambda count: change(backup_count=count))
        self._keep_row = SettingRow(self._theme, self.tr("Keep"), self._count_box, hint=" ", words=self.tr("number"))
        make = make_text_button(self.tr("Back up now"), self._back_up)
        self._last_row = SettingRow(self._theme, self.tr("Last one"), make, show, hint=" ")
        interval_row = SettingRow(
            self._theme, self.tr("Every"), self._interval_box, hint=hint, words=self.tr("how often interval")
        )
        return [self._folder_row, interval_row, self._keep_row, self._last_row]

    @Slot()
    def _show_settings(self) -> None:
        settings = self._context.preferences.settings
        backups = self._context.location.backups
        self._folder_row.set_hint(str(backups.folder))
        self._interval_box.setCurrentIndex(max(0, self._interval_box.findData(settings.backup_every)))
        if self._count_box.value() != settings.backup_count:
            self._count_box.setValue(settings.backup_count)

    def _on_listed(self, backups: Sequence[Backup]) -> None:
        self._last_row.set_hint(long_time(backups[0].made_at) if backups else self.tr("None yet."))
        size = next((backup.size for backup in backups if backup.kind is not BackupKind.DAMAGED), None)
        oldest = self.tr("The oldest goes first. Those that you make stay.")
        suffix = "" if size is None else " " + self.tr("{size} each.").format(size=size_text(size))
        self._keep_row.set_hint(oldest + suffix)

    @Slot()
    def _choose(self) -> None:
        """Let the user choose a folder for backups. Choosing the folder of the plants restores the default."""
        backups = self._context.location.backups
        name = FileDialog.get_existing_folder(
            self._folder_row, self.tr("Choose a folder for backups"), str(backups.folder.parent)
        )
        if name:
            is_default = Path(name) == self._context.location.folder
            self._folder_row.show_error("")
            done = partial(self._use_folder, "" if is_default else name)
            self._context.bridge.long_tasks.run(self, partial(_check_writable, Path(name)), done, self._on_unusable)

    def _use_folder(self, name: str, _nothing: None) -> None:
        self._context.preferences.change(backup_folder=name)
        self.show_last()

    def _on_unusable(self, _error: Exception) -> None:
        self._folder_row.show_error(self.tr("This folder cannot be written to."))

    @Slot()
    def _open_folder(self) -> None:
        backups = self._context.location.backups
        self._open_file(backups.folder if backups.folder.is_dir() else backups.folder.parent)


def _check_writable(folder: Path, _task: Task) -> None:
    """Raise OSError if a folder cannot be written to."""
    with tempfile.TemporaryFile(dir=folder):
        return


class SettingRows(QObject):
    """Makes the rows of all sections, and keeps them up to date with settings, theme and server."""

    def __init__(self, context: WindowContext, server: ApiControl, commands: SettingCommands) -> None:
        super().__init__(context.page)
        self._context = context
        self._server = server
        self._commands = commands
        self._preferences = context.preferences
        self._updaters: list[Callable[[], None]] = []
        #: The rows about backups.
        self.backups = BackupRows(context, commands.back_up, self)
        appearance = self._make_appearance_rows()
        entry = self._make_entry_rows()
        api = self._make_api_rows()
        start = StartRows(context, partial(commands.show_manual, "window", "quick entry"), self)
        self._updaters.append(start.show_settings)
        self.sections = [
            SettingsSection(self.tr("Appearance"), appearance),
            SettingsSection(self.tr("Entry"), entry),
            SettingsSection(self.tr("API"), api),
            SettingsSection(self.tr("Start"), start.rows),
            SettingsSection(self.tr("Backups"), self.backups.rows),
            SettingsSection(self.tr("Updates"), self._make_update_rows()),
        ]
        self._preferences.changed.connect(self._show_settings)
        context.theme.changed.connect(self._show_settings)
        context.bridge.server_changed.connect(self._show_server)
        self._show_settings()
        self._show_server(server.state)

    @Slot()
    def _show_settings(self) -> None:
        for show in self._updaters:
            show()

    def _make_appearance_rows(self) -> list[SettingRow]:
        theme = self._context.theme
        change = self._preferences.change
        modes = [(self.tr("As the system"), "system"), (self.tr("Light"), "light"), (self.tr("Dark"), "dark")]
        mode = self._make_choice_box(modes, lambda: self._preferences.settings.theme, lambda value: change(theme=value))
        names = sorted((translation.name_of(code), code) for code in languages.available())
        in_qt = [(name, code) for name, code in names if name]  # without languages that Qt does not know
        known = [(self.tr("As the system"), ""), *in_qt]
        language = self._make_choice_box(
            known, lambda: self._preferences.settings.language, lambda value: change(language=value)
        )
        heights = [(self.tr("Comfortable"), ""), (self.tr("Compact"), "compact")]
        compact = self._commands.compact_rows
        rows = self._make_choice_box(
            heights,
            lambda: "compact" if compact.isChecked() else "",
            lambda value: _set_checked(compact, on=bool(value)),
        )
        compact.toggled.connect(self._show_settings)
        theme_row = SettingRow(theme, self.tr("Theme"), mode, hint=" ", words=self.tr("colors dark night"))

        def show_theme() -> None:
            is_followed = theme.mode is ThemeMode.SYSTEM
            present = self.tr("Dark at present.") if theme.colors.is_dark else self.tr("Light at present.")
            theme_row.set_hint(present if is_followed else "")

        self._updaters.append(show_theme)
        return [
            theme_row,
            self._make_text_size_row(),
            SettingRow(theme, self.tr("Rows"), rows, words=self.tr("height density")),
            SettingRow(theme, self.tr("Language"), language, hint=self.tr("From the next start.")),
        ]

    def _make_text_size_row(self) -> SettingRow:
        theme = self._context.theme
        value = PlainLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        smaller = QPushButton("\u2212")
        larger = QPushButton("+")
        for button, name, steps in ((smaller, self.tr("Smaller"), -1), (larger, self.tr("Larger"), 1)):
            button.setAccessibleName(name)
            button.clicked.connect(partial(self._preferences.scale_text, steps))
        value.setFixedWidth(theme.metrics.scaled(_SCALE_WIDTH))

        def show_scale() -> None:
            value.setText(f"{self._preferences.settings.text_scale:.0%}")

        self._updaters.append(show_scale)
        hint = self.tr("Ctrl and +, −, 0 do the same.")
        words = self.tr("font zoom")
        return SettingRow(theme, self.tr("Text size"), smaller, value, larger, hint=hint, words=words)

    def _make_entry_rows(self) -> list[SettingRow]:
        theme = self._context.theme
        command = self._commands.keep_tag
        keep = QCheckBox(self.tr("&Keep the tag for the next plant"))
        self._updaters.append(lambda: keep.setChecked(command.isChecked()))
        keep.clicked.connect(lambda on: _set_checked(command, on=on))
        command.toggled.connect(self._show_settings)
        offers = self._make_names_row()
        enter = self._make_choice_box(
            [(self.tr("Adds the plant"), ""), (self.tr("Goes to Tag"), "tag")],
            lambda: "tag" if self._preferences.settings.enter_goes_to_tag else "",
            lambda value: self._preferences.change(enter_goes_to_tag=bool(value)),
        )
        hint = self.tr("When it is pressed in Name.")
        return [
            offers,
            SettingRow(theme, self.tr("Tag"), keep),
            SettingRow(theme, self.tr("Enter key"), enter, hint=hint),
        ]

    def _make_names_row(self) -> SettingRow:
        """Return the row of the list of known names; the number of names is read in the background."""
        box = QCheckBox(self.tr("&Offer known names from a list"))
        row = SettingRow(self._context.theme, self.tr("Name"), box, hint=" ")
        self._updaters.append(lambda: box.setChecked(self._preferences.settings.offers_known_names))
        box.clicked.connect(lambda on: self._preferences.change(offers_known_names=on))

        def show_list(about: NamesListInfo | None) -> None:
            names = Text("{count:,} names", one="1 name", count=0 if about is None else about.names)
            row.set_hint(translated(names) if about is not None else self.tr("There is none yet: Tools > Known names…"))

        file = self._context.location.names_file
        self._context.bridge.short_tasks.run(self, lambda _task: KnownNames(file).info(), show_list)
        return row

    def _make_api_rows(self) -> list[SettingRow]:
        theme = self._context.theme
        self._on_box = QCheckBox(self.tr("&Accept plants from programs on this computer"))
        self._on_box.clicked.connect(self._switch_api)
        self._port_edit = LineEdit(max_length=5)
        self._port_edit.setFixedWidth(theme.metrics.scaled(_PORT_WIDTH))
        self._port_edit.editingFinished.connect(self._use_port)
        #: The row of the port.
        self.port_row = SettingRow(theme, self.tr("Port"), self._port_edit, hint=" ")
        access = QPushButton(self.tr("API access…"))
        access.clicked.connect(self._commands.open_api_access)
        return [
            SettingRow(theme, self.tr("Other programs"), self._on_box),
            self.port_row,
            SettingRow(theme, self.tr("Tokens"), access, hint=self.tr("Tokens, the last requests and examples.")),
        ]

    @Slot(object)
    def _show_server(self, state: ServerState) -> None:
        self._on_box.setChecked(not isinstance(state, Off))
        if not self._port_edit.isModified():  # else what the user is typing stays
            port = getattr(state, "port", None)  # while a server changes its port, it has none
            self._port_edit.setText(str(port or self._port_edit.text() or self._server.port))
        self.port_row.set_hint(f"{state.url}/plants" if isinstance(state, On) else "")
        self.port_row.show_error(error_text(state.error) if isinstance(state, Failed) else "")

    @Slot(bool)
    def _switch_api(self, is_on: bool) -> None:
        self._server.set_on(is_on=is_on)
        self._show_server(self._server.state)  # the click has toggled the box, whatever the result

    @Slot()
    def _use_port(self) -> None:
        """Serve on the typed port if it is a valid number; otherwise show why not."""
        if not self._port_edit.isModified():
            return
        text = self._port_edit.text().strip()
        is_valid = text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_PORT
        set_properties(self._port_edit, invalid=not is_valid)
        if not is_valid:
            self.port_row.show_error(self.tr("A port is a whole number from 1 to 65535."))
            return
        self._port_edit.setModified(False)
        self._server.set_port(int(text), self._on_port_refused)
        if not isinstance(self._server.state, On):
            self._show_server(self._server.state)

    def _on_port_refused(self, error: Exception) -> None:
        if isValid(self):  # the dialog may have been closed meanwhile
            stays = self.tr("{reason} The API stays on port {port}.")
            port = getattr(self._server.state, "port", self._server.port)
            self.port_row.show_error(stays.format(reason=error_text(error), port=port))

    def _make_update_rows(self) -> list[SettingRow]:
        box = QCheckBox(self.tr("&Check once a day; nothing is installed"))
        self._updaters.append(lambda: box.setChecked(self._preferences.settings.ask_for_updates))
        box.clicked.connect(lambda on: self._preferences.change(ask_for_updates=on))
        hint = self.tr("You have {version}.").format(version=__version__)
        return [SettingRow(self._context.theme, self.tr("New versions"), box, hint=hint)]

    def _make_choice_box(
        self, choices: Sequence[tuple[str, str]], value: Callable[[], str], change: Callable[[str], object]
    ) -> ComboBox:
        box = ComboBox("", choices)
        box.setMinimumWidth(self._context.theme.metrics.scaled(_COMBO_WIDTH))
        self._updaters.append(lambda: box.setCurrentIndex(max(0, box.findData(value()))))
        box.activated.connect(lambda _index: change(box.currentData()))
        return box


def _set_checked(command: QAction, *, on: bool) -> None:
    """Trigger a checkable command unless it has this state, so that its slot is called as for a click."""
    if command.isChecked() is not on:
        command.trigger()


class StartRows(QObject):
    """The rows about start at login, the tray icon, and the quick entry."""

    def __init__(self, context: WindowContext, show_manual: Callable[[], object], parent: QObject) -> None:
        """`show_manual` opens the manual at the quick entry."""
        super().__init__(parent)
        self._preferences = context.preferences
        self._login_box = QCheckBox(self.tr("&Start PlantDesk without its window"))
        self._login_box.clicked.connect(self._switch_login)
        self._login_row = SettingRow(context.theme, self.tr("At login"), self._login_box, words=self.tr("autostart"))
        self._tray_box = QCheckBox(self.tr("Keep &running when the window is closed"))
        self._tray_box.clicked.connect(lambda on: self._preferences.change(keep_in_tray=on, tray_answered=True))
        self._tray_row = SettingRow(
            context.theme, self.tr("Tray"), self._tray_box, hint=" ", words=self.tr("background notification area")
        )
        command = login.quick_command()
        copy = CopyButton(context.theme, self.tr("Copy {command}").format(command="plantdesk quick"))
        copy.set_content(command)
        button = QPushButton(self.tr("How to bind a key"))
        button.clicked.connect(show_manual)
        hint = self.tr("A small window for one plant.")
        quick = SettingRow(
            context.theme, self.tr("Quick entry"), copy, button, hint=hint, words=self.tr("shortcut hotkey keyboard")
        )
        #: All rows, in their order.
        self.rows = [self._login_row, self._tray_row, quick]

    def show_settings(self) -> None:
        """Show the settings of login and tray, and whether the desktop has a tray."""
        try:
            self._login_box.setChecked(login.login_item().is_on())
        except (OSError, PlantDeskError) as error:
            _log.warning("Whether PlantDesk starts at login cannot be read: %s", error)
            self._login_box.setChecked(False)
        self._tray_box.setChecked(self._preferences.settings.keep_in_tray)
        has_tray = QSystemTrayIcon.isSystemTrayAvailable()
        self._tray_box.setEnabled(has_tray)
        self._tray_row.set_hint("" if has_tray else self.tr("This desktop has no tray."))

    @Slot(bool)
    def _switch_login(self, on: bool) -> None:
        self._login_row.show_error("")
        try:
            login.set_start_at_login(on=on)
        except (OSError, PlantDeskError) as error:
            text = self.tr("The start at login could not be changed. {reason}")
            self._login_row.show_error(text.format(reason=error_text(error)))
        self.show_settings()
