"""A combo box with a name, which the wheel does not change: it scrolls what the box is in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtCore import QSize
    from PySide6.QtGui import QWheelEvent


class ComboBox(QComboBox):
    """Is changed by its list and by keys."""

    def __init__(self, name: str) -> None:
        """Make it with a `name` for screen readers."""
        super().__init__()
        self.setAccessibleName(name)
        if sys.platform == "linux":  # where Qt reports the chosen text as the name
            self.setAccessibleDescription(name)

    @override
    def sizeHint(self) -> QSize:
        self.ensurePolished()  # Qt forgets it, and takes the box for lower than the style sheet makes it
        return super().sizeHint()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
