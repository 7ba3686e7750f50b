"""A combo box that the wheel does not change: it scrolls what the box is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent


class ComboBox(QComboBox):
    """Is changed by its list and by keys."""

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
