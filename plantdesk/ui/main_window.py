"""The window itself: its frame, its size, and a signal of its first paint. Its content is `Workspace`.

Apart, so that the frame shows before the modules of its content are imported: these, and the enumerations that PySide
makes for them, take as long as all of an empty window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMainWindow

from plantdesk.ui.qt import fitted, override

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QPaintEvent

    from plantdesk.ui.preferences import Preferences

_SMALLEST = QSize(640, 420)


class MainWindow(QMainWindow):
    """Remembers its size, within what the screen has room for. `shown`: it has painted itself for the first time."""

    shown = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self._painted = False
        self.setWindowTitle("PlantDesk")
        self.setMinimumSize(fitted(self, _SMALLEST))
        self._restore_size()

    @Slot()
    def show_in_front(self) -> None:
        """Come to the front, as far as the desktop allows it."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def show_minimised(self) -> None:
        """Start minimised; the first paint may never come."""
        self.showMinimized()
        self._report_shown()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._report_shown()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        maximized = self.isMaximized()
        size = self.normalGeometry().size() if maximized else self.size()
        window = {"width": size.width(), "height": size.height(), "maximized": maximized}
        self._preferences.change(window=window)
        super().closeEvent(event)

    def _report_shown(self) -> None:
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.shown.emit)

    def _restore_size(self) -> None:
        window = self._preferences.settings.window
        self.resize(fitted(self, QSize(window.width, window.height)))
        if window.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)
