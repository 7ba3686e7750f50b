"""A scroll area for what may be larger than its room, without a frame and a background of its own."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget


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
