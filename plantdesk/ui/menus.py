"""The menu bar: every command of the window, once, with its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from plantdesk.ui.edit_commands import EditCommands
from plantdesk.ui.theme.theme import ThemeMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QMenu, QMenuBar

Key = QKeySequence.StandardKey


class Menus(QObject):
    """Builds the menus and signals what was chosen. The keys are those of `actions`.

    `login` and `updates` are switches that others connect.
    """

    new_plant_wanted = Signal()
    api_access_wanted = Signal()
    backup_wanted = Signal()
    restore_wanted = Signal()
    close_wanted = Signal()
    quit_wanted = Signal()
    find_wanted = Signal()
    order_wanted = Signal(str)
    compact_wanted = Signal(bool)
    keep_tag_wanted = Signal(bool)
    top_wanted = Signal()
    theme_wanted = Signal(str)
    larger_wanted = Signal()
    smaller_wanted = Signal()
    normal_size_wanted = Signal()
    api_switched = Signal(bool)
    copy_address_wanted = Signal()
    copy_example_wanted = Signal()
    shortcuts_wanted = Signal()
    data_folder_wanted = Signal()
    about_wanted = Signal()
    tools_opened = Signal()

    def __init__(self, bar: QMenuBar, theme: ThemeMode, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bar = bar
        self._actions: list[QAction] = []
        self._build_file()
        self._build_edit()
        self._build_view(theme)
        self._build_tools()
        self._build_help()

    @property
    def actions(self) -> list[QAction]:
        """All commands, in the order of the menus."""
        return self._actions

    def show_order(self, order: str) -> None:
        """Tick the order in which the plants are shown; none when it is not one of the menu's."""
        for action in self._orders.actions():
            action.setChecked(action.data() == order)

    def show_server(self, *, on: bool) -> None:
        """Tick whether the API is on; only then there is an address to copy."""
        self._api_action.setChecked(on)
        self._address_action.setEnabled(on)

    # --- menus ---

    def _build_file(self) -> None:
        menu = self._menu(self.tr("&File"))
        self._add(menu, self.tr("&New plant"), self.new_plant_wanted, Key.New)
        menu.addSeparator()
        self._add(menu, self.tr("&API access…"), self.api_access_wanted, "Ctrl+Shift+A")
        menu.addSeparator()
        self._add(menu, self.tr("&Back up now"), self.backup_wanted)
        self._add(menu, self.tr("&Restore…"), self.restore_wanted)
        menu.addSeparator()
        self._add(menu, self.tr("&Close window"), self.close_wanted, Key.Close)
        leave = self._add(menu, self.tr("&Quit"), self.quit_wanted, "Ctrl+Q")
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    def _build_edit(self) -> None:
        menu = self._menu(self.tr("&Edit"))
        commands = (
            (self.tr("Cu&t"), "cut", Key.Cut),
            (self.tr("&Copy"), "copy", Key.Copy),
            (self.tr("&Paste"), "paste", Key.Paste),
            (self.tr("Select &all"), "selectAll", Key.SelectAll),
        )
        actions = [self._add(menu, text, self._ignore, key) for text, _, key in commands]
        for action, (_, name, _) in zip(actions, commands, strict=True):
            action.setData(name)
        EditCommands(menu, actions)
        menu.addSeparator()
        self._add(menu, self.tr("&Find"), self.find_wanted, Key.Find)

    def _build_view(self, theme: ThemeMode) -> None:
        menu = self._menu(self.tr("&View"))
        orders = ((self.tr("Ne&west first"), "added"), (self.tr("By &name"), "name"), (self.tr("By &ID"), "id"))
        self._orders = self._choices(menu, orders, self._on_order)
        self.show_order("added")
        menu.addSeparator()
        self._add_switch(menu, self.tr("&Compact rows"), self.compact_wanted)
        self._add_switch(menu, self.tr("&Keep tag for the next plant"), self.keep_tag_wanted)
        self._add(menu, self.tr("New &plants (top of the list)"), self.top_wanted, "Ctrl+Home")
        menu.addSeparator()
        themes = menu.addMenu(self.tr("&Theme"))
        modes = (
            (self.tr("&System"), ThemeMode.SYSTEM.value),
            (self.tr("&Light"), ThemeMode.LIGHT.value),
            (self.tr("&Dark"), ThemeMode.DARK.value),
        )
        for action in self._choices(themes, modes, self._on_theme).actions():
            action.setChecked(action.data() == theme.value)
        self._add(menu, self.tr("&Larger text"), self.larger_wanted, Key.ZoomIn, "Ctrl+=")
        self._add(menu, self.tr("S&maller text"), self.smaller_wanted, Key.ZoomOut)
        self._add(menu, self.tr("N&ormal text"), self.normal_size_wanted, "Ctrl+0")

    def _build_tools(self) -> None:
        menu = self._menu(self.tr("&Tools"))
        self._api_action = self._add_switch(menu, self.tr("&API on"), self.api_switched)
        self._address_action = self._add(menu, self.tr("Copy API a&ddress"), self.copy_address_wanted)
        self._add(menu, self.tr("Copy &example command"), self.copy_example_wanted)
        menu.addSeparator()
        self.login = self._add_switch(menu, self.tr("&Start at login"))
        menu.aboutToShow.connect(self.tools_opened)

    def _build_help(self) -> None:
        menu = self._menu(self.tr("&Help"))
        self._add(menu, self.tr("&Keyboard shortcuts"), self.shortcuts_wanted, "Ctrl+/", "F1")
        self._add(menu, self.tr("Open &data folder"), self.data_folder_wanted)
        self.updates = self._add_switch(menu, self.tr("&Tell me about new versions"))
        about = self._add(menu, self.tr("&About PlantDesk"), self.about_wanted)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    # --- inside ---

    def _menu(self, title: str) -> QMenu:
        return self._bar.addMenu(title)

    def _add(self, menu: QMenu, text: str, wanted: SignalInstance | Callable[[], object], *keys: Key | str) -> QAction:
        action = QAction(text, self)
        # Never by the text of a translation: macOS moves only those with a role.
        action.setMenuRole(QAction.MenuRole.NoRole)
        action.setShortcuts([sequence for key in keys for sequence in _sequences(key)])
        action.triggered.connect(wanted)
        menu.addAction(action)
        self._actions.append(action)
        return action

    def _add_switch(self, menu: QMenu, text: str, switched: SignalInstance | None = None) -> QAction:
        action = self._add(menu, text, self._ignore)
        action.setCheckable(True)
        if switched is not None:
            action.triggered.connect(switched)
        return action

    def _choices(self, menu: QMenu, choices: tuple[tuple[str, str], ...], chosen: Callable[[], object]) -> QActionGroup:
        group = QActionGroup(self)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        for text, data in choices:
            action = self._add(menu, text, chosen)
            action.setCheckable(True)
            action.setData(data)
            group.addAction(action)
        return group

    @Slot()
    def _ignore(self) -> None:
        """Leave it to another slot of the action."""

    @Slot()
    def _on_order(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            action.setChecked(True)
            self.order_wanted.emit(action.data())

    @Slot()
    def _on_theme(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            action.setChecked(True)
            self.theme_wanted.emit(action.data())


def _sequences(key: Key | str) -> list[QKeySequence]:
    return [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
