"""The search field, which searches while the user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QStyle, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import ICON, M, S
from plantdesk.ui.widgets.button_field import ButtonField
from plantdesk.ui.widgets.wheel import Wheel

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from plantdesk.ui.theme.theme import Theme

#: Characters; each word of a search scans the whole table.
_MAX_LENGTH = 300


class SearchField(ButtonField):
    """A line edit with a magnifier, which is replaced by a wheel while a search takes long, and a clear button.

    `down_pressed`: the user goes to the rows. `last_filter_unwanted`: Backspace in the empty field.
    """

    down_pressed = Signal()
    last_filter_unwanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent, max_length=_MAX_LENGTH)
        #: To be started while a search takes its time.
        self.wheel = Wheel(theme, self)
        self.name_button(self.tr("Clear search"), self.tr("Clear search (Esc)"))
        self.button.hide()
        theme.icons.put_on(self.button, "x", "text_2")
        self.setPlaceholderText(self.tr("Search by name, tag or ID"))
        self.setAccessibleName(self.tr("Search by name, tag or ID"))
        self.button.clicked.connect(self._on_clear_clicked)
        self.textChanged.connect(self.show_clear_button)

    def show_clear_button(self) -> None:
        """Show the clear button if there is a text."""
        self.button.setVisible(bool(self.text()))

    @override
    def leading_room(self) -> int:
        return self._theme.metrics.scaled(ICON) + S - 2

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        elif event.key() == Qt.Key.Key_Backspace and not self.text():
            self.last_filter_unwanted.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the window knows what else it closes
        else:
            super().keyPressEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        if self.wheel.is_shown:
            self.wheel.paint(painter, self._icon_rect())
        else:
            rect = self._icon_rect()
            icon = self._theme.icons.pixmap("search", "text_2", rect.width(), self.devicePixelRatioF())
            painter.drawPixmap(rect, icon)
        painter.end()

    @Slot()
    def _on_clear_clicked(self) -> None:
        self.setFocus()
        self.clear()

    def _icon_rect(self) -> QRect:
        size = self._theme.metrics.scaled(ICON)
        rect = QRect(M - 1, (self.height() - size) // 2, size, size)
        return QStyle.visualRect(self.layoutDirection(), self.rect(), rect)
