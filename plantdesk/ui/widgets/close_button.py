"""The button with a cross that closes a message or a pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from plantdesk.ui.widgets.tool_tips import set_tool_tip

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


class CloseButton(QToolButton):
    """Gets the focus by Tab only; its name is also its tooltip."""

    def __init__(self, theme: Theme, name: str, color: str = "text") -> None:
        super().__init__()
        self.setAccessibleName(name)
        set_tool_tip(self, name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.icons.put_on(self, "x", color)
