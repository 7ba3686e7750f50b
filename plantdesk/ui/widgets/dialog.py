"""The base of all dialogs: they fit on the screen, and Enter presses the focused button and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QPushButton, QToolButton, QWidget

from plantdesk.ui.qt import fitted, override

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QShowEvent
    from PySide6.QtWidgets import QLayout

ENTER_KEYS = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class Dialog(QDialog):
    """Is deleted when it is closed. The dialog is the receiver of its background tasks."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def resize_to_fit(self, size: QSize) -> None:
        """Take `size`, or what the screen has room for, and move up where the window would end below the screen."""
        self.resize(fitted(self, size))
        if self.isVisible():
            below = self.frameGeometry().bottom() - self.screen().availableGeometry().bottom()
            self.move(self.x(), self.y() - max(below, 0))

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
