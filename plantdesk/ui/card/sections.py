"""Parts that the cards of one and of several plants have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStyle, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.qt import add_layout, fill, mirrored
from plantdesk.ui.theme.metrics import EDGE, ICON_BUTTON, XS, L, M
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.fields import CloseButton, OneClickButton
from plantdesk.ui.widgets.plain_text import PlainLabel, set_tool_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QLayout

    from plantdesk.ui.theme.theme import Theme


class CardRequests(QObject):
    """What the buttons of a card request: commands for the selected plants, no selection, and to close the card."""

    tag = Signal()
    replace = Signal()
    labels = Signal()
    copy = Signal()
    export = Signal()
    delete = Signal()
    select_none = Signal()
    close = Signal()


class CardFrame(QWidget):
    """A scrolling column of sections above a row of buttons, and a close button, which is last in the tab order."""

    def __init__(self, theme: Theme, requests: CardRequests) -> None:
        super().__init__()
        self._theme = theme
        self._cross = CloseButton(theme, self.tr("Close the card"), "text_2")
        self._cross.setParent(self)  # in no layout, so that it follows all widgets that are in one
        self._cross.clicked.connect(requests.close)
        content = QWidget()
        self.column = fill(QVBoxLayout(content), margins=(EDGE, M + 2, EDGE, M), spacing=0)
        line = QFrame()
        line.setProperty("pane", "lines")
        line.setFixedHeight(1)
        self.buttons = QHBoxLayout()
        bottom = fill(QVBoxLayout(), line, self.buttons, margins=(EDGE, 0, EDGE, M + 2), spacing=M)
        fill(QVBoxLayout(self), (ScrollArea(content, horizontal=False), 1), bottom, margins=0, spacing=0)
        self._cross.raise_()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self._cross.sizeHint()
        # Its drawing ends at the edge.
        place = QRect(QPoint(self.width() - EDGE - size.width() + XS, M), size)
        self._cross.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), place))

    def top_row(self) -> QHBoxLayout:
        """Return the row beside the close button, which is added to the column."""
        row = fill(QHBoxLayout(), margins=mirrored(self, 0, 0, ICON_BUTTON, 0))
        row.addStrut(ICON_BUTTON)
        add_layout(self.column, row)
        return row

    def add_section(self, title: str, content: QWidget | QLayout) -> PlainLabel:
        """Add a titled section; return its title."""
        label = PlainLabel(title, role="caption", buddy=content if isinstance(content, QWidget) else None)
        fill(self.column, L, label, XS, content)
        return label


def text_button(text: str, theme: Theme | None = None, icon: str = "", *, name: str = "") -> QPushButton:
    """Return a button of the card, with a longer name if its text is short; a click leaves the focus where it is."""
    button = OneClickButton(text)
    button.setAccessibleName(name)
    set_tool_tip(button, name)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if theme is not None and icon:
        theme.icons.put_on(button, icon)
    return button


def empty(layout: QLayout, widgets: list[QWidget]) -> None:
    """Delete `widgets`, which are in a layout, and empty the list.

    Not by takeAt(): Qt deletes layout items that Python has seen, unknown to Python. Later objects at their
    addresses are then mistaken for them.
    """
    for widget in widgets:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
    widgets.clear()
