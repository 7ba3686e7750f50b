"""The info bars of the window, one above the other, with a gap below them while one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import EDGE, M
from plantdesk.ui.widgets.info_bar import InfoBar

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


class BarStack(QWidget):
    """Takes no room while all of its bars are hidden."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(EDGE, 0, EDGE, 0)
        self._layout.setSpacing(M)

    def add(self) -> InfoBar:
        """Return a new bar, which is shown above the others."""
        bar = InfoBar(self._theme)
        self._layout.insertWidget(0, bar)
        return bar

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            shown = any(isinstance(each, InfoBar) and not each.isHidden() for each in self.children())
            bottom = M if shown else 0
            if self._layout.contentsMargins().bottom() != bottom:
                self._layout.setContentsMargins(EDGE, 0, EDGE, bottom)
        return super().event(event)
