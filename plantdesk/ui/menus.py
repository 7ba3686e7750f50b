"""The commands of the window: features add them to sections of the menu bar, or only give them a key."""

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
#: Keys of the commands that change the selected plants, but delete none: “Edit name”, “Edit tag”, “Duplicate plant”.
ROW_KEYS = [
    QKeyCombination(Qt.Key.Key_F2),
    QKeyCombination(_CONTROL, Qt.Key.Key_T),
    QKeyCombination(_CONTROL, Qt.Key.Key_D),
]


def key_text(key: QKeySequence.StandardKey) -> str:
    """Return the first key sequence of a standard key, as it is shown to the user."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


class Section(Enum):
    """A part of a menu. The commands of a section are in the order in which they were added."""

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


#: Sections of commands that do nothing useful while the store cannot be reached.
_OF_STORE = (
    Section.FILE_IMPORT,
    Section.FILE_EXPORT,
    Section.EDIT_UNDO,
    Section.EDIT_PLANTS,
    Section.EDIT_FIND,
    Section.EDIT_HISTORY,
    Section.TOOLS_PLANTS,
)


class Command(NamedTuple):
    """A command with its whole text: in a submenu, the title of the submenu comes first, as in “Theme: Dark”.

    It is found by other `words` as well.
    """

    text: str
    action: QAction
    words: str = ""


class Menus(QObject):
    """Fills a menu bar. Every command is an action with a slot. Its keys work in the whole window.

    A command that is not `in_menu` is found by its key, by “Find a command”, and in a context menu.
    """

    def __init__(self, bar: QMenuBar) -> None:
        super().__init__(bar)
        self._window = bar.window()
        #: Returns the commands that are only found by “Find a command”.
        self.others: Callable[[], list[Command]] = list
        self._titles: dict[QAction, str] = {}
        self._words: dict[QAction, str] = {}
        self._ends: dict[Section, tuple[QMenu, QAction]] = {}
        self._actions: dict[Section, list[QAction]] = {section: [] for section in Section}
        self._groups = {section: QActionGroup(self) for section in _OF_STORE}
        for each in self._groups.values():
            each.setExclusionPolicy(QActionGroup.ExclusionPolicy.None_)
        for title, groups in _layout():
            self._fill(bar.addMenu(title), groups)

    @property
    def actions(self) -> list[QAction]:
        """All commands, in the order of the menus."""
        return [action for section in Section for action in self._actions[section]]

    def commands(self) -> list[Command]:
        """Return all commands that the window offers, with their present texts and states."""
        for section in Section:
            self._update(section)
        found = []
        for action in self.actions:
            title = self._titles.get(action)
            text = action.text() if title is None else f"{title}: {action.text()}"
            if action.isVisible() and text:
                found.append(Command(_plain(text), action, self._words.get(action, "")))
        return found + self.others()

    def actions_of(self, section: Section) -> list[QAction]:
        """Return the commands of a section."""
        return list(self._actions[section])

    def set_reachable(self, *, is_reachable: bool) -> None:
        """Enable commands that need the store, as far as their features allow it, or disable all of them."""
        for section in _OF_STORE:
            self._groups[section].setEnabled(is_reachable)

    def menu(self, section: Section) -> QMenu:
        """Return the menu of a section."""
        menu, _ = self._ends[section]
        return menu

    def context_menu(self, parent: QWidget, *sections: Section) -> QMenu:
        """Return a new menu of the commands of `sections` that are enabled now; the menu is deleted when it closes."""
        from PySide6.QtWidgets import QMenu

        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for section in sections:
            self.menu(section).aboutToShow.emit()  # its slots enable what can be done now
            menu.addActions([action for action in self._actions[section] if action.isEnabled()])
            menu.addSeparator()
            self.menu(section).aboutToHide.emit()  # and then the keys of all commands
        return menu

    def _update(self, section: Section) -> None:
        """Let the menu of a section update its commands, as when it was opened and closed."""
        self.menu(section).aboutToShow.emit()
        self.menu(section).aboutToHide.emit()

    def add(
        self, section: Section, text: str, slot: Handler, *keys: Key | str, in_menu: bool = True, words: str = ""
    ) -> QAction:
        """Add a command; `slot` is called when it is chosen, also by one of `keys`. It is found by `words` as well."""
        action = self._action(section, text, *keys)
        self._words[action] = words
        action.triggered.connect(slot)
        if in_menu:
            menu, end = self._ends[section]
            menu.insertAction(end, action)
        else:
            self._window.addAction(action)
        return action

    def add_switch(self, section: Section, text: str, slot: Handler, *keys: Key | str, in_menu: bool = True) -> QAction:
        """Add a command with a check mark; `slot` gets its new state."""
        action = self.add(section, text, slot, *keys, in_menu=in_menu)
        action.setCheckable(True)
        return action

    def add_switches(self, section: Section, title: str, texts: Iterable[str], slot: Handler) -> list[QAction]:
        """Add a submenu of commands with check marks; `slot` is called when one is chosen."""
        added = [self._action(section, text) for text in texts]
        for action in added:
            action.setCheckable(True)
            action.triggered.connect(slot)
        self._titles |= dict.fromkeys(added, title)
        _submenu(*self._ends[section], title).addActions(added)
        return added

    def add_list(self, section: Section, entries: Callable[[], Sequence[tuple[str, Handler]]]) -> None:
        """Add the `entries`, which are requested when the menu opens: the text of each, and its slot."""
        menu, end = self._ends[section]
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
        """Add a command for each text and value of `choices`, in a submenu of this title.

        `slot` gets the value of the chosen one. The group checks at most one of them.
        """
        group = QActionGroup(self)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        actions = [self._choice(section, group, text, value) for text, value in choices]
        self._titles |= dict.fromkeys(actions, title)
        if in_menu:
            _submenu(*self._ends[section], title).addActions(actions)

        def choose(action: QAction) -> None:
            action.setChecked(True)  # choosing the checked one would clear its mark
            slot(action.data())

        group.triggered.connect(choose)
        return group

    def _fill(self, menu: QMenu, groups: _Groups) -> None:
        for group in groups:
            if isinstance(group, _Submenu):
                self._fill(menu.addMenu(group.title), group.groups)
            else:
                for section in group:
                    self._ends[section] = menu, _hidden_separator(menu)
            menu.addSeparator()  # not shown if nothing follows

    def _choice(self, section: Section, group: QActionGroup, text: str, value: str) -> QAction:
        action = self._action(section, text)
        action.setCheckable(True)
        action.setData(value)
        group.addAction(action)
        return action

    def _action(self, section: Section, text: str, *keys: Key | str) -> QAction:
        action = QAction(text, self)
        action.setIconText(action.iconText())  # for the list of keys, as the text may name plants or a change later
        # Qt must not derive a role from a translated text: macOS then moves only actions with a given role.
        action.setMenuRole(QAction.MenuRole.NoRole)
        action.setShortcuts(list(dict.fromkeys(sequence for key in keys for sequence in _sequences(key))))
        self._actions[section].append(action)
        if section in self._groups:
            self._groups[section].addAction(action)
        return action


def check(group: QActionGroup, value: str) -> None:
    """Check the choice of `value`, or none if it is not in the group."""
    for action in group.actions():
        action.setChecked(action.data() == value)


class _Submenu(NamedTuple):
    title: str
    groups: list[list[Section]]


_Groups = Sequence[list[Section] | _Submenu]


def _layout() -> list[tuple[str, _Groups]]:
    """Return the titles of the menus and their sections, with a separator between the inner lists."""
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


def _plain(text: str) -> str:
    """Return the text of a command without its mnemonic and the dots of a dialog."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").removesuffix("…")


def _hidden_separator(menu: QMenu) -> QAction:
    """Add the separator that marks the end of a section."""
    end = menu.addSeparator()
    end.setVisible(False)
    return end


def _submenu(menu: QMenu, before: QAction, title: str) -> QMenu:
    submenu = menu.addMenu(title)
    menu.removeAction(submenu.menuAction())
    menu.insertAction(before, submenu.menuAction())
    return submenu


def _sequences(key: Key | str) -> list[QKeySequence]:
    return [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
