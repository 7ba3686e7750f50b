"""A scroll bar whose space is always reserved, so that columns do not move when it appears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent


#: Pixels that the scroll bar takes, with the gap beside it.
WIDTH = 18


class ReservedScrollBar(QScrollBar):
    """Paints nothing while there is nothing to scroll."""

    def __init__(self, area: QAbstractScrollArea, *, slim: bool = False) -> None:
        """Make the vertical scroll bar of `area`; a `slim` one fits into the margin of 8 px beside its items."""
        super().__init__(Qt.Orientation.Vertical, area)
        self.setProperty("reserved", "slim" if slim else "true")
        area.setVerticalScrollBar(self)
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.minimum() < self.maximum():
            super().paintEvent(event)
