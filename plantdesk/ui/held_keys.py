"""Holds back the keys that are typed while a command still reads or changes the plant they are meant for."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override

from plantdesk.ui.qt import application

#: Milliseconds after which the keys are dropped.
_TIMEOUT_MS = 5000


def _copy_event(event: QKeyEvent) -> QKeyEvent:
    """Return a copy of a key event, as Qt deletes the original.

    The copy of Ctrl+; has no Shift, which some keyboards need for “;”: Qt ignores it in events of the keyboard only.
    """
    control = Qt.KeyboardModifier.ControlModifier
    shift = Qt.KeyboardModifier.ShiftModifier
    key = event.key()
    modifiers = event.modifiers()
    if key < Qt.Key.Key_Escape and not chr(key).isalpha() and modifiers & control:
        modifiers &= ~shift
    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers, event.text(), event.isAutoRepeat())


class HeldKeys(QObject):
    """Holds the keys of one window after `hold`. `release` sends them in their order; `drop` discards them.

    If a released key calls `hold` again, the keys after it wait. At a click, text fields still get held keys as
    text.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._keys: deque[QKeyEvent] = deque()
        self._is_holding = False
        self._release_timer = QTimer(self, singleShot=True, interval=0)
        self._release_timer.timeout.connect(self._send_keys)
        self._timeout_timer = QTimer(self, singleShot=True, interval=_TIMEOUT_MS)
        self._timeout_timer.timeout.connect(self.drop_commands)

    def hold(self) -> None:
        """Hold back keys from now on, until `release` or `drop`, or at most for five seconds."""
        self._release_timer.stop()
        self._timeout_timer.start()
        if not self._is_holding:
            self._is_holding = True
            application().installEventFilter(self)

    @Slot()
    def release(self) -> None:
        """Send the held keys, in their order, once control returns to the event loop."""
        if self._is_holding:
            self._release_timer.start()

    @Slot()
    def drop(self) -> None:
        """Discard the held keys, and stop holding."""
        if self._is_holding:
            self._stop_holding()
            self._keys.clear()

    @Slot()
    def drop_commands(self) -> None:
        """Stop holding; send the keys as mere text to the focused field, or discard them without one."""
        keys = list(self._keys)
        target = self._find_target()
        self.drop()
        if target.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled):
            for key in keys:
                target.event(key)  # unlike `sendEvent`, without shortcuts

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind is QEvent.Type.MouseButtonPress:
            self.drop_commands()
        elif kind in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress} and self._is_window_active():
            if isinstance(event, QKeyEvent) and kind is QEvent.Type.KeyPress:
                self._keys.append(_copy_event(event))
            event.accept()  # else it would trigger a shortcut
            return True
        return False

    def _is_window_active(self) -> bool:
        active = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
        return active is None or active is self._widget.window()

    def _stop_holding(self) -> None:
        self._is_holding = False
        self._release_timer.stop()
        self._timeout_timer.stop()
        application().removeEventFilter(self)

    @Slot()
    def _send_keys(self) -> None:
        self._stop_holding()
        while self._keys and not self._is_holding:
            QApplication.sendEvent(self._find_target(), self._keys.popleft())  # or its shortcut

    def _find_target(self) -> QWidget:
        top: QWidget = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self._widget.window()
        focused: QWidget | None = top.focusWidget()
        return top if focused is None else focused
