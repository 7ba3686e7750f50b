"""The centre of the window: panes from top to bottom, and bars between the first and the second one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from plantdesk.ui.theme.metrics import L, M
from plantdesk.ui.widgets.info_bar import InfoBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from plantdesk.ui.theme.theme import Theme


class Page(QWidget):
    """Shows the panes of the features. F6 moves the focus from one part of the window to the next."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: list[tuple[QWidget, Callable[[], object]]] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(L, L, L, L)
        self._layout.setSpacing(M)
        self._placeholder = QFrame()  # until there is a main pane
        self._placeholder.setProperty("card", "true")
        self._layout.addWidget(self._placeholder, 1)

    def add_top_pane(self, pane: QWidget) -> None:
        """Show `pane` above the bars."""
        self._layout.insertWidget(0, pane)

    def set_main_pane(self, pane: QWidget) -> None:
        """Show `pane` below the bars, in all the room that is left."""
        self._layout.replaceWidget(self._placeholder, pane)
        self._placeholder.deleteLater()

    @cached_property
    def bar(self) -> InfoBar:
        """The bar for messages that replace each other."""
        return self.add_bar()

    def add_bar(self) -> InfoBar:
        """Return a new bar, which is shown above the others."""
        bar = InfoBar(self._theme)
        self._layout.insertWidget(1, bar)
        return bar

    def add_part(self, part: QWidget, focus: Callable[[], object]) -> None:
        """Let F6 come to `part` after those added before; `focus` moves the focus there."""
        self._parts.append((part, focus))

    @Slot(int)
    def focus_next_part(self, step: int) -> None:
        """Move the focus to the next part of the window, or with -1 to the previous one."""
        here = next((number for number, (part, _) in enumerate(self._parts) if _has_focus(part)), -step)
        _, focus = self._parts[(here + step) % len(self._parts)]
        focus()


def _has_focus(widget: QWidget) -> bool:
    focused = QGuiApplication.focusObject()
    return isinstance(focused, QWidget) and (focused is widget or widget.isAncestorOf(focused))
