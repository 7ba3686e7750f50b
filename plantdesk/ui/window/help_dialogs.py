"""Dialogs of the Help menu: what the program is, the keyboard shortcuts, and the search for a command."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Slot, qVersion
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSlider,
    QGridLayout,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk import __version__
from plantdesk.domain.folding import searched
from plantdesk.platform import languages
from plantdesk.platform.logs import system_facts
from plantdesk.ui.menus import Section
from plantdesk.ui.qt import STRETCH, fill, fitted
from plantdesk.ui.theme.metrics import EDGE, ICON_LARGE, XS, L, M, S
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.dialog import ENTER_KEYS, START_ROLE, ButtonRole, Dialog
from plantdesk.ui.widgets.fields import ComboBox, CopyButton, SearchEdit
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel, TextView, announce, report_focus

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from plantdesk.ui.menus import Command, Menus
    from plantdesk.ui.theme.theme import Theme


#: For text of 13 px.
_WIDTH = 520


class AboutDialog(Dialog):
    """Nothing in it is private: no path, no name of a plant or token."""

    def __init__(self, theme: Theme, *, checks_for_updates: bool, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("About PlantDesk"), parent)
        checked = self.tr("PlantDesk checks once a day for new versions (Settings > New versions).")
        unchecked = self.tr("PlantDesk does not check for new versions; Settings > New versions lets it.")
        diagnosis = diagnosis_of(theme)
        copy = CopyButton(theme, self.tr("Copy &diagnosis"))
        copy.set_content(diagnosis)
        self.buttons.addButton(copy, START_ROLE)
        close = self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        licences, field = PlainLabel(self._licences(), wrapped=True), self._text_field(diagnosis)
        fill(
            QVBoxLayout(self),
            self._header(theme),
            S,
            PlainLabel(checked if checks_for_updates else unchecked, tone="muted", wrapped=True),
            S,
            PlainLabel(self.tr("Licences"), role="caption", buddy=licences),
            licences,
            S,
            PlainLabel(self.tr("Diagnosis"), role="caption", buddy=field),
            field,
            M,
            self.buttons,
            margins=(EDGE, L, EDGE, L),
            spacing=S,
        )
        self.fit_height(theme.metrics.scaled(_WIDTH))
        close.setFocus()

    def _header(self, theme: Theme) -> QHBoxLayout:
        text = self.tr("Keeps your plants, and takes more of them from your own scripts.")
        titles = fill(
            QVBoxLayout(),
            PlainLabel(self.tr("PlantDesk {version}").format(version=__version__), role="title"),
            PlainLabel(text, tone="muted", wrapped=True),
            spacing=0,
        )
        return fill(
            QHBoxLayout(),
            (Icon(theme, "sprout", "accent", ICON_LARGE), Qt.AlignmentFlag.AlignTop),
            (titles, 1),
            spacing=L,
        )

    def _text_field(self, diagnosis: str) -> TextView:
        field = TextView(self.tr("Diagnosis"), diagnosis)
        lines = diagnosis.count("\n") + 2  # of which one is long
        spacing = field.fontMetrics().lineSpacing()
        field.setMinimumHeight(2 * spacing)
        field.setMaximumHeight(spacing * lines + 2 * EDGE)
        return field

    def _licences(self) -> str:
        return self.tr(
            "PlantDesk is free software under the MIT licence. It contains Qt and PySide (LGPL 3), Python (PSF), "
            "SQLite (public domain), icons of Lucide (ISC) and more: the licences of all are beside the program."
        )


def diagnosis_of(theme: Theme) -> str:
    """Return versions, and what the window looks like on this screen."""
    screen = QGuiApplication.primaryScreen()
    size, ratio = screen.size(), screen.devicePixelRatio()
    facts = [
        *system_facts(),
        ("Qt", f"{qVersion()}, {QGuiApplication.platformName()}"),
        ("Screen", f"{size.width()} x {size.height()}, scale {ratio:g}"),
        ("Window", f"{theme.mode.value} theme, text size {theme.text_scale:.0%}"),
    ]
    return "\n".join(f"{name}: {value}" for name, value in facts)


#: Between the two columns of groups.
_GAP = 40
#: Keys that scroll while the button has the focus.
_PAGES = {
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class _Group(Enum):
    """What a shortcut is for, in the order in which the groups are shown."""

    PLANTS = "plants"
    FIND = "find"
    VIEW = "view"
    PROGRAM = "program"


class ShortcutsDialog(Dialog):
    """Lists the keys of the commands in `menus`, and those that are not commands.

    On a screen that is too small for all groups, the user chooses one of them.
    """

    def __init__(self, menus: Menus, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Keyboard shortcuts"), parent)
        rows = self._others()
        for section in Section:
            rows[_group_of(section)] += _of_section(menus, section)
        self._rows = rows
        close = self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        self.buttons.setContentsMargins(EDGE, S, EDGE, L)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.buttons)  # before it is measured: Qt ignores what is in no window
        around = QSize(EDGE, self.buttons.sizeHint().height() + XS)
        content = self._in_columns()
        if fitted(self, content.sizeHint() + around) != content.sizeHint() + around:
            content = self._one_by_one()
        requested = content.sizeHint() + around
        self._area = ScrollArea(content)
        self._area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._area.setAccessibleName(self.windowTitle())
        report_focus(self._area)
        layout.insertWidget(0, self._area, 1)
        self.resize_to_fit(requested)
        close.setFocus()

    def _in_columns(self) -> QWidget:
        content = QWidget()
        columns = fill(QHBoxLayout(content), margins=(EDGE, L, EDGE, M), spacing=_GAP)
        for groups in ((_Group.PLANTS, _Group.FIND), (_Group.VIEW, _Group.PROGRAM)):
            grids = [_grid(self._rows[group]) for group in groups]
            _align(grids)
            column = fill(QVBoxLayout(), spacing=S)
            for group, grid in zip(groups, grids, strict=True):
                fill(column, PlainLabel(self._title(group), role="strong"), grid, L)
            fill(columns, (fill(column, STRETCH), 1))
        return content

    def _one_by_one(self) -> QWidget:
        grids = [_grid(self._rows[group]) for group in _Group]
        _align(grids)
        choice, pages = ComboBox(self.tr("Group")), QStackedWidget()
        for group, grid in zip(_Group, grids, strict=True):
            choice.addItem(self._title(group))
            pages.addWidget(grid)
        choice.currentIndexChanged.connect(pages.setCurrentIndex)
        header = fill(QHBoxLayout(), PlainLabel(self.tr("&Group"), buddy=choice), choice, STRETCH, spacing=S)
        content = QWidget()
        fill(QVBoxLayout(content), header, pages, STRETCH, margins=(EDGE, L, EDGE, M), spacing=M)
        return content

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = _PAGES.get(Qt.Key(event.key()))
        if page is None:
            super().keyPressEvent(event)
        else:
            self._area.verticalScrollBar().triggerAction(page)

    def _title(self, group: _Group) -> str:
        return {
            _Group.PLANTS: self.tr("Plants"),
            _Group.FIND: self.tr("Find"),
            _Group.VIEW: self.tr("View"),
            _Group.PROGRAM: self.tr("Program"),
        }[group]

    def _others(self) -> dict[_Group, list[tuple[str, str]]]:
        return {
            _Group.PLANTS: [
                (self.tr("Enter"), self.tr("Add the plant; in the table: edit it")),
                (self.tr("Ctrl+Enter"), self.tr("Add the plant and keep its name")),
                (self.tr("Up"), self.tr("Recall the plant that was added last")),
                (self.tr("Tab"), self.tr("Go from name to tag while editing")),
            ],
            _Group.FIND: [
                (self.tr("Down"), self.tr("Go from the search to the first row")),
                (self.tr("A–Z"), self.tr("Go to a name by its first letters")),
                (self.tr("Ctrl+Space"), self.tr("Add or remove a filter in the sidebar")),
                (self.tr("Home"), self.tr("Go to the first row; End: to the last")),
            ],
            _Group.VIEW: [
                (self.tr("Space"), self.tr("Show or hide the card")),
                (self.tr("F6"), self.tr("Go to the next part; Shift+F6: back")),
                (self.tr("Shift+F10"), self.tr("Open the context menu")),
            ],
            _Group.PROGRAM: [
                (self.tr("Esc"), self.tr("Close a message, clear the search")),
                (self.tr("Alt"), self.tr("Go to the menu bar")),
            ],
        }


def _group_of(section: Section) -> _Group:
    if section in {Section.EDIT_FIND, Section.EDIT_HISTORY, Section.VIEW_ORDER}:
        return _Group.FIND
    if section is Section.FILE_PLANTS or section.name.startswith("EDIT"):
        return _Group.PLANTS
    return _Group.VIEW if section.name.startswith("VIEW") else _Group.PROGRAM


def _of_section(menus: Menus, section: Section) -> list[tuple[str, str]]:
    """Return the first key of each command: of several (Copy has four on Linux) it is the usual one."""
    actions = [action for action in menus.actions_of(section) if not action.shortcut().isEmpty()]
    native = QKeySequence.SequenceFormat.NativeText
    return [(each.shortcut().toString(native), each.iconText().rstrip("…")) for each in actions]


def _grid(rows: list[tuple[str, str]]) -> QWidget:
    widget = QWidget()
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(L)
    grid.setVerticalSpacing(S - 2)
    grid.setColumnStretch(1, 1)
    for row, (keys, meaning) in enumerate(rows):
        grid.addWidget(_key_caps(keys), row, 0, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        grid.addWidget(PlainLabel(meaning), row, 1)
    grid.setRowStretch(len(rows), 1)
    return widget


def _align(grids: Sequence[QWidget]) -> None:
    """Let the meanings in several grids begin at the same edge."""
    layouts = [layout for grid in grids if isinstance(layout := grid.layout(), QGridLayout)]
    caps = [each for grid in grids for each in grid.findChildren(QWidget) if each.accessibleName()]
    width = max(each.sizeHint().width() for each in caps)
    for layout in layouts:
        layout.setColumnMinimumWidth(0, width)


def _key_caps(keys: str) -> QWidget:
    """Return a cap for each key of a combination such as “Ctrl++”."""
    caps = QWidget()
    caps.setAccessibleName(keys)
    layout = fill(QHBoxLayout(caps), margins=0, spacing=XS)
    names = keys.replace("++", "+\0").split("+")
    for name in names:
        layout.addWidget(PlainLabel("+" if name == "\0" else name, role="key", alignment=Qt.AlignmentFlag.AlignCenter))
    return caps


#: For text of 13 px.
_WIDTH, _HEIGHT = 560, 460
#: Keys that the table gets while the field has the focus.
_TOP = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter
_TABLE_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class CommandSearch(Dialog):
    """Lists commands with their keys; Enter or a click runs one. The English texts are found in every language."""

    def __init__(self, theme: Theme, commands: Sequence[Command], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Find a command"), parent)
        self._texts = {command: _searched(command) for command in commands}
        self._found: list[Command] = []
        self._field = SearchEdit(theme, self.tr("Type what you want to do"))
        self._table = PlainTable(theme, self.windowTitle(), [self.tr("Command"), self.tr("Keys")])
        self._table.horizontalHeader().hide()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._table.framed())
        self._nothing = PlainLabel(self.tr("No command has these words."), tone="muted", alignment=_TOP)
        self._pages.addWidget(self._nothing)
        fill(QVBoxLayout(self), self._field, (self._pages, 1), margins=L, spacing=M)
        self._field.textChanged.connect(self._find)
        self._table.clicked.connect(self._run)
        self._find("")
        self.resize_to_fit(QSize(theme.metrics.scaled(_WIDTH), theme.metrics.scaled(_HEIGHT)))
        self._field.setFocus()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self._run(self._table.currentIndex())
        elif event.key() in _TABLE_KEYS and self._field.hasFocus():
            self._table.keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    @Slot(str)
    def _find(self, text: str) -> None:
        """List what has all words: first the command that begins with them; one that cannot be chosen comes last."""
        sought = searched(text)
        words = sought.split()
        found = [command for command, text in self._texts.items() if all(word in text for word in words)]
        self._found = sorted(found, key=lambda command: _rank(command, sought))
        self._table.show_rows([_cells(command) for command in self._found])
        self._table.selectRow(0)
        self._pages.setCurrentIndex(0 if found else 1)
        if not found:
            announce(self, self._nothing.text())

    @Slot(QModelIndex)
    def _run(self, index: QModelIndex) -> None:
        """Close the dialog, then run the command: it acts on what had the focus before."""
        if index.isValid() and (action := self._found[index.row()].action).isEnabled():
            self.finished.connect(action.trigger, Qt.ConnectionType.QueuedConnection)
            self.accept()


def _searched(command: Command) -> str:
    """Return the folded text in which words are looked for; “backup” is in “Back up” as well."""
    english = languages.current().sources(command.action.text())
    text = searched(f"{command.text} {english} {command.words}".replace("&", ""))
    return f"{text} {text.replace(' ', '')}"


def _rank(command: Command, sought: str) -> tuple[bool, bool, bool]:
    text = searched(command.text)
    return not command.action.isEnabled(), text != sought, not text.startswith(sought)


def _cells(command: Command) -> list[Cell]:
    action = command.action
    text = f"{command.text} ✓" if action.isChecked() else command.text
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    return [Cell(text, color=None if action.isEnabled() else "placeholder"), Cell(key, color="text_2")]
