"""A scroll area without a frame and a background of its own, and a scroll bar whose room is always reserved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QScrollArea, QScrollBar, QWidget

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


class ScrollArea(QScrollArea):
    """Gets no focus itself: it shows the widget in it that gets the focus."""

    def __init__(self, content: QWidget, *, horizontal: bool = True) -> None:
        """Scroll `content`, only vertically where it is not `horizontal`."""
        super().__init__()
        self._content = content
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if not horizontal:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for widget in (self, content):
            widget.setProperty("clear", "true")
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus_changed)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, before: QWidget | None, focused: QWidget | None) -> None:
        """Show the focused widget whole; Qt shows only the cursor of a text, and nothing when Tab enters the area.

        What a click gives the focus stays under the pointer, and nothing moves when the window becomes active again.
        """
        if (
            before is None
            or focused is None
            or QGuiApplication.mouseButtons()
            or not self._content.isAncestorOf(focused)
        ):
            return
        rect = QRect(focused.mapTo(self._content, QPoint()), focused.size())
        self.ensureVisible(rect.center().x(), rect.center().y(), rect.width() // 2, rect.height() // 2 + 1)
