"""The window itself: its size, its title, its keys, and a signal of its first paint. `Workspace` fills it.

Separate, so that the window shows before the modules of its content are imported: these, and the enumerations that
PySide makes for them, take as long as all of an empty window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeyEvent, QMoveEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenuBar, QStatusBar, QWidget
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.ui.preferences import Preferences
from plantdesk.ui.qt import application, bring_to_front, fitted

_SMALLEST = QSize(640, 420)


class MainWindow(QMainWindow):
    """Saves its size and position, and restores them within the screens.

    `shown`: the first paint is done. `escape_pressed` and `part_requested(step)` (F6): keys that no widget has handled.
    `focus_moving`: the focus goes to the next widget in the tab order, or to the previous one. `closing`: the window
    closes, which ends the program. `geometry_changed`: it has another size or position.
    """

    shown = Signal()
    escape_pressed = Signal()
    part_requested = Signal(int)
    focus_moving = Signal()
    closing = Signal()
    geometry_changed = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self._is_painted = False
        #: The widget that had the focus when the window was hidden.
        self._focused: QWidget | None = None
        #: While Tab or F6 moves the focus: where the user was typing, also several of these keys before.
        self.left_by_keys: QWidget | None = None
        self._start: QWidget | None = None
        self._arrived: tuple[QWidget | None, object] = None, None
        #: Called when the program is to end.
        self.may_close: Callable[[], bool] = lambda: True
        #: Called when the user closes the window. Returns True if it stays open, hidden or with a question.
        self.hide_instead: Callable[[], bool] = lambda: False
        #: Whether closing the window ends the program in any case.
        self.is_ending = False
        self.set_file_name(None)
        self.setMinimumSize(fitted(self, _SMALLEST))
        self._restore_geometry()

    def set_file_name(self, name: str | None) -> None:
        """Show the name of the store's file in the title; None: only that of the program."""
        self.setWindowTitle("PlantDesk" if name is None else f"{name} — PlantDesk")

    def clear(self) -> None:
        """Remove the content, menus and status bar: those of another store follow."""
        self.may_close, self.hide_instead = lambda: True, lambda: False
        content = self.takeCentralWidget()
        if content is not None:  # before the bars, which the content uses
            content.deleteLater()
            QCoreApplication.sendPostedEvents(content, QEvent.Type.DeferredDelete)
        self.setMenuBar(QMenuBar())
        self.setStatusBar(QStatusBar())
        self.set_file_name(None)

    @Slot()
    def show_in_front(self, token: str = "") -> None:
        """Raise the window if the desktop allows it: it does if the user started the program and gave it a token."""
        was_hidden = self.isHidden()
        bring_to_front(self, token)
        if was_hidden and self._focused is not None and isValid(self._focused):
            self._focused.setFocus()  # activating a hidden window moves the focus on

    def show_as_saved(self) -> None:
        """Start with the size that the window had when it was closed."""
        if self._preferences.settings.window.maximized:
            self.showMaximized()
        else:
            self.show()

    def show_minimised(self) -> None:
        """Start minimised; the first paint may never come."""
        self.stay_hidden()
        self.showMinimized()

    def stay_hidden(self) -> None:
        """Start without being shown; the first paint comes later, if ever."""
        if self._preferences.settings.window.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)
        self._report_shown()

    @Slot()
    def close_at_once(self) -> None:
        """Close the window, which ends the program, without a question."""
        self.may_close, self.is_ending = lambda: True, True
        self.close()

    @Slot()
    def quit(self) -> None:
        """Close the window, which ends the program, also if closing would hide it or it is hidden already."""
        self.is_ending = True
        if self.isVisible():
            self.close()
        elif self._may_end():
            QApplication.quit()
        else:
            self.show_in_front()
        self.is_ending = False

    def save_geometry(self) -> None:
        """Remember size and position for the next start; Wayland does not report the position."""
        maximized = self.isMaximized()
        place = self.normalGeometry() if maximized or self.isMinimized() else self.geometry()
        values: dict[str, object] = {"width": place.width(), "height": place.height(), "maximized": maximized}
        if not QApplication.platformName().startswith("wayland"):
            values["position"] = [place.x(), place.y()]
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
            self._focused = self.focusWidget()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        from plantdesk.ui.widgets.dialog import ENTER_KEYS, press_focused_button

        if event.key() == Qt.Key.Key_Escape:
            self.escape_pressed.emit()
        elif event.key() == Qt.Key.Key_F6:
            with self._focus_moves():
                self.part_requested.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() in ENTER_KEYS:
            press_focused_button(self)
        else:
            super().keyPressEvent(event)

    @override
    def focusNextPrevChild(self, following: bool) -> bool:
        self.focus_moving.emit()
        with self._focus_moves():
            return super().focusNextPrevChild(following)

    @contextmanager
    def _focus_moves(self) -> Iterator[None]:
        """Remember where the user was typing; widgets that several such keys only pass do not count."""
        if self._focus_state != self._arrived:
            self._start = self.focusWidget()
        self.left_by_keys = self._start
        yield
        self.left_by_keys, self._arrived = None, self._focus_state

    @property
    def _focus_state(self) -> tuple[QWidget | None, object]:
        """The widget that has the focus, and its text if it has one."""
        focused: QWidget | None = self.focusWidget()
        return focused, None if focused is None else focused.metaObject().userProperty().read(focused)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._report_shown()

    def _restore_geometry(self) -> None:
        """Restore the position of the window, if its upper edge is on the present screens."""
        window = self._preferences.settings.window
        if window.position:
            x, y = window.position
            screen, right = (QApplication.screenAt(QPoint(each, y)) for each in (x, x + window.width - 1))
            if screen is not None and right is not None:
                self.setScreen(screen)
                self.setGeometry(x, y, 0, 0)  # unlike `move`, this does not count the frame
        self.resize(fitted(self, QSize(window.width, window.height)))

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        must_end = self.is_ending or application().isSavingSession()  # the user logs out
        if (must_end or not self.hide_instead()) and self._may_end():
            super().closeEvent(event)
        else:
            event.ignore()

    def _may_end(self) -> bool:
        """Return whether the program may end; if so, prepare for it."""
        if not self.may_close():
            return False
        self.save_geometry()
        self.closing.emit()
        return True

    def _report_shown(self) -> None:
        if not self._is_painted:
            self._is_painted = True
            QTimer.singleShot(0, self, self.shown.emit)
