"""A line edit with a button at its end, and room for an icon at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMargins, QRect, Qt, Slot
from PySide6.QtWidgets import QStyle, QToolButton, QWidget

from plantdesk.ui.qt import mirrored, override
from plantdesk.ui.theme.metrics import ICON_BUTTON, XS
from plantdesk.ui.widgets.line_edit import MAX_LENGTH, LineEdit
from plantdesk.ui.widgets.tool_tips import set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from plantdesk.ui.theme.theme import Theme


class ButtonField(LineEdit):
    """The base of fields with a `button`, whose text is beside it.

    The button is not Qt's own (`addAction`, `setClearButtonEnabled`): Tab cannot reach that, it shows no focus, and
    under a style sheet it is not centred.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, max_length: int = MAX_LENGTH) -> None:
        super().__init__(parent, max_length=max_length)
        self._theme = theme
        self.button = QToolButton(self)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.setCursor(Qt.CursorShape.ArrowCursor)
        theme.changed.connect(self._arrange)
        self._arrange()

    def name_button(self, name: str, tool_tip: str) -> None:
        """Set the name of the button for screen readers, and its tooltip."""
        self.button.setAccessibleName(name)
        set_tool_tip(self.button, tool_tip)

    def leading_room(self) -> int:
        """Return how many pixels before the text something else is painted."""
        return 0

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._arrange()

    @Slot()
    def _arrange(self) -> None:
        size = self._theme.metrics.scaled(ICON_BUTTON)
        margins = QMargins(*mirrored(self, self.leading_room(), 0, size, 0))
        if margins != self.textMargins():
            self.setTextMargins(margins)
        place = QRect(self.width() - size - XS, (self.height() - size) // 2, size, size)
        self.button.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), place))
