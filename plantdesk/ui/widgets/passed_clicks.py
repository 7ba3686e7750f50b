"""Passes a click beside an open popup on to what is there; Qt closes the popup and drops the click."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from plantdesk.ui.qt import override


class PassedClicks(QObject):
    """Works for the popup of one completer, on which it must be installed after the completer."""

    def __init__(self, popup: QWidget) -> None:
        super().__init__(popup)
        self._popup = popup
        popup.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent) or event.type() is not QEvent.Type.MouseButtonPress:
            return False
        position = event.globalPosition()
        if self._popup.rect().contains(self._popup.mapFromGlobal(position.toPoint())):
            return False
        self._popup.hide()
        below = QApplication.widgetAt(position.toPoint())
        if below is not None:
            _focus_by_click(below)
            local = QPointF(below.mapFromGlobal(position))
            for kind in (event.type(), QEvent.Type.MouseButtonRelease):  # the release goes to the popup
                buttons = event.button(), event.buttons(), event.modifiers()
                QApplication.sendEvent(below, QMouseEvent(kind, local, position, *buttons))
        return True


def _focus_by_click(widget: QWidget | None) -> None:
    """Move the focus as a click on a widget does; Qt does so only for events of the window system."""
    while widget is not None and not widget.focusPolicy() & Qt.FocusPolicy.ClickFocus:
        widget = widget.parentWidget()
    if widget is not None:
        widget.setFocus(Qt.FocusReason.MouseFocusReason)
