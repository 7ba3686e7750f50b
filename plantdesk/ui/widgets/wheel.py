"""A wheel that turns while something takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QTimer, Slot
from PySide6.QtGui import QPainter

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from plantdesk.ui.theme.theme import Theme

#: What is done sooner shows no wheel.
_DELAY_MS = 150
_TURN_MS, _DEGREES = 80, 30


class Wheel(QObject):
    """A wheel that a widget paints itself. It stands still where the system asks for no animations."""

    def __init__(self, theme: Theme, widget: QWidget) -> None:
        super().__init__(widget)
        self._theme = theme
        self._widget = widget
        self._angle = 0
        self._delay = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._turning = QTimer(self, interval=_TURN_MS)
        self._delay.timeout.connect(self._on_due)
        self._turning.timeout.connect(self._on_turn)

    @property
    def is_shown(self) -> bool:
        """Whether the wheel is to be painted."""
        return self._turning.isActive()

    def start(self) -> None:
        """Show the wheel after a moment, unless it is shown or `stop` is called before."""
        if not self.is_shown:
            self._delay.start()

    def stop(self) -> None:
        """Do not show the wheel any more."""
        self._delay.stop()
        if self.is_shown:
            self._turning.stop()
            self._widget.update()

    def paint(self, painter: QPainter, rect: QRect) -> None:
        """Paint the wheel into the middle of `rect`."""
        size = min(rect.width(), rect.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.translate(rect.center())
        painter.rotate(self._angle)
        pixmap = self._theme.icons.pixmap("loader-circle", "text_2", size, self._widget.devicePixelRatioF())
        painter.drawPixmap(QRect(-size // 2, -size // 2, size, size), pixmap)
        painter.restore()

    @Slot()
    def _on_due(self) -> None:
        self._turning.start()
        self._widget.update()

    @Slot()
    def _on_turn(self) -> None:
        if self._theme.animated:
            self._angle = (self._angle + _DEGREES) % 360
            self._widget.update()
