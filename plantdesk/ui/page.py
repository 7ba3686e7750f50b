"""The central widget: form, list and bars; sidebar and card are docked beside them, or collapse to drawers."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QGridLayout, QHBoxLayout, QStyle, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.ui.qt import application, fill, has_focus, mirrored
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import SCROLL_BAR_WIDTH
from plantdesk.ui.widgets.messages import BarStack, InfoBar, Toast
from plantdesk.ui.widgets.plain_text import announce

_SHADOW_RADIUS = 24
_SHADOW_COLOR = QColor(0, 0, 0, 90)
#: Widths for text of 13 px. The card takes a quarter of the page, within these limits.
_SIDEBAR_WIDTH = 212
_MIN_CARD_WIDTH = 320
_MAX_CARD_WIDTH = 400
#: The least width of the page at which the sidebar is docked, for text of 13 px.
_MIN_DOCKING_WIDTH = 900


class SidePane(QFrame):
    """A pane beside the list. It is hidden until it has content and the user requests it."""

    #: The pane was shown, hidden, docked or collapsed.
    changed = Signal()
    #: It was hidden while it had the focus. A slot must move the focus: Qt would give it to the next button.
    focus_lost = Signal()

    def __init__(self, kind: str, parent: QWidget) -> None:
        """Make an empty pane; `kind` names its background in the style sheet."""
        super().__init__(parent)
        self._has_content = False
        self._name = ""
        #: Whether the user wants the pane to be docked where there is room; saved with the view.
        self.is_requested = False
        self._is_available = True
        self._has_room = True
        #: Whether the user has opened the collapsed pane as a drawer.
        self.is_open = False
        #: The least width of the content, in pixels.
        self.needed_width = 0
        self.setProperty("pane", kind)
        # Never replaced: Qt would delete the old effect, and the program would crash when the window is deleted.
        self._shadow = QGraphicsDropShadowEffect(
            self, blurRadius=_SHADOW_RADIUS, offset=QPointF(0, 2), color=_SHADOW_COLOR
        )
        self._shadow.setEnabled(False)
        self.setGraphicsEffect(self._shadow)
        self._layout = fill(QVBoxLayout(self), margins=0)
        self.hide()

    def set_content(self, content: QWidget) -> None:
        """Show `content`; the pane gets its accessible name."""
        self._name = content.accessibleName()
        self._layout.addWidget(content)
        self._has_content = True
        self._update_visibility()

    @property
    def is_docked(self) -> bool:
        """Whether the pane is shown beside the list."""
        return self._has_content and self._is_available and self._has_room and self.is_requested

    @property
    def is_collapsed(self) -> bool:
        """Whether the window is too narrow for the pane beside the list; then it can be a drawer."""
        return not self._has_room

    @property
    def is_drawer(self) -> bool:
        """Whether the pane is shown over the list, as an open drawer."""
        return self._has_content and self._is_available and not self._has_room and self.is_open

    def set_needed_width(self, width: int) -> None:
        """Set the least width of the content, in pixels."""
        if width != self.needed_width:
            self.needed_width = width
            self.changed.emit()

    def set_requested(self, *, requested: bool) -> None:
        """Set whether the user wants the pane: it is docked where there is room, or hidden."""
        self.is_requested = requested
        self.is_open = self.is_open and requested
        self._update_visibility()

    def set_available(self, *, available: bool) -> None:
        """Set whether the pane has something to show; otherwise it is hidden."""
        if available != self._is_available:
            self._is_available = available
            self._update_visibility()

    def set_has_room(self, *, has_room: bool) -> None:
        """Dock the pane, or collapse it, to an open drawer if it has the focus. Only `Page` calls this."""
        if has_room != self._has_room:
            self._has_room = has_room
            self.is_open = not has_room and self.isVisible() and self.isAncestorOf(self.window().focusWidget())
            self._update_visibility()

    def toggle(self) -> None:
        """Show or hide the pane, as a drawer if it is collapsed, and announce that to screen readers."""
        was_visible = self.isVisible()
        if self._has_room:
            self.is_requested = not self.is_requested
        else:
            self.is_open = not self.is_open
        self._update_visibility()
        if self.isVisible() is not was_visible:
            text = self.tr("{pane}: hidden") if was_visible else self.tr("{pane}: shown")
            announce(self, text.format(pane=self._name))

    def close_drawer(self) -> bool:
        """Close the pane if it is a drawer; return whether it was one."""
        if not self.is_drawer:
            return False
        self.toggle()
        return True

    def give_up_focus(self) -> None:
        """Emit `focus_lost`, so that the window moves the focus out of the pane, which was disabled."""
        self.focus_lost.emit()

    def _update_visibility(self) -> None:
        had_focus = has_focus(self)
        self._shadow.setEnabled(self.is_drawer)
        self.setVisible(self.is_docked or self.is_drawer)
        self.changed.emit()
        if had_focus and self.isHidden():
            self.focus_lost.emit()


class PagePart(IntEnum):
    """The parts of the window, in the order in which F6 goes through them."""

    TOAST = auto()
    FORM = auto()
    UNSAVED = auto()
    SIDEBAR = auto()
    SEARCH = auto()
    LIST = auto()
    CARD = auto()
    STATUS = auto()


class _FocusTarget(NamedTuple):
    part: PagePart
    widget: QWidget
    focus: Callable[[], object]


class Page(QFrame):
    """The panes of the features. The lines between them are the background of the page.

    `sidebar_pane` and `card_pane` are docked beside the list, or collapse if it would get too narrow. `toast` reports
    finished actions, over the end of the list.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: list[_FocusTarget] = []
        self._needed_width: Callable[[], int] = lambda: 0
        self._strip = QFrame(self)
        self._list = QFrame(self)
        self._list.setMinimumHeight(1)  # so that in a low window the bars below it keep their height
        self._bar_stack = BarStack(theme)
        self.sidebar_pane = SidePane("sidebar", self)
        self.card_pane = SidePane("card", self)
        self.toast = Toast(theme, self)
        self._lay_out()
        self.add_part(PagePart.TOAST, self.toast, self.toast.focus_first)
        for pane in (self.sidebar_pane, self.card_pane):
            pane.changed.connect(self.collapse_panes)
        theme.changed.connect(self.collapse_panes)
        application().focusChanged.connect(self._on_focus_changed)

    def add_top_pane(self, pane: QWidget) -> None:
        """Add `pane` above the list, on top of what is there."""
        self._strip_layout.insertWidget(0, pane)

    def set_main_pane(self, pane: QWidget, needed_width: Callable[[], int] = lambda: 0) -> None:
        """Add `pane` above the bars; the card collapses if `pane` would get narrower than `needed_width`."""
        self._needed_width = needed_width
        self._list_layout.insertWidget(0, pane, 1)
        self.collapse_panes()

    def add_bar(self) -> InfoBar:
        """Add an info bar below the list, and return it; it is hidden until it shows a state."""
        return self._bar_stack.add()

    def add_part(self, part: PagePart, widget: QWidget, focus: Callable[[], object]) -> None:
        """Let F6 go to `widget` while it is visible; `focus` moves the focus into it."""
        self._parts.append(_FocusTarget(part, widget, focus))
        self._parts.sort(key=lambda target: target.part)

    def focus_part(self, part: PagePart) -> None:
        """Move the focus to a part of the window, if it is visible."""
        for target in self._parts:
            if target.part is part and target.widget.isVisible():
                target.focus()

    @Slot(int)
    def focus_next_part(self, step: int) -> None:
        """Move the focus to the next part (-1: previous), but first to a toast that is new."""
        if step > 0 and self.toast.is_waiting:
            self.toast.focus_first()
            return
        targets = [target for target in self._parts if target.widget.isVisible()]
        focused = next((index for index, target in enumerate(targets) if has_focus(target.widget)), -step)
        targets[(focused + step) % len(targets)].focus()

    def close_drawer(self) -> bool:
        """Close one drawer, first the one with the focus; return whether one was open."""
        return any(
            pane.close_drawer() for pane in sorted((self.sidebar_pane, self.card_pane), key=has_focus, reverse=True)
        )

    @Slot()
    def collapse_panes(self) -> None:
        """Dock the panes for which there is room, and collapse the others to drawers."""
        width = self.width()
        card_width = self._card_width()
        sidebar_width = max(self._theme.metrics.scaled(_SIDEBAR_WIDTH), self.sidebar_pane.needed_width)
        self.sidebar_pane.set_has_room(has_room=width >= self._theme.metrics.scaled(_MIN_DOCKING_WIDTH))
        taken_width = card_width + (sidebar_width if self.sidebar_pane.is_docked else 0)
        self.card_pane.set_has_room(has_room=width - taken_width >= self._needed_width())
        for pane, pane_width, slot in (
            (self.sidebar_pane, sidebar_width, self._sidebar_slot),
            (self.card_pane, card_width, self._body),
        ):
            pane.setFixedWidth(min(pane_width, width))
            if pane.is_collapsed:
                slot.removeWidget(pane)
            else:
                slot.addWidget(pane)
        self._arrange_drawers()

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, previous: QWidget | None, focused: QWidget | None) -> None:
        """Close the sidebar's drawer when a key moves the focus from it to a widget that it may cover."""
        if previous is None or focused is None or QGuiApplication.mouseButtons():
            return
        is_covered = not any(map(has_focus, (self.sidebar_pane, self.card_pane, self.toast)))
        if self.sidebar_pane.isAncestorOf(previous) and self.isAncestorOf(focused) and is_covered:
            self.sidebar_pane.close_drawer()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.collapse_panes()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._arrange_drawers()
        return handled

    def _lay_out(self) -> None:
        for frame, kind in ((self, "lines"), (self._strip, "strip"), (self._list, "list")):
            frame.setProperty("pane", kind)
        self._strip_layout = fill(QVBoxLayout(self._strip), margins=0, spacing=0)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addWidget(self._strip, 0, 1)
        self._sidebar_slot = QHBoxLayout()
        self._body = QHBoxLayout()
        column = QVBoxLayout()
        self._grid.addLayout(self._sidebar_slot, 0, 0, 2, 1)  # added after the form, for the tab order
        self._grid.addLayout(self._body, 1, 1)
        self._body.addLayout(column, 1)  # all still empty: see `add_layout`
        self._sidebar_slot.addWidget(self.sidebar_pane)
        self._list_layout = fill(QVBoxLayout(self._list), margins=0, spacing=0)
        fill(column, (self._list, 1), self._bar_stack)
        self._body.addWidget(self.card_pane)
        for layout in (self._grid, self._body, column):
            layout.setSpacing(1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(1, 1)

    def _card_width(self) -> int:
        scaled = self._theme.metrics.scaled
        return min(max(scaled(_MIN_CARD_WIDTH), self.width() // 4), scaled(_MAX_CARD_WIDTH))

    def _arrange_drawers(self) -> None:
        """Place collapsed panes over the ends of the list, and the toast between open drawers."""
        top = self._strip.geometry().bottom() + 2
        for pane, is_at_start in ((self.sidebar_pane, True), (self.card_pane, False)):
            if pane.is_collapsed:
                x = 0 if is_at_start else self.width() - pane.width()
                rect = QRect(x, top, pane.width(), self._list.geometry().bottom() + 1 - top)
                pane.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), rect))
                pane.raise_()
        start_margin, end_margin = (
            SCROLL_BAR_WIDTH + (pane.width() if pane.is_drawer else 0) for pane in (self.sidebar_pane, self.card_pane)
        )
        left, _, right, _ = mirrored(self, start_margin, 0, end_margin, 0)
        area = QRect(self._list.mapTo(self, QPoint()), self._list.size())
        self.toast.set_area(area.adjusted(left, 0, -right, 0))
