"""A pane beside the list: docked in the page, or a drawer over the list where the page is too narrow for both."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QVBoxLayout, QWidget

_SHADOW, _SHADOW_COLOR = 24, QColor(0, 0, 0, 90)


class SidePane(QFrame):
    """Hidden until it has content and the user wants it. `changed`: it was shown, hidden, docked or collapsed."""

    changed = Signal()

    def __init__(self, kind: str, parent: QWidget) -> None:
        """Make an empty pane; `kind` names its background in the style sheet."""
        super().__init__(parent)
        self._has_content = False
        self._is_requested = False
        self._is_available = True
        self._has_room = True
        self._is_open = False
        self._needed_width = 0
        self.setProperty("pane", kind)
        # Never exchanged, as the effect of a toast.
        self._shadow = QGraphicsDropShadowEffect(self, blurRadius=_SHADOW, offset=QPointF(0, 2), color=_SHADOW_COLOR)
        self._shadow.setEnabled(False)
        self.setGraphicsEffect(self._shadow)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.hide()

    def set_content(self, content: QWidget) -> None:
        """Show `content` in the pane; before this the pane is hidden."""
        self._layout.addWidget(content)
        self._has_content = True
        self._update()

    @property
    def is_requested(self) -> bool:
        """Whether the user wants the pane where there is room for it; to be remembered."""
        return self._is_requested

    @property
    def is_docked(self) -> bool:
        """Whether the pane is beside the list."""
        return self._has_content and self._is_available and self._has_room and self._is_requested

    @property
    def is_collapsed(self) -> bool:
        """Whether there is no room for the pane beside the list."""
        return not self._has_room

    @property
    def is_open(self) -> bool:
        """Whether the user has opened the pane where it is collapsed."""
        return self._is_open

    @property
    def is_drawer(self) -> bool:
        """Whether the pane is open over the list."""
        return self._has_content and self._is_available and not self._has_room and self._is_open

    @property
    def needed_width(self) -> int:
        """The width below which the content is cut, in pixels."""
        return self._needed_width

    def set_needed_width(self, width: int) -> None:
        """Set the width below which the content is cut."""
        if width != self._needed_width:
            self._needed_width = width
            self.changed.emit()

    def set_requested(self, *, requested: bool) -> None:
        """Show the pane where there is room for it, or nowhere."""
        self._is_requested = requested
        self._is_open = self._is_open and requested
        self._update()

    def set_available(self, *, available: bool) -> None:
        """Hide the pane while it has nothing to show."""
        if available != self._is_available:
            self._is_available = available
            self._update()

    def set_room(self, *, enough: bool) -> None:
        """Dock the pane, or collapse it where there is not `enough` room; it stays open while it has the focus.

        For the page alone.
        """
        if enough != self._has_room:
            self._has_room = enough
            self._is_open = not enough and self.isVisible() and self.isAncestorOf(self.window().focusWidget())
            self._update()

    def toggle(self) -> None:
        """Show or hide the pane: beside the list, or over it where it is collapsed."""
        if self._has_room:
            self._is_requested = not self._is_requested
        else:
            self._is_open = not self._is_open
        self._update()

    def close_drawer(self) -> bool:
        """Close the pane where it is open over the list; False where it is not."""
        if not self.is_drawer:
            return False
        self.toggle()
        return True

    def _update(self) -> None:
        self._shadow.setEnabled(self.is_drawer)
        self.setVisible(self.is_docked or self.is_drawer)
        self.changed.emit()
