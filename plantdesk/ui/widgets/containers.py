"""A scroll area without a frame, a scroll bar with reserved room, a collapsible heading, and a row of actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QHBoxLayout, QPushButton, QScrollArea, QScrollBar, QWidget
from typing_extensions import override

from plantdesk.ui.qt import application, fill, set_properties
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.buttons import OneClickButton
from plantdesk.ui.widgets.plain_text import PlainLabel

#: Pixels that the scroll bar takes, with the gap beside it.
SCROLL_BAR_WIDTH = 18


class ReservedScrollBar(QScrollBar):
    """A scroll bar that keeps its room, and paints nothing while there is nothing to scroll."""

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
    """A scroll area without focus of its own. It scrolls to the child that gets the focus."""

    def __init__(self, content: QWidget, *, horizontal: bool = True) -> None:
        """Make an area that scrolls `content` vertically, and if `horizontal` also horizontally."""
        super().__init__(content.parentWidget())
        self._content = content
        self._is_horizontal = horizontal
        for widget in (self, content):  # before the widget gets its style
            widget.setProperty("clear", "true")
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if not horizontal:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        application().focusChanged.connect(self._on_focus_changed)

    @override
    def minimumSizeHint(self) -> QSize:
        """Return a width that needs no horizontal scrolling."""
        width = self._content.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return super().minimumSizeHint().expandedTo(QSize(width if self._is_horizontal else 0, 0))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        handled = super().eventFilter(watched, event)
        if self._is_horizontal and event.type() is QEvent.Type.LayoutRequest and watched is self._content:
            self.updateGeometry()
        return handled

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, previous: QWidget | None, focused: QWidget | None) -> None:
        """Scroll to the whole focused widget, but not after a click, or when the window is activated.

        Qt scrolls only to the cursor of a text, and not when Tab enters the area.
        """
        if (
            previous is None
            or focused is None
            or QGuiApplication.mouseButtons()
            or not self._content.isAncestorOf(focused)
        ):
            return
        rect = QRect(focused.mapTo(self._content, QPoint()), focused.size())
        self.ensureVisible(rect.center().x(), rect.center().y(), rect.width() // 2, rect.height() // 2 + 1)


class CollapsibleHeader(QWidget):
    """A heading that shows or hides the widget below it when it is clicked."""

    #: The content was shown or hidden.
    toggled = Signal()

    def __init__(self, theme: Theme, title: str, content: QWidget) -> None:
        """Make the heading; `content` is collapsed, and must follow it in the layout."""
        super().__init__()
        self._theme = theme
        self._content = content
        self._button = QPushButton(title)
        self._button.setProperty("variant", "collapse")
        self._button.clicked.connect(self.toggle)
        self._remark = PlainLabel(tone="muted")
        self._row = fill(QHBoxLayout(self), self._button, (self._remark, 1), margins=0, spacing=S)
        self.set_expanded(is_expanded=False)

    @property
    def is_expanded(self) -> bool:
        """Whether the content is shown."""
        return not self._content.isHidden()

    def set_remark(self, text: str) -> None:
        """Show a short text beside the title."""
        self._remark.setText(text)

    def add(self, widget: QWidget) -> None:
        """Show a widget at the end of the heading."""
        self._row.addWidget(widget)

    def set_expanded(self, *, is_expanded: bool) -> None:
        """Show or hide the content, and emit `toggled`."""
        self._content.setVisible(is_expanded)
        self._theme.icons.put_on(self._button, "chevron-down" if is_expanded else "chevron-right", "muted")
        state = self.tr("shown") if is_expanded else self.tr("hidden")
        self._button.setAccessibleDescription(state)
        self.toggled.emit()

    @Slot()
    def toggle(self) -> None:
        """Show the content if it is hidden, else hide it."""
        self.set_expanded(is_expanded=not self.is_expanded)


class ActionRow(QHBoxLayout):
    """A row with a button for each action. Buttons are reused, so that one keeps the focus when actions change."""

    def __init__(self, spacing: int, **style: str) -> None:
        """Make a row without buttons; `style` are dynamic properties of the buttons."""
        super().__init__()
        self.setSpacing(spacing)
        self._style = style
        self._actions: list[tuple[str, Callable[[], object]]] = []
        self._buttons: list[QPushButton] = []

    @property
    def labels(self) -> list[str]:
        """The labels of the shown actions."""
        return [label for label, _ in self._actions]

    def show_actions(self, actions: Iterable[tuple[str, Callable[[], object]]]) -> None:
        """Replace the actions, each a label and a function."""
        self._actions = [*actions]
        while len(self._buttons) < len(self._actions):
            self._add_button()
        for index, button in enumerate(self._buttons):
            label = self.labels[index] if index < len(self._actions) else ""
            if label != button.text():
                button.setDown(False)  # it was pressed for the previous action
                button.setText(label)
            button.setVisible(bool(label))  # at once; the layout would show it only later

    @property
    def first_button(self) -> QPushButton | None:
        """The button of the first action; None without actions."""
        return self._buttons[0] if self._actions else None

    def _add_button(self) -> None:
        button = OneClickButton()
        index = len(self._buttons)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # so a click leaves the focus in the field
        set_properties(button, **self._style)
        button.clicked.connect(partial(self._run, index))
        self._buttons.append(button)
        self.insertWidget(index, button)

    def _run(self, index: int) -> None:
        _, action = self._actions[index]
        action()
