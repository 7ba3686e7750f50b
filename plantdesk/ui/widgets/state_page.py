"""Empty-state page: icon, title, text, buttons; and a spinner while something takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.theme.metrics import ICON_LARGE, L, M, S
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_text import PlainLabel

if TYPE_CHECKING:
    from plantdesk.ui.theme.theme import Theme


#: What is done sooner shows no wheel.
_DELAY_MS = 150
_TURN_MS, _DEGREES = 80, 30


class Spinner(QObject):
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


#: For text of 13 px.
_MAX_TEXT_WIDTH = 420


class StatePage(QWidget):
    """Icon, title, text and buttons, centred."""

    def __init__(self, theme: Theme, icon: str, color: str, title: str, parent: QWidget | None = None) -> None:
        """Make a page; `icon` is the icon's name and `color` that of its colour."""
        super().__init__(parent)
        self._theme = theme
        self._icon = Icon(theme, icon, color, ICON_LARGE)
        self._title_label = PlainLabel(title, role="empty-title", alignment=Qt.AlignmentFlag.AlignCenter)
        self._text_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._set_width()
        self._buttons = fill(QHBoxLayout(), STRETCH, STRETCH, spacing=S)
        self._lay_out()
        theme.changed.connect(self._set_width)

    def set_text(self, text: str) -> None:
        """Show a text under the title."""
        self._text_label.setText(text)

    def add_button(self, text: str, icon: str | None = None) -> QPushButton:
        """Add a button under the text."""
        button = QPushButton(text)
        if icon is not None:
            self._theme.icons.put_on(button, icon)
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        return button

    @Slot()
    def _set_width(self) -> None:
        self._text_label.setFixedWidth(self._theme.metrics.scaled(_MAX_TEXT_WIDTH))

    def _lay_out(self) -> None:
        # Not an alignment: with one, a label that wraps gets too little height.
        text = fill(QHBoxLayout(), STRETCH, self._text_label, STRETCH)
        layout = QVBoxLayout(self)
        layout.addStretch(2)
        icon = self._icon, Qt.AlignmentFlag.AlignHCenter
        fill(layout, icon, S, self._title_label, text, M, self._buttons, margins=L, spacing=S)
        layout.addStretch(3)
