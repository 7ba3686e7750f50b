"""The main window: geometry, title and keys. `Workspace` is its content.

It imports no module of the content: the window is painted before these are imported, as that takes as long as
everything before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeyEvent, QMoveEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenuBar, QStatusBar, QWidget
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.ui.preferences import Preferences
from plantdesk.ui.qt import application, bring_to_front, fitted

_MIN_SIZE = QSize(640, 420)


class _FocusState(NamedTuple):
    """The focused widget, and its user property, such as the text of a field."""

    widget: QWidget | None
    value: object


class MainWindow(QMainWindow):
    """The main window. It saves its geometry, and restores it within the screens."""

    #: The first paint is done.
    shown = Signal()
    #: Escape was pressed, and no widget has handled it.
    escape_pressed = Signal()
    #: (step) F6, or with -1 Shift+F6, was pressed.
    part_requested = Signal(int)
    #: Tab or Shift+Tab is about to move the focus.
    focus_moving = Signal()
    #: The window closes, and the program ends.
    closing = Signal()
    #: The window was moved or resized.
    geometry_changed = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self._is_painted = False
        #: The widget that had the focus when the window was hidden, and gets it back.
        self._focus_when_hidden: QWidget | None = None
        #: While Tab or F6 moves the focus: the widget that had it before the first of these keys. Else None.
        self.focus_before_keys: QWidget | None = None
        self._focus_before_first_key: QWidget | None = None
        self._focus_after_keys = _FocusState(None, None)
        #: Called before the program ends; returns False to keep it running.
        self.may_close: Callable[[], bool] = lambda: True
        #: Called when the user closes the window; returns True if it was hidden, or the user was asked, instead.
        self.hide_on_close: Callable[[], bool] = lambda: False
        #: Whether closing the window ends the program, and never hides the window.
        self.is_quitting = False
        self.set_file_name(None)
        self.setMinimumSize(fitted(self, _MIN_SIZE))
        self._restore_geometry()

    def set_file_name(self, name: str | None) -> None:
        """Show the name of a store in the title; None: only the program's name."""
        self.setWindowTitle("PlantDesk" if name is None else f"{name} — PlantDesk")

    def clear(self) -> None:
        """Remove content, menus and status bar before another store is shown."""
        self.may_close = lambda: True
        self.hide_on_close = lambda: False
        content = self.takeCentralWidget()
        if content is not None:  # deleted before the bars, to which it refers
            content.deleteLater()
            QCoreApplication.sendPostedEvents(content, QEvent.Type.DeferredDelete)
        self.setMenuBar(QMenuBar())
        self.setStatusBar(QStatusBar())
        self.set_file_name(None)

    @Slot()
    def show_in_front(self, token: str = "") -> None:
        """Raise the window; Wayland allows this only with the activation `token` of a start by the user."""
        was_hidden = self.isHidden()
        bring_to_front(self, token)
        if was_hidden and self._focus_when_hidden is not None and isValid(self._focus_when_hidden):
            self._focus_when_hidden.setFocus()  # activating a hidden window moves the focus

    def show_restored(self) -> None:
        """Show the window, maximized if it was maximized at the end of the last run."""
        if self._preferences.settings.window.maximized:
            self.showMaximized()
        else:
            self.show()

    def show_minimized(self) -> None:
        """Show the window minimized, and emit `shown` at once, as it may never be painted."""
        self.start_hidden()
        self.showMinimized()

    def start_hidden(self) -> None:
        """Leave the window hidden, and emit `shown` at once, as it may never be painted."""
        if self._preferences.settings.window.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)
        self._report_shown()

    @Slot()
    def close_unasked(self) -> None:
        """Close the window without a question, and end the program."""
        self.may_close = lambda: True
        self.is_quitting = True
        self.close()

    @Slot()
    def quit(self) -> None:
        """End the program, even if closing would only hide the window; `may_close` may refuse and ask first."""
        self.is_quitting = True
        if self.isVisible():
            self.close()
        elif self._prepare_to_quit():
            QApplication.quit()
        else:
            self.show_in_front()
        self.is_quitting = False

    def save_geometry(self) -> None:
        """Save size and position for the next start; Wayland does not report the position."""
        is_maximized = self.isMaximized()
        rect = self.normalGeometry() if is_maximized or self.isMinimized() else self.geometry()
        values: dict[str, object] = {"width": rect.width(), "height": rect.height(), "maximized": is_maximized}
        if not QApplication.platformName().startswith("wayland"):
            values["position"] = [rect.x(), rect.y()]
        self._preferences.change(window=values)

    @override
    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.geometry_changed.emit()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.geometry_changed.emit()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self._focus_when_hidden = self.focusWidget()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        from plantdesk.ui.widgets.dialog import ENTER_KEYS, press_focused_button

        if event.key() == Qt.Key.Key_Escape:
            self.escape_pressed.emit()
        elif event.key() == Qt.Key.Key_F6:
            with self._focus_change_by_key():
                self.part_requested.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() in ENTER_KEYS:
            press_focused_button(self)
        else:
            super().keyPressEvent(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        self.focus_moving.emit()
        with self._focus_change_by_key():
            return super().focusNextPrevChild(following)

    @contextmanager
    def _focus_change_by_key(self) -> Iterator[None]:
        """In this context, `focus_before_keys` is the focused widget before the first of several keys."""
        if self._focus_state != self._focus_after_keys:
            self._focus_before_first_key = self.focusWidget()
        self.focus_before_keys = self._focus_before_first_key
        yield
        self.focus_before_keys = None
        self._focus_after_keys = self._focus_state

    @property
    def _focus_state(self) -> _FocusState:
        focused: QWidget | None = self.focusWidget()
        return _FocusState(focused, None if focused is None else focused.metaObject().userProperty().read(focused))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._report_shown()

    def _restore_geometry(self) -> None:
        """Restore the size, and the position if the upper corners of the window are on screens."""
        window = self._preferences.settings.window
        if window.position:
            x, y = window.position
            left_screen, right_screen = (QApplication.screenAt(QPoint(edge, y)) for edge in (x, x + window.width - 1))
            if left_screen is not None and right_screen is not None:
                self.setScreen(left_screen)
                self.setGeometry(x, y, 0, 0)  # without the frame, unlike `move`
        self.resize(fitted(self, QSize(window.width, window.height)))

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        must_quit = self.is_quitting or application().isSavingSession()  # the user logs out
        if (must_quit or not self.hide_on_close()) and self._prepare_to_quit():
            super().closeEvent(event)
        else:
            event.ignore()

    def _prepare_to_quit(self) -> bool:
        """Ask `may_close`; if it allows it, save the geometry and emit `closing`. Return the answer."""
        if not self.may_close():
            return False
        self.save_geometry()
        self.closing.emit()
        return True

    def _report_shown(self) -> None:
        if not self._is_painted:
            self._is_painted = True
            QTimer.singleShot(0, self, self.shown.emit)
