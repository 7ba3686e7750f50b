"""The search field, which searches while the user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QStyle, QToolButton, QWidget

from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import ICON, ICON_BUTTON, XS, M, S
from plantdesk.ui.widgets.line_edit import LineEdit
from plantdesk.ui.widgets.tool_tips import set_tool_tip
from plantdesk.ui.widgets.wheel import Wheel

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from plantdesk.ui.theme.theme import Theme

#: Characters; each word of a search scans the whole table.
_MAX_LENGTH = 300


class SearchField(LineEdit):
    """A line edit with a magnifier, which is replaced by a wheel while a search takes long, and a clear button.

    `down_pressed`: the user goes to the rows. `last_filter_unwanted`: Backspace in the empty field.

    Both are not Qt's own (`addAction`, `setClearButtonEnabled`): Tab cannot reach these, they show no focus, and under
    a style sheet they are not centred.
    """

    down_pressed = Signal()
    last_filter_unwanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, max_length=_MAX_LENGTH)
        self._theme = theme
        #: To be started while a search takes its time.
        self.wheel = Wheel(theme, self)
        self._clear_button = QToolButton(self)
        self._clear_button.setAccessibleName(self.tr("Clear search"))
        set_tool_tip(self._clear_button, self.tr("Clear search (Esc)"))
        self._clear_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._clear_button.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear_button.hide()
        theme.icons.put_on(self._clear_button, "x", "text_2", ICON)
        self.setPlaceholderText(self.tr("Search by name, tag or ID"))
        self.setAccessibleName(self.tr("Search by name, tag or ID"))
        self._make_room()
        self._clear_button.clicked.connect(self._on_clear_clicked)
        self.textChanged.connect(self.show_clear_button)
        theme.changed.connect(self.update)

    def show_clear_button(self) -> None:
        """Show the clear button if there is a text."""
        self._clear_button.setVisible(bool(self.text()))

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
            pixmap = self._theme.icons.pixmap("search", "text_2", ICON, self.devicePixelRatioF())
            painter.drawPixmap(self._icon_rect(), pixmap)
        painter.end()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = QSize(ICON_BUTTON, ICON_BUTTON)
        button = QRect(self.width() - size.width() - XS, (self.height() - size.height()) // 2, *size.toTuple())
        self._clear_button.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), button))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._make_room()

    @Slot()
    def _on_clear_clicked(self) -> None:
        self.setFocus()
        self.clear()

    def _make_room(self) -> None:
        """Keep the text between magnifier and button; a line edit does not mirror its margins."""
        leading, trailing = ICON + S - 2, ICON_BUTTON
        if self.isRightToLeft():
            leading, trailing = trailing, leading
        self.setTextMargins(leading, 0, trailing, 0)

    def _icon_rect(self) -> QRect:
        rect = QRect(M - 1, (self.height() - ICON) // 2, ICON, ICON)
        return QStyle.visualRect(self.layoutDirection(), self.rect(), rect)
