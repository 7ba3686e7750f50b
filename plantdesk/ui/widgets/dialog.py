"""The base of all dialogs: they fit on the screen, and Enter presses the focused button and nothing else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QPushButton, QToolButton, QWidget

from plantdesk.ui.qt import fitted, override

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QShowEvent
    from PySide6.QtWidgets import QLayout

#: After its opening, a dialog grows by what it reads.
_READING_SECONDS = 1.0
ENTER_KEYS = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class Dialog(QDialog):
    """Is deleted when it is closed. The dialog is the receiver of its background tasks."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._shown_at = float("-inf")

    def resize_to_fit(self, size: QSize) -> None:
        """Take `size`, or what the screen has room for, and move up where the window would end below the screen.

        A dialog that grows by what it reads when it is opened stays over the middle of its window.
        """
        before = self.height()
        self.resize(fitted(self, size))
        if self.isVisible():
            frame, room = self.frameGeometry(), self.screen().availableGeometry()
            is_new = time.monotonic() - self._shown_at < _READING_SECONDS
            up = (self.height() - before) // 2 if is_new else 0
            top = min(frame.top() - up, room.bottom() + 1 - frame.height())
            self.move(self.x(), max(top, room.top()))

    def fit_height(self, width: int) -> None:
        """Be as high as the content is in this width, as far as the screen has room for it."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.resize_to_fit(QSize(width, needed_height(layout, width)))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # else screen readers call one of them the default
        self._shown_at = time.monotonic()
        super().showEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:  # QDialog would press a default button wherever the focus is
            press_focused_button(self)
        else:
            super().keyPressEvent(event)


def needed_height(layout: QLayout, width: int) -> int:
    """Return the height that a layout needs in a width, whether or not it has wrapped texts."""
    return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()


def press_focused_button(window: QWidget) -> bool:
    """Press the button in `window` that has the focus; False when no button has it."""
    focused = window.focusWidget()
    if not isinstance(focused, QPushButton | QToolButton) or not focused.hasFocus():
        return False
    focused.click()
    return True
