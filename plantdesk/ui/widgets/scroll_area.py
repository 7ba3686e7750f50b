"""A scroll area for what may be larger than its room, without a frame and a background of its own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class ScrollArea(QScrollArea):
    """Gets no focus itself: it shows the widget in it that gets the focus."""

    def __init__(self, content: QWidget, *, horizontal: bool = True) -> None:
        """Scroll `content`, only vertically where it is not `horizontal`."""
        super().__init__()
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if not horizontal:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for widget in (self, content):
            widget.setProperty("clear", "true")
