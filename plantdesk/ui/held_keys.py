"""Holds what is typed while a command still reads or writes what the next keys are meant for."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override

from plantdesk.ui.qt import application

#: Milliseconds after which the keys are dropped: what they were meant for may never come.
_TIMEOUT = 5000


def _copy(event: QKeyEvent) -> QKeyEvent:
    """Return a copy of a key event, which Qt may delete.

    Ctrl+; loses its Shift: some keyboards need Shift for “;”, and Qt ignores that only for events of the keyboard
    itself.
    """
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    key, modifiers = event.key(), event.modifiers()
    if key < Qt.Key.Key_Escape and not chr(key).isalpha() and modifiers & control:
        modifiers &= ~shift
    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers, event.text(), event.isAutoRepeat())


class HeldKeys(QObject):
    """Holds the keys of one window: `hold` them, then `release` them in their order, or `drop` them.

    If a key starts a command that holds again, the keys after it wait until that has ended. A click drops the
    commands.
    """

    def __init__(self, widget: QWidget) -> None:
        """Hold the keys of the window of `widget`."""
        super().__init__(widget)
        self._widget = widget
        self._keys: deque[QKeyEvent] = deque()
        self._is_holding = False
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._type)
        self._timeout = QTimer(self, singleShot=True, interval=_TIMEOUT)
        self._timeout.timeout.connect(self.drop_commands)

    def hold(self) -> None:
        """Hold the keys that follow."""
        self._soon.stop()
        self._timeout.start()
        if not self._is_holding:
            self._is_holding = True
            application().installEventFilter(self)

    @Slot()
    def release(self) -> None:
        """Type what is held, soon: the caller has finished then."""
        if self._is_holding:
            self._soon.start()

    @Slot()
    def drop(self) -> None:
        """Forget what is held."""
        if self._is_holding:
            self._end()
            self._keys.clear()

    @Slot()
    def drop_commands(self) -> None:
        """Send what is held to the focused text field, but run no command; without such a field, drop the keys."""
        keys, target = list(self._keys), self._target()
        self.drop()
        if target.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled):
            for key in keys:
                target.event(key)  # `sendEvent` looks for shortcuts

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind is QEvent.Type.MouseButtonPress:
            self.drop_commands()
        elif kind in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress} and self._is_of_window():
            if isinstance(event, QKeyEvent) and kind is QEvent.Type.KeyPress:
                self._keys.append(_copy(event))
            event.accept()  # so that it is no shortcut
            return True
        return False

    def _is_of_window(self) -> bool:
        active = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
        return active is None or active is self._widget.window()

    def _end(self) -> None:
        self._is_holding = False
        self._soon.stop()
        self._timeout.stop()
        application().removeEventFilter(self)

    @Slot()
    def _type(self) -> None:
        self._end()
        while self._keys and not self._is_holding:
            QApplication.sendEvent(self._target(), self._keys.popleft())  # or the shortcut that it is

    def _target(self) -> QWidget:
        top: QWidget = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self._widget.window()
        focused: QWidget | None = top.focusWidget()
        return top if focused is None else focused
