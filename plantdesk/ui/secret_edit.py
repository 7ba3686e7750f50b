"""A field that shows a secret; what is copied from it is copied as a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QKeySequence
from PySide6.QtWidgets import QLineEdit

from plantdesk.ui.override import override
from plantdesk.ui.secret_clipboard import copy_secret

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent


class SecretEdit(QLineEdit):
    """Read-only. Nothing in it can be selected: Qt would copy a selection without the hints for histories."""

    def __init__(self, name: str) -> None:
        """Make a field with a `name` for screen readers."""
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.selectionChanged.connect(self.deselect)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) or event.matches(QKeySequence.StandardKey.Cut):
            copy_secret(self.text())
        else:
            super().keyPressEvent(event)
