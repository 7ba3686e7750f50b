"""Holds what is typed while a command still reads or writes what the next keys are meant for."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget

from plantdesk.ui.qt import override

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from plantdesk.ui.menus import Menus

#: Milliseconds after which the keys are dropped: what they were meant for may never come.
_TIMEOUT = 5000
#: The first key that is no character.
_FIRST_SPECIAL = Qt.Key.Key_Escape


class _Key(NamedTuple):
    key: int
    modifiers: Qt.KeyboardModifier
    text: str
    is_repeated: bool

    def event(self, kind: QEvent.Type) -> QKeyEvent:
        return QKeyEvent(kind, self.key, self.modifiers, self.text, self.is_repeated)

    def sequences(self) -> set[QKeySequence]:
        """Return the shortcuts that it may be; Shift may be needed to type a character, such as the semicolon."""
        modifiers = self.modifiers & ~Qt.KeyboardModifier.KeypadModifier
        possible = {modifiers}
        if self.key < _FIRST_SPECIAL and not chr(self.key).isalpha():
            possible.add(modifiers & ~Qt.KeyboardModifier.ShiftModifier)
        return {QKeySequence(each.value | self.key) for each in possible}


class HeldKeys(QObject):
    """Keys of one window: `hold` them, then `release` them in their order, or `drop` them.

    A key that starts a command which holds again is followed by the rest when that has ended. A click drops what is
    held.
    """

    def __init__(self, widget: QWidget, menus: Menus) -> None:
        """Hold the keys of the window of `widget`, whose commands are in `menus`."""
        super().__init__(widget)
        self._widget = widget
        self._menus = menus
        self._keys: deque[_Key] = deque()
        self._is_holding = False
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._type)
        self._timeout = QTimer(self, singleShot=True, interval=_TIMEOUT)
        self._timeout.timeout.connect(self.drop)

    def hold(self) -> None:
        """Hold the keys that follow."""
        self._soon.stop()
        self._timeout.start()
        if not self._is_holding:
            self._is_holding = True
            self._application.installEventFilter(self)

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

    def drop_commands(self) -> None:
        """Let the text field that has the focus get what is held, but no command; without such a field, forget it."""
        keys, target = list(self._keys), self._target()
        self.drop()
        if target.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled):
            for key in keys:
                QApplication.sendEvent(target, key.event(QEvent.Type.KeyPress))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind is QEvent.Type.MouseButtonPress:
            self.drop()
        elif kind in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress} and self._is_of_window():
            if isinstance(event, QKeyEvent) and kind is QEvent.Type.KeyPress:
                self._keys.append(_Key(event.key(), event.modifiers(), event.text(), event.isAutoRepeat()))
            event.accept()  # so that it is no shortcut
            return True
        return False

    @property
    def _application(self) -> QApplication:
        application = QApplication.instance()
        assert isinstance(application, QApplication)  # noqa: S101  there are widgets
        return application

    def _is_of_window(self) -> bool:
        active = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
        return active is None or active is self._widget.window()

    def _end(self) -> None:
        self._is_holding = False
        self._soon.stop()
        self._timeout.stop()
        self._application.removeEventFilter(self)

    @Slot()
    def _type(self) -> None:
        self._end()
        while self._keys and not self._is_holding:
            self._press(self._keys.popleft())

    def _press(self, key: _Key) -> None:
        """Press a key as Qt does: the focus may take it before a command."""
        target, shortcut = self._target(), key.event(QEvent.Type.ShortcutOverride)
        shortcut.ignore()
        QApplication.sendEvent(target, shortcut)
        command = None if shortcut.isAccepted() else self._command(key)
        if command is None:
            QApplication.sendEvent(target, key.event(QEvent.Type.KeyPress))
        elif command.autoRepeat() or not key.is_repeated:
            command.trigger()

    def _command(self, key: _Key) -> QAction | None:
        if QApplication.activeModalWidget() is not None:
            return None
        sequences = key.sequences()
        return next((each for each in self._menus.actions if sequences.intersection(each.shortcuts())), None)

    def _target(self) -> QWidget:
        top: QWidget = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self._widget.window()
        focused: QWidget | None = top.focusWidget()
        return top if focused is None else focused
