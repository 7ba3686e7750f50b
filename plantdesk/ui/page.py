"""The centre of the window: form, list and bars, sidebar and card beside them or over the list."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QGridLayout, QHBoxLayout, QStyle, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.qt import application, fill, has_focus, mirrored
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.messages import BarStack, InfoBar, Toast
from plantdesk.ui.widgets.plain_text import announce

_SHADOW, _SHADOW_COLOR = 24, QColor(0, 0, 0, 90)
#: Widths for text of 13 px. The card takes a quarter of the page, within its two widths.
_SIDEBAR, _CARD, _MAX_CARD = 212, 320, 400
#: If the page is narrower, the sidebar is collapsed.
_SIDEBAR_FROM = 900
#: From the edges of the list to the toast, which ends where the rows end.
_TOAST_EDGE = 18


class SidePane(QFrame):
    """A pane beside the list. It is hidden until it has content and the user requests it.

    `changed`: it was shown, hidden, docked or collapsed. `focus_lost`: it was hidden while it had the focus; a slot
    must move the focus, which Qt would give to the next button.
    """

    changed = Signal()
    focus_lost = Signal()

    def __init__(self, kind: str, parent: QWidget) -> None:
        """Make an empty pane; `kind` names its background in the style sheet."""
        super().__init__(parent)
        self._has_content, self._name = False, ""
        #: Whether the user wants the pane if there is room for it. The settings remember it.
        self.is_requested = False
        self._is_available = True
        self._has_room = True
        #: Whether the user has opened the pane while it is collapsed.
        self.is_open = False
        #: The width below which the content is cut, in pixels.
        self.needed_width = 0
        self.setProperty("pane", kind)
        # Never replaced: Qt would delete the old effect, and the program would crash when the window is deleted.
        self._shadow = QGraphicsDropShadowEffect(self, blurRadius=_SHADOW, offset=QPointF(0, 2), color=_SHADOW_COLOR)
        self._shadow.setEnabled(False)
        self.setGraphicsEffect(self._shadow)
        self._layout = fill(QVBoxLayout(self), margins=0)
        self.hide()

    def set_content(self, content: QWidget) -> None:
        """Show `content`, whose accessible name is that of the pane; until then the pane is hidden."""
        self._name = content.accessibleName()
        self._layout.addWidget(content)
        self._has_content = True
        self._update()

    @property
    def is_docked(self) -> bool:
        """Whether the pane is beside the list."""
        return self._has_content and self._is_available and self._has_room and self.is_requested

    @property
    def is_collapsed(self) -> bool:
        """Whether there is no room for the pane beside the list."""
        return not self._has_room

    @property
    def is_drawer(self) -> bool:
        """Whether the pane is open over the list."""
        return self._has_content and self._is_available and not self._has_room and self.is_open

    def set_needed_width(self, width: int) -> None:
        """Set the width below which the content is cut."""
        if width != self.needed_width:
            self.needed_width = width
            self.changed.emit()

    def set_requested(self, *, requested: bool) -> None:
        """Show the pane if there is room for it, or hide it."""
        self.is_requested = requested
        self.is_open = self.is_open and requested
        self._update()

    def set_available(self, *, available: bool) -> None:
        """Hide the pane while it has nothing to show."""
        if available != self._is_available:
            self._is_available = available
            self._update()

    def set_room(self, *, enough: bool) -> None:
        """Dock the pane, or collapse it if there is not `enough` room; it stays open while it has the focus.

        Only `Page` calls this.
        """
        if enough != self._has_room:
            self._has_room = enough
            self.is_open = not enough and self.isVisible() and self.isAncestorOf(self.window().focusWidget())
            self._update()

    def toggle(self) -> None:
        """Show or hide the pane: beside the list, or over it if it is collapsed; screen readers say which."""
        was_visible = self.isVisible()
        if self._has_room:
            self.is_requested = not self.is_requested
        else:
            self.is_open = not self.is_open
        self._update()
        if self.isVisible() is not was_visible:
            text = self.tr("{pane}: hidden") if was_visible else self.tr("{pane}: shown")
            announce(self, text.format(pane=self._name))

    def close_drawer(self) -> bool:
        """Close the pane if it is open over the list; return False if it is not."""
        if not self.is_drawer:
            return False
        self.toggle()
        return True

    def give_up_focus(self) -> None:
        """Let the window move the focus out of the pane, which was disabled."""
        self.focus_lost.emit()

    def _update(self) -> None:
        had_focus = has_focus(self)
        self._shadow.setEnabled(self.is_drawer)
        self.setVisible(self.is_docked or self.is_drawer)
        self.changed.emit()
        if had_focus and self.isHidden():
            self.focus_lost.emit()


class Part(IntEnum):
    """The parts of the window, in the order in which F6 goes through them."""

    TOAST = auto()
    FORM = auto()
    UNSAVED = auto()
    SIDEBAR = auto()
    SEARCH = auto()
    LIST = auto()
    CARD = auto()
    STATUS = auto()


class Page(QFrame):
    """Shows the panes of the features, with lines between them: these are its own background.

    `sidebar` and `card` are docked beside the list, or collapse if it would get too narrow. `toast`, over the end of
    the list, reports what was done.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: list[tuple[Part, QWidget, Callable[[], object]]] = []
        self._needed_width: Callable[[], int] = lambda: 0
        self._strip = QFrame(self)
        self._list = QFrame(self)
        self._list.setMinimumHeight(1)  # so that in a low window the bars below it keep their height
        self._bar_stack = BarStack(theme)
        self.sidebar = SidePane("sidebar", self)
        self.card = SidePane("card", self)
        self.toast = Toast(theme, self)
        self._lay_out()
        self.add_part(Part.TOAST, self.toast, self.toast.focus_first)
        for pane in (self.sidebar, self.card):
            pane.changed.connect(self.collapse_panes)
        theme.changed.connect(self.collapse_panes)
        application().focusChanged.connect(self._on_focus_changed)

    def add_top_pane(self, pane: QWidget) -> None:
        """Show `pane` above the list."""
        self._strip_layout.insertWidget(0, pane)

    def set_main_pane(self, pane: QWidget, needed_width: Callable[[], int] = lambda: 0) -> None:
        """Show `pane` above the bars, in all the room that is left; below `needed_width` the card collapses."""
        self._needed_width = needed_width
        self._list_layout.insertWidget(0, pane, 1)
        self.collapse_panes()

    def add_bar(self) -> InfoBar:
        """Return a new bar, which is hidden until it shows a state."""
        return self._bar_stack.add()

    def add_part(self, part: Part, widget: QWidget, focus: Callable[[], object]) -> None:
        """Let F6 reach `widget` while it is visible; `focus` moves the focus there."""
        self._parts.append((part, widget, focus))
        self._parts.sort(key=lambda each: each[0])

    def focus_part(self, part: Part) -> None:
        """Move the focus to a part of the window, if it is visible."""
        for each, widget, focus in self._parts:
            if each is part and widget.isVisible():
                focus()

    @Slot(int)
    def focus_next_part(self, step: int) -> None:
        """Move the focus to a message that waits, else to the next part of the window; -1: the previous one."""
        if step > 0 and self.toast.is_waiting:
            self.toast.focus_first()
            return
        parts = [(widget, focus) for _, widget, focus in self._parts if widget.isVisible()]
        here = next((number for number, (widget, _) in enumerate(parts) if has_focus(widget)), -step)
        _, focus = parts[(here + step) % len(parts)]
        focus()

    def close_drawer(self) -> bool:
        """Close the pane that is open over the list, of two the one with the focus; return False if none is open."""
        return any(pane.close_drawer() for pane in sorted((self.sidebar, self.card), key=has_focus, reverse=True))

    @Slot()
    def collapse_panes(self) -> None:
        """Dock the panes for which there is room, and collapse the others."""
        width, card = self.width(), self._card_width()
        sidebar = max(self._theme.metrics.scaled(_SIDEBAR), self.sidebar.needed_width)
        self.sidebar.set_room(enough=width >= self._theme.metrics.scaled(_SIDEBAR_FROM))
        taken = card + (sidebar if self.sidebar.is_docked else 0)
        self.card.set_room(enough=width - taken >= self._needed_width())
        for pane, pane_width, slot in ((self.sidebar, sidebar, self._sidebar_slot), (self.card, card, self._body)):
            pane.setFixedWidth(min(pane_width, width))
            if pane.is_collapsed:
                slot.removeWidget(pane)
            else:
                slot.addWidget(pane)
        self._place_drawers()

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, before: QWidget | None, focused: QWidget | None) -> None:
        """Close the sidebar over the list when the keyboard moves the focus from it to what it may cover."""
        is_left = before is not None and self.sidebar.isAncestorOf(before) and not QGuiApplication.mouseButtons()
        is_below = focused is not None and self.isAncestorOf(focused)
        if is_left and is_below and not any(map(has_focus, (self.sidebar, self.card, self.toast))):
            self.sidebar.close_drawer()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.collapse_panes()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._place_drawers()
        return handled

    def _lay_out(self) -> None:
        for frame, kind in ((self, "lines"), (self._strip, "strip"), (self._list, "list")):
            frame.setProperty("pane", kind)
        self._strip_layout = fill(QVBoxLayout(self._strip), margins=0, spacing=0)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addWidget(self._strip, 0, 1)
        self._sidebar_slot, self._body, column = QHBoxLayout(), QHBoxLayout(), QVBoxLayout()
        self._grid.addLayout(self._sidebar_slot, 0, 0, 2, 1)  # so it is after the form in the tab order
        self._grid.addLayout(self._body, 1, 1)
        self._body.addLayout(column, 1)  # all still empty: see `add_layout`
        self._sidebar_slot.addWidget(self.sidebar)
        self._list_layout = fill(QVBoxLayout(self._list), margins=0, spacing=0)
        fill(column, (self._list, 1), self._bar_stack)
        self._body.addWidget(self.card)
        for layout in (self._grid, self._body, column):
            layout.setSpacing(1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(1, 1)

    def _card_width(self) -> int:
        scaled = self._theme.metrics.scaled
        return min(max(scaled(_CARD), self.width() // 4), scaled(_MAX_CARD))

    def _place_drawers(self) -> None:
        """Lay collapsed panes over the list, the sidebar at its start, the card at its end, the toast between."""
        top = self._strip.geometry().bottom() + 2
        for pane, at_start in ((self.sidebar, True), (self.card, False)):
            if pane.is_collapsed:
                x = 0 if at_start else self.width() - pane.width()
                rect = QRect(x, top, pane.width(), self._list.geometry().bottom() + 1 - top)
                pane.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), rect))
                pane.raise_()
        start, end = (_TOAST_EDGE + (pane.width() if pane.is_drawer else 0) for pane in (self.sidebar, self.card))
        left, _, right, _ = mirrored(self, start, 0, end, 0)
        place = QRect(self._list.mapTo(self, QPoint()), self._list.size())
        self.toast.set_area(place.adjusted(left, 0, -right, 0))
