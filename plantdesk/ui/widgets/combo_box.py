"""A combo box with a name for screen readers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox

from plantdesk.ui.qt import override
from plantdesk.ui.widgets.ignored_wheel import ignore_wheel

if TYPE_CHECKING:
    from PySide6.QtCore import QSize


class ComboBox(QComboBox):
    """The wheel does not change it."""

    def __init__(self, name: str) -> None:
        """Make it with a `name` for screen readers."""
        super().__init__()
        ignore_wheel(self)
        self.setAccessibleName(name)
        if sys.platform == "linux":  # where Qt reports the chosen text as the name
            self.setAccessibleDescription(name)

    @override
    def sizeHint(self) -> QSize:
        self.ensurePolished()  # Qt forgets it, and takes the box for lower than the style sheet makes it
        return super().sizeHint()
