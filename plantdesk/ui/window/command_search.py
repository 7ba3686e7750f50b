"""The dialog that finds a command by its text, also one that is in no menu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.folding import searched
from plantdesk.platform import languages
from plantdesk.ui.qt import fill
from plantdesk.ui.theme.metrics import L, S
from plantdesk.ui.widgets.dialog import ENTER_KEYS, Dialog
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.plain_text import report_focus

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from plantdesk.ui.menus import Command
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_SIZE = QSize(520, 440)
#: Keys that the list gets while the field has the focus.
_LIST_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class CommandSearch(Dialog):
    """Lists commands with their keys. The English texts are found in every language."""

    def __init__(self, theme: Theme, commands: Sequence[Command], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Find a command"), parent)
        self._commands = commands
        self._texts = [_searched(command) for command in commands]
        self._field = SearchEdit(theme, self.tr("Type what you want to do"))
        self._items = [_item(command) for command in commands]
        self._list = QTreeWidget()
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setHeaderHidden(True)
        self._list.setColumnCount(2)
        self._list.setAccessibleName(self.windowTitle())
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        report_focus(self._list)
        self._list.addTopLevelItems(self._items)
        fill(QVBoxLayout(self), self._field, (self._list, 1), margins=L, spacing=S)
        self._field.textChanged.connect(self._find)
        self._list.itemClicked.connect(self._run)
        self._find("")
        self.resize_to_fit(QSize(theme.metrics.scaled(_SIZE.width()), theme.metrics.scaled(_SIZE.height())))
        self._field.setFocus()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self._run(self._list.currentItem())
        elif event.key() in _LIST_KEYS and self._field.hasFocus():
            self._list.keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    @Slot(str)
    def _find(self, text: str) -> None:
        words = searched(text).split()
        self._list.setCurrentIndex(QModelIndex())
        for item, folded in zip(self._items, self._texts, strict=True):
            is_found = all(word in folded for word in words)
            item.setHidden(not is_found)
            if is_found and not item.isDisabled() and self._list.currentItem() is None:
                self._list.setCurrentItem(item)

    @Slot(QTreeWidgetItem)
    def _run(self, item: QTreeWidgetItem | None) -> None:
        """Close the dialog, then run the command: it acts on what had the focus before."""
        if item is not None and not item.isDisabled():
            action = self._commands[self._list.indexOfTopLevelItem(item)].action
            self.finished.connect(action.trigger, Qt.ConnectionType.QueuedConnection)
            self.accept()


def _searched(command: Command) -> str:
    return searched(f"{command.text} {languages.current().sources(command.action.text())}".replace("&", ""))


def _item(command: Command) -> QTreeWidgetItem:
    action = command.action
    text = f"{command.text} ✓" if action.isChecked() else command.text
    item = QTreeWidgetItem([text, action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)])
    item.setDisabled(not action.isEnabled())
    return item
