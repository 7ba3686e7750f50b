"""A button for places where a click puts another button below the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent


class OneClickButton(QPushButton):
    """Ignores the second press of a double click, which was meant for the button of before."""

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
