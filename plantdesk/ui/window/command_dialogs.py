"""The dialogs about the commands of the menus: keyboard shortcuts, and the search for a command."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import QModelIndex, QSize, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.folding import fold
from plantdesk.platform import languages
from plantdesk.ui.menus import Command, Menus, Section
from plantdesk.ui.qt import fill, fitted
from plantdesk.ui.theme.metrics import EDGE, XS, L, M, S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.dialog import ENTER_KEYS, ButtonRole, Dialog
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.plain_table import Cell, PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, report_focus

#: The size of the search, for text of 13 px.
_SEARCH_WIDTH = 560
_SEARCH_HEIGHT = 460
#: The gap between the two columns of groups of keys.
_COLUMN_GAP = 32
_TOP = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter
#: Keys that move in the table of commands while the field has the focus.
_SCROLL_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


_Group = Enum("_Group", "PLANTS FIND VIEW PROGRAM")


class ShortcutsDialog(Dialog):
    """Lists the keys of all commands of the menus, and keys of the window that belong to no command."""

    def __init__(self, menus: Menus, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Keyboard shortcuts"), parent)
        rows = self._list_other_keys()
        for section in Section:
            rows[_find_group(section)] += _list_keys(menus, section)
        self._rows = rows
        titles = (self.tr("Plants"), self.tr("Find"), self.tr("View"), self.tr("Program"))
        self._titles = dict(zip(_Group, titles, strict=True))
        close_button = self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        self.buttons.setContentsMargins(EDGE, S, EDGE, L)
        content = self._make_columns()
        self._scroll_area = ScrollArea(content)
        self._scroll_area.setMinimumWidth(1)  # the second of two columns may have to be scrolled to
        self._scroll_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._scroll_area.setAccessibleName(self.windowTitle())
        report_focus(self._scroll_area)
        fill(QVBoxLayout(self), (self._scroll_area, 1), self.buttons, margins=0, spacing=0)
        self.resize_to_fit(content.sizeHint() + QSize(EDGE, self.buttons.sizeHint().height() + XS))
        close_button.setFocus()

    def _make_columns(self) -> QWidget:
        """Return all groups, in two columns if the screen has room for them."""
        content = QWidget()
        columns = fill(QHBoxLayout(content), margins=(EDGE, L, EDGE, M), spacing=_COLUMN_GAP)
        fill(columns, self._make_column(_Group.PLANTS, _Group.FIND), self._make_column(_Group.VIEW, _Group.PROGRAM))
        needed_size = content.sizeHint() + QSize(EDGE, 0)  # with room for the scroll bar
        if fitted(self, needed_size).width() < needed_size.width():
            columns.setDirection(QBoxLayout.Direction.TopToBottom)
            columns.setSpacing(0)
        return content

    def _make_column(self, *groups: _Group) -> QWidget:
        column = QWidget()
        grid = QGridLayout(column)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(L)
        grid.setVerticalSpacing(S - 2)
        for group in groups:
            grid.addWidget(PlainLabel(self._titles[group], role="strong"), grid.rowCount(), 0, 1, 2)
            for keys, meaning in self._rows[group]:
                row = grid.rowCount()
                grid.addWidget(_make_key_caps(keys), row, 0, Qt.AlignmentFlag.AlignLeading)
                grid.addWidget(PlainLabel(meaning), row, 1)
            grid.setRowMinimumHeight(grid.rowCount(), L)
        grid.setRowStretch(grid.rowCount(), 1)
        grid.setColumnStretch(1, 1)
        return column

    def _list_other_keys(self) -> dict[_Group, list[tuple[str, str]]]:
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


def _find_group(section: Section) -> _Group:
    if section in {Section.EDIT_FIND, Section.EDIT_HISTORY, Section.VIEW_ORDER}:
        return _Group.FIND
    if section is Section.FILE_PLANTS or section.name.startswith("EDIT"):
        return _Group.PLANTS
    return _Group.VIEW if section.name.startswith("VIEW") else _Group.PROGRAM


def _list_keys(menus: Menus, section: Section) -> list[tuple[str, str]]:
    """Return the first key and the text of each command of a section that has a key."""
    actions = [action for action in menus.actions_of(section) if not action.shortcut().isEmpty()]
    native = QKeySequence.SequenceFormat.NativeText
    return [(action.shortcut().toString(native), action.iconText().rstrip("…")) for action in actions]


def _make_key_caps(keys: str) -> QWidget:
    caps = QWidget()
    caps.setAccessibleName(keys)
    layout = fill(QHBoxLayout(caps), margins=0, spacing=XS)
    names = keys.replace("++", "+\0").split("+")
    for name in names:
        layout.addWidget(PlainLabel("+" if name == "\0" else name, role="key", alignment=Qt.AlignmentFlag.AlignCenter))
    return caps


class CommandSearch(Dialog):
    """Finds commands by their text, also the English one. Enter or a click runs a command."""

    def __init__(self, theme: Theme, commands: Sequence[Command], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Find a command"), parent)
        self._texts = {command: _searchable_text(command) for command in commands}
        self._matches: list[Command] = []
        self._field = SearchEdit(theme, self.tr("Type what you want to do"))
        self._table = PlainTable(theme, self.windowTitle(), [self.tr("Command"), self.tr("Keys")])
        self._table.horizontalHeader().hide()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._table.make_frame())
        self._nothing_label = PlainLabel(self.tr("No command has these words."), tone="muted", alignment=_TOP)
        self._pages.addWidget(self._nothing_label)
        fill(QVBoxLayout(self), self._field, (self._pages, 1), margins=L, spacing=M)
        self._field.textChanged.connect(self._list_matches)
        self._table.clicked.connect(self._run)
        self._list_matches("")
        self.resize_to_fit(QSize(theme.metrics.scaled(_SEARCH_WIDTH), theme.metrics.scaled(_SEARCH_HEIGHT)))
        self._field.setFocus()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self._run(self._table.currentIndex())
        elif event.key() in _SCROLL_KEYS and self._field.hasFocus():
            self._table.keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    @Slot(str)
    def _list_matches(self, text: str) -> None:
        """List the commands with all words: first those that begin with the text, disabled ones last."""
        query = fold(text)
        words = query.split()
        matching = [command for command, content in self._texts.items() if all(word in content for word in words)]
        self._matches = sorted(matching, key=lambda command: _search_rank(command, query))
        self._table.show_rows([_make_cells(command) for command in self._matches])
        self._table.selectRow(0)
        self._pages.setCurrentIndex(0 if matching else 1)
        if not matching:
            announce(self, self._nothing_label.text())

    @Slot(QModelIndex)
    def _run(self, index: QModelIndex) -> None:
        """Close the dialog, then run the command: it acts on the widget that had the focus before."""
        if index.isValid() and (action := self._matches[index.row()].action).isEnabled():
            self.finished.connect(action.trigger, Qt.ConnectionType.QueuedConnection)
            self.accept()


def _searchable_text(command: Command) -> str:
    """Return the folded text to search for words, with and without spaces: “backup” finds “Back up”."""
    english = languages.current().sources(command.action.text())
    text = fold(f"{command.text} {english} {command.words}".replace("&", ""))
    return f"{text} {text.replace(' ', '')}"


def _search_rank(command: Command, query: str) -> tuple[bool, bool, bool]:
    text = fold(command.text)
    return not command.action.isEnabled(), text != query, not text.startswith(query)


def _make_cells(command: Command) -> list[Cell]:
    action = command.action
    text = f"{command.text} ✓" if action.isChecked() else command.text
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    return [Cell(text, color=None if action.isEnabled() else "placeholder"), Cell(key, color="muted")]
