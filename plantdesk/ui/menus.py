"""The menu bar: features add commands to its sections, or commands that have only a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from PySide6.QtCore import QKeyCombination, QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from plantdesk.ui.texts import translate

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

    Handler: TypeAlias = Callable[..., object]

Key = QKeySequence.StandardKey
_CONTROL = Qt.KeyboardModifier.ControlModifier
#: Keys of the commands for the selected plants, except Delete: “Edit name”, “Edit tag”, “Duplicate plant”.
ROW_KEYS = [
    QKeyCombination(Qt.Key.Key_F2),
    QKeyCombination(_CONTROL, Qt.Key.Key_T),
    QKeyCombination(_CONTROL, Qt.Key.Key_D),
]


def key_text(key: QKeySequence.StandardKey) -> str:
    """Return the first key sequence of a standard key in the notation of the platform."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


class Section(Enum):
    """The sections of the menus. Commands of a section are in the order in which they were added."""

    FILE_PLANTS = auto()
    FILE_IMPORT = auto()
    FILE_EXPORT = auto()
    FILE_API = auto()
    FILE_OPEN = auto()
    FILE_STORE = auto()
    FILE_RECENT = auto()
    FILE_BACKUPS = auto()
    FILE_WINDOW = auto()
    EDIT_UNDO = auto()
    EDIT_CLIPBOARD = auto()
    EDIT_COPIES = auto()
    EDIT_PLANTS = auto()
    EDIT_FIND = auto()
    EDIT_HISTORY = auto()
    EDIT_SETTINGS = auto()
    VIEW_PANES = auto()
    VIEW_ORDER = auto()
    VIEW_PLANTS = auto()
    VIEW_COLUMNS = auto()
    VIEW_APPEARANCE = auto()
    TOOLS_PLANTS = auto()
    TOOLS_API = auto()
    HELP = auto()
    HELP_ABOUT = auto()


#: Sections whose commands are disabled while the store cannot be reached.
_STORE_SECTIONS = (
    Section.FILE_IMPORT,
    Section.FILE_EXPORT,
    Section.EDIT_UNDO,
    Section.EDIT_PLANTS,
    Section.EDIT_FIND,
    Section.EDIT_HISTORY,
    Section.TOOLS_PLANTS,
)


class Command(NamedTuple):
    """An entry of “Find a command”, also found by `words`. The text begins with the title of a submenu."""

    text: str
    action: QAction
    words: str = ""


class Menus(QObject):
    """Fills a menu bar with commands: actions with a slot. Their keys work in the whole window.

    A command that is not `in_menu` is only in context menus and in “Find a command”, and may have a key.
    """

    def __init__(self, bar: QMenuBar) -> None:
        super().__init__(bar)
        self._window = bar.window()
        #: Returns commands that are only in “Find a command”.
        self.extra_commands: Callable[[], list[Command]] = list
        self._submenu_titles: dict[QAction, str] = {}
        self._search_words: dict[QAction, str] = {}
        #: The menu of each section, and the hidden separator after its last command.
        self._section_ends: dict[Section, tuple[QMenu, QAction]] = {}
        self._actions: dict[Section, list[QAction]] = {section: [] for section in Section}
        self._store_groups = {section: QActionGroup(self) for section in _STORE_SECTIONS}
        for group in self._store_groups.values():
            group.setExclusionPolicy(QActionGroup.ExclusionPolicy.None_)
        for title, groups in _make_menu_layout():
            self._fill_menu(bar.addMenu(title), groups)

    @property
    def actions(self) -> list[QAction]:
        """All commands, in the order of the menus."""
        return [action for section in Section for action in self._actions[section]]

    def commands(self) -> list[Command]:
        """Let the menus update their commands, and return the visible ones and the extra ones."""
        for section in Section:
            self._update_section(section)
        commands = []
        for action in self.actions:
            title = self._submenu_titles.get(action)
            text = action.text() if title is None else f"{title}: {action.text()}"
            if action.isVisible() and text:
                commands.append(Command(_strip_mnemonic(text), action, self._search_words.get(action, "")))
        return commands + self.extra_commands()

    def actions_of(self, section: Section) -> list[QAction]:
        """Return a new list of the commands of a section, in the order in which they were added."""
        return list(self._actions[section])

    def set_reachable(self, *, is_reachable: bool) -> None:
        """Enable the commands that need the store, or disable them while its server does not answer."""
        for section in _STORE_SECTIONS:
            self._store_groups[section].setEnabled(is_reachable)

    def menu(self, section: Section) -> QMenu:
        """Return the menu or submenu that has the commands of a section."""
        menu, _ = self._section_ends[section]
        return menu

    def make_context_menu(self, parent: QWidget, *sections: Section) -> QMenu:
        """Return a menu of the enabled commands of `sections`. It is deleted when it closes."""
        from PySide6.QtWidgets import QMenu

        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for section in sections:
            self.menu(section).aboutToShow.emit()  # its slots enable the commands that can act now
            menu.addActions([action for action in self._actions[section] if action.isEnabled()])
            menu.addSeparator()
            self.menu(section).aboutToHide.emit()  # and these enable the keys of all commands
        return menu

    def _update_section(self, section: Section) -> None:
        """Let slots update the commands of a section, by emitting that its menu opens and closes."""
        self.menu(section).aboutToShow.emit()
        self.menu(section).aboutToHide.emit()

    def add(
        self, section: Section, text: str, slot: Handler, *keys: Key | str, in_menu: bool = True, words: str = ""
    ) -> QAction:
        """Add a command with a slot and keys; “Find a command” also finds it by `words`."""
        action = self._make_action(section, text, *keys)
        self._search_words[action] = words
        action.triggered.connect(slot)
        if in_menu:
            menu, end = self._section_ends[section]
            menu.insertAction(end, action)
        else:
            self._window.addAction(action)
        return action

    def add_switch(self, section: Section, text: str, slot: Handler, *keys: Key | str, in_menu: bool = True) -> QAction:
        """Add a checkable command; `slot` gets its new state."""
        action = self.add(section, text, slot, *keys, in_menu=in_menu)
        action.setCheckable(True)
        return action

    def add_switches(self, section: Section, title: str, texts: Iterable[str], slot: Handler) -> list[QAction]:
        """Add a submenu of checkable commands; `slot` is called when one is toggled."""
        added = [self._make_action(section, text) for text in texts]
        for action in added:
            action.setCheckable(True)
            action.triggered.connect(slot)
        self._submenu_titles |= dict.fromkeys(added, title)
        _insert_submenu(*self._section_ends[section], title).addActions(added)
        return added

    def add_list(self, section: Section, entries: Callable[[], Sequence[tuple[str, Handler]]]) -> None:
        """Whenever the menu opens, call `entries` and add what it returns, each a text and a slot."""
        menu, end = self._section_ends[section]
        added: list[QAction] = []

        def show_entries() -> None:
            while added:
                menu.removeAction(added[-1])
                added.pop().deleteLater()
            for text, slot in entries():
                action = QAction(text, menu)
                action.setMenuRole(QAction.MenuRole.NoRole)
                action.triggered.connect(slot)
                added.append(action)
            menu.insertActions(end, added)

        menu.aboutToShow.connect(show_entries)

    def add_choices(
        self,
        section: Section,
        title: str,
        choices: Sequence[tuple[str, str]],
        slot: Callable[[str], object],
        *,
        in_menu: bool = True,
    ) -> QActionGroup:
        """Add a submenu of exclusive commands, one for each text and value; `slot` gets the value of the chosen one."""
        group = QActionGroup(self)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        actions = [self._make_choice(section, group, text, value) for text, value in choices]
        self._submenu_titles |= dict.fromkeys(actions, title)
        if in_menu:
            _insert_submenu(*self._section_ends[section], title).addActions(actions)

        def choose(action: QAction) -> None:
            action.setChecked(True)  # else choosing the checked one unchecks it
            slot(action.data())

        group.triggered.connect(choose)
        return group

    def _fill_menu(self, menu: QMenu, groups: _Groups) -> None:
        for group in groups:
            if isinstance(group, _Submenu):
                self._fill_menu(menu.addMenu(group.title), group.groups)
            else:
                for section in group:
                    self._section_ends[section] = menu, _add_hidden_separator(menu)
            menu.addSeparator()  # Qt hides it if nothing follows

    def _make_choice(self, section: Section, group: QActionGroup, text: str, value: str) -> QAction:
        action = self._make_action(section, text)
        action.setCheckable(True)
        action.setData(value)
        group.addAction(action)
        return action

    def _make_action(self, section: Section, text: str, *keys: Key | str) -> QAction:
        action = QAction(text, self)
        action.setIconText(action.iconText())  # for the list of keys: the text may change
        # Qt must not derive a role from a translated text: macOS then moves only actions with a given role.
        action.setMenuRole(QAction.MenuRole.NoRole)
        action.setShortcuts(list(dict.fromkeys(sequence for key in keys for sequence in _make_key_sequences(key))))
        self._actions[section].append(action)
        if section in self._store_groups:
            self._store_groups[section].addAction(action)
        return action


def check_choice(group: QActionGroup, value: str) -> None:
    """Check the action of a group with this value; uncheck all if none has it."""
    for action in group.actions():
        action.setChecked(action.data() == value)


class _Submenu(NamedTuple):
    title: str
    groups: list[list[Section]]


_Groups = Sequence[list[Section] | _Submenu]


def _make_menu_layout() -> list[tuple[str, _Groups]]:
    """Return the titles of the menus and their sections, with separators between the inner lists."""
    stores = [[Section.FILE_OPEN], [Section.FILE_STORE], [Section.FILE_RECENT]]
    return [
        (
            translate("Menus", "&File"),
            [
                [Section.FILE_PLANTS, Section.FILE_IMPORT, Section.FILE_EXPORT],
                [Section.FILE_API],
                _Submenu(translate("Menus", "&Other plants"), stores),
                [Section.FILE_BACKUPS],
                [Section.FILE_WINDOW],
            ],
        ),
        (
            translate("Menus", "&Edit"),
            [
                [Section.EDIT_UNDO],
                [Section.EDIT_CLIPBOARD, Section.EDIT_COPIES],
                [Section.EDIT_PLANTS],
                [Section.EDIT_FIND],
                [Section.EDIT_HISTORY],
                [Section.EDIT_SETTINGS],
            ],
        ),
        (
            translate("Menus", "&View"),
            [
                [Section.VIEW_PANES],
                [Section.VIEW_ORDER, Section.VIEW_PLANTS, Section.VIEW_COLUMNS],
                [Section.VIEW_APPEARANCE],
            ],
        ),
        (translate("Menus", "&Tools"), [[Section.TOOLS_PLANTS], [Section.TOOLS_API]]),
        (translate("Menus", "&Help"), [[Section.HELP, Section.HELP_ABOUT]]),
    ]


def _strip_mnemonic(text: str) -> str:
    """Return the text of a command without mnemonic and ellipsis."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").removesuffix("…")


def _add_hidden_separator(menu: QMenu) -> QAction:
    end = menu.addSeparator()
    end.setVisible(False)
    return end


def _insert_submenu(menu: QMenu, before: QAction, title: str) -> QMenu:
    submenu = menu.addMenu(title)
    menu.removeAction(submenu.menuAction())
    menu.insertAction(before, submenu.menuAction())
    return submenu


def _make_key_sequences(key: Key | str) -> list[QKeySequence]:
    return [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
