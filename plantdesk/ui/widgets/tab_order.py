"""Sets the tab order to the order of the layouts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import SignalInstance


class TabOrder(QObject):
    """Sets the order of a window whenever its focus is going to move, as widgets come and go in the layouts.

    Not when they come and go: that would take 3 ms for each message of the main window.
    """

    def __init__(self, window: QWidget, focus_moving: SignalInstance, *parts: QWidget) -> None:
        """Order what is in `parts`, one after the other, each time `focus_moving` is emitted."""
        super().__init__(window)
        self._parts = parts
        self._order: list[QWidget] = []
        focus_moving.connect(self._set_order)

    @Slot()
    def _set_order(self) -> None:
        order = [widget for part in self._parts for widget in _tab_stops(part)]
        if order != self._order:
            self._order = order
            for first, second in pairwise(order):
                QWidget.setTabOrder(first, second)


def _tab_stops(widget: QWidget) -> Iterator[QWidget]:
    """Yield `widget` and its descendants that accept the focus by Tab, in the order of the layouts."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    layout = widget.layout()
    children = [each for each in widget.children() if isinstance(each, QWidget) and not each.isWindow()]
    laid_out = list(_laid_out(layout, children)) if layout is not None else []
    for child in [*laid_out, *(each for each in children if each not in laid_out)]:
        yield from _tab_stops(child)


def _laid_out(layout: QLayout, children: list[QWidget]) -> Iterator[QWidget]:
    """Yield those of `children` that are in a layout, in its order.

    Not by itemAt(): Qt deletes layout items that Python has seen without its knowledge, and what comes to lie at their
    address is then mistaken for them.
    """
    parts: list[QWidget | QLayout] = [*children, *(each for each in layout.children() if isinstance(each, QLayout))]
    for part in sorted(parts, key=layout.indexOf):
        if isinstance(part, QLayout):
            yield from _laid_out(part, children)
        elif layout.indexOf(part) >= 0:
            yield part
