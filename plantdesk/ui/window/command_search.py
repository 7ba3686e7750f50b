"""The dialog that finds a command by its text, also one that is in no menu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.folding import searched
from plantdesk.platform import languages
from plantdesk.ui.qt import fill
from plantdesk.ui.theme.metrics import L, M
from plantdesk.ui.widgets.dialog import ENTER_KEYS, Dialog
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.plain_table import Cell, PlainTable

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from plantdesk.ui.menus import Command
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_WIDTH, _HEIGHT = 560, 460
#: Keys that the table gets while the field has the focus.
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
        fill(QVBoxLayout(self), self._field, (self._table.framed(), 1), margins=L, spacing=M)
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

    @Slot(QModelIndex)
    def _run(self, index: QModelIndex) -> None:
        """Close the dialog, then run the command: it acts on what had the focus before."""
        if index.isValid() and (action := self._found[index.row()].action).isEnabled():
            self.finished.connect(action.trigger, Qt.ConnectionType.QueuedConnection)
            self.accept()


def _searched(command: Command) -> str:
    """Return the folded text in which words are looked for; “backup” is in “Back up” as well."""
    english = languages.current().sources(command.action.text())
    text = searched(f"{command.text} {english}".replace("&", ""))
    return f"{text} {text.replace(' ', '')}"


def _rank(command: Command, sought: str) -> tuple[bool, bool, bool]:
    text = searched(command.text)
    return not command.action.isEnabled(), text != sought, not text.startswith(sought)


def _cells(command: Command) -> list[Cell]:
    action = command.action
    text = f"{command.text} ✓" if action.isChecked() else command.text
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    return [Cell(text, color=None if action.isEnabled() else "placeholder"), Cell(key, color="text_2")]
