"""The list of keyboard shortcuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from plantdesk.ui.theme.metrics import XL, XXL, S
from plantdesk.ui.widgets.dialog import Dialog
from plantdesk.ui.widgets.plain_label import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QAction


class ShortcutsDialog(Dialog):
    """Lists the keys of the given actions, and those that are not actions."""

    def __init__(self, actions: Iterable[QAction], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Keyboard shortcuts"), parent)
        layout = QGridLayout(self)
        layout.setContentsMargins(XXL, XL, XXL, XL)
        layout.setHorizontalSpacing(XXL)
        layout.setVerticalSpacing(S - 2)
        rows = [*self._of_actions(actions), *self._others()]
        for row, (keys, meaning) in enumerate(rows):
            key_label = PlainLabel(keys)
            key_label.setProperty("role", "strong")
            layout.addWidget(key_label, row, 0)
            layout.addWidget(PlainLabel(meaning), row, 1)
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        layout.addWidget(close, len(rows), 1, Qt.AlignmentFlag.AlignTrailing)

    def _of_actions(self, actions: Iterable[QAction]) -> list[tuple[str, str]]:
        """Return the first key of each command: of several (Copy has four on Linux) it is the usual one."""
        firsts = [(each.shortcut(), each.text().replace("&", "").rstrip("…")) for each in actions]
        native = QKeySequence.SequenceFormat.NativeText
        return [(key.toString(native), text) for key, text in firsts if not key.isEmpty()]

    def _others(self) -> list[tuple[str, str]]:
        return [
            (self.tr("Enter"), self.tr("Add the plant in the form")),
            (self.tr("Esc"), self.tr("Close the message, empty the form, clear the search, or go back to Name")),
            (self.tr("F6, Shift+F6"), self.tr("Go to the next or previous part of the window")),
            (self.tr("Down"), self.tr("Go from the search to the first row")),
            (self.tr("Home, End"), self.tr("Go to the first or last row of the table")),
        ]
