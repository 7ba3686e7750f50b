"""Lets the list of a completer take no focus, so that no letter goes to another field.

Qt makes the list a window of type Popup. X11 gives it the focus, and reports that late: where the user has gone on to
another field meanwhile, Qt moves the focus back to the field of the completer (seen at 8 and at 25 ms a key on a busy
machine). Qt also drops the click that closes a popup. A tooltip window has no focus, and leaves clicks to the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtWidgets import QCompleter, QWidget

_CLOSING = {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowDeactivate, QEvent.Type.MouseButtonPress}


class CompleterPopup(QObject):
    """Shows the list of one completer without focus, passes the keys of its field on to it, and closes it."""

    def __init__(self, completer: QCompleter, owner: QWidget) -> None:
        """Use the completer's present popup; `owner` is in the window of its fields."""
        super().__init__(completer)
        popup = completer.popup()
        assert popup is not None  # noqa: S101  Qt makes it, unless another one was set
        self._completer, self._popup = completer, popup
        self._field: QWidget | None = None
        self._popup.setParent(owner, Qt.WindowType.ToolTip | Qt.WindowType.WindowDoesNotAcceptFocus)
        self._popup.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self._popup:
            if kind is QEvent.Type.Show:
                self._follow(self._completer.widget())
            elif kind is QEvent.Type.Hide:
                self._follow(None)
        elif watched is self._field and kind is QEvent.Type.KeyPress:
            return QApplication.sendEvent(self._popup, event)  # the completer asks the field first
        elif kind is QEvent.Type.FocusOut if watched is self._field else kind in _CLOSING:
            self._popup.hide()
        return False

    def _follow(self, field: QWidget | None) -> None:
        """Watch a field and its window while the list is shown."""
        before, self._field = self._field, field
        if before is not None:
            before.removeEventFilter(self)
            before.window().removeEventFilter(self)
        if field is not None:
            field.installEventFilter(self)
            field.window().installEventFilter(self)
