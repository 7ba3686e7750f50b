"""The active filters beside the search field, each as a chip that removes it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QMenu, QStyle, QToolButton, QWidget

from plantdesk.ui.filters import filter_icon, filter_text, tag_of
from plantdesk.ui.qt import override
from plantdesk.ui.theme.metrics import ICON, XS, FontRole, M, S
from plantdesk.ui.theme.tag_colors import dot_color
from plantdesk.ui.widgets.plain_text import set_tool_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from plantdesk.domain.selections import Term
    from plantdesk.ui.theme.theme import Theme

#: For text of 13 px.
_DOT, _CROSS = 10, 14
_HEIGHT, _MAX_TEXT = 26, 160
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
#: The keys of the whole row.
_KEYS = {*_STEPS, Qt.Key.Key_Delete, Qt.Key.Key_Backspace}
_LEADING = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class FilterChip(QAbstractButton):
    """Shows a filter; pressed, it removes it."""

    def __init__(self, term: Term, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.term = term
        self._theme = theme
        self.setText(filter_text(term))
        self.setAccessibleName(self.tr("Remove the filter {filter}").format(filter=self.text()))
        set_tool_tip(self, self.accessibleName())

    @override
    def sizeHint(self) -> QSize:
        metrics = self._theme.metrics
        text = min(QFontMetrics(self._font()).horizontalAdvance(self.text()) + 1, metrics.scaled(_MAX_TEXT))
        return QSize(M + self._mark_size() + S + text + S + metrics.scaled(_CROSS) + S, metrics.scaled(_HEIGHT))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors, size, cross = self._theme.colors, self._mark_size(), self._theme.metrics.scaled(_CROSS)
        shape = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(colors.color("focus"), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("selection"))
        painter.drawRoundedRect(shape, shape.height() / 2, shape.height() / 2)
        self._paint_mark(painter, self._placed(M, size))
        start = M + size + S
        width = self.width() - start - 2 * S - cross
        painter.setFont(self._font())
        painter.setPen(colors.color("text"))
        shown = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, width + 1)
        text = QStyle.visualRect(self.layoutDirection(), self.rect(), QRect(start, 0, width + XS, self.height()))
        painter.drawText(text, QStyle.visualAlignment(self.layoutDirection(), _LEADING), shown)
        self._paint_icon(painter, "x", self._placed(self.width() - S - cross, cross))
        painter.end()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _KEYS:
            event.ignore()  # a button would go to the next tab stop
        else:
            super().keyPressEvent(event)

    def _paint_mark(self, painter: QPainter, rect: QRect) -> None:
        tag = tag_of(self.term)
        if tag is None:
            self._paint_icon(painter, filter_icon(self.term), rect)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(dot_color(self._theme.tags.hue(tag), self._theme.colors))
        painter.drawEllipse(rect)

    def _paint_icon(self, painter: QPainter, name: str, rect: QRect) -> None:
        painter.drawPixmap(rect, self._theme.icons.pixmap(name, "text_2", rect.width(), self.devicePixelRatioF()))

    def _placed(self, start: int, size: int) -> QRect:
        rect = QRect(start, (self.height() - size) // 2, size, size)
        return QStyle.visualRect(self.layoutDirection(), self.rect(), rect)

    def _mark_size(self) -> int:
        return self._theme.metrics.scaled(ICON if tag_of(self.term) is None else _DOT)

    def _font(self) -> QFont:
        return self._theme.metrics.font(FontRole.PILL)


class FilterChips(QWidget):
    """A row of chips, of which those that do not fit are in a menu. One tab stop: Left and Right move between them.

    `removed(position)`: the user removed a filter.
    """

    removed = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._room = 0
        self._chips: list[FilterChip] = []
        self._more_button = QToolButton(self)
        self._more_button.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._more_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(S)
        self._layout.addWidget(self._more_button)
        self.setAccessibleName(self.tr("Filters"))
        theme.changed.connect(self._fit)
        theme.tags.changed.connect(self._repaint)

    def set_filters(self, filters: Sequence[Term]) -> None:
        """Show a chip for each filter; the focus stays at its position."""
        focused = next((at for at, chip in enumerate(self._chips) if chip.hasFocus()), None)
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._chips = [FilterChip(term, self._theme, self) for term in filters]
        for at, chip in enumerate(self._chips):
            chip.clicked.connect(partial(self.removed.emit, at))
            self._layout.insertWidget(at, chip)
        self._fit()
        if focused is not None and self._chips:
            self._focus(min(focused, len(self._chips) - 1))

    def set_room(self, room: int) -> None:
        """Use at most so many pixels."""
        if room != self._room:
            self._room = room
            self._fit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        here = next((at for at, chip in enumerate(self._chips) if chip.hasFocus()), -1)
        key = Qt.Key(event.key())
        if here < 0 or key not in _KEYS:
            super().keyPressEvent(event)
        elif key in _STEPS:
            self._focus(here - _STEPS[key] if self.isRightToLeft() else here + _STEPS[key])
        else:
            self.removed.emit(here)

    def _focus(self, at: int) -> None:
        shown = [chip for chip in self._chips if not chip.isHidden()]
        if shown:
            chip = shown[max(0, min(at, len(shown) - 1))]
            for each in self._chips:
                each.setFocusPolicy(Qt.FocusPolicy.StrongFocus if each is chip else Qt.FocusPolicy.ClickFocus)
            chip.setFocus(Qt.FocusReason.TabFocusReason)

    def _fit(self) -> None:
        """Show the chips that there is room for, and the others in the menu."""
        fitting, used = 0, 0
        for chip in self._chips:
            used += chip.sizeHint().width() + S
            fitting += used <= self._room - (self._more_width() if fitting + 1 < len(self._chips) else 0)
        for at, chip in enumerate(self._chips):
            chip.setVisible(at < fitting)
            chip.setFocusPolicy(Qt.FocusPolicy.ClickFocus if at else Qt.FocusPolicy.StrongFocus)
            chip.updateGeometry()
        self._show_more(fitting)
        self.setVisible(bool(self._chips))

    def _show_more(self, fitting: int) -> None:
        hidden = self._chips[fitting:]
        self._more_button.setVisible(bool(hidden))
        self._more_button.setFocusPolicy(Qt.FocusPolicy.ClickFocus if fitting else Qt.FocusPolicy.StrongFocus)
        self._more_button.setText(f"+{len(hidden)}")
        self._more_button.setAccessibleName(self.tr("More filters"))
        menu = QMenu(self._more_button)
        for at, chip in enumerate(hidden, start=fitting):
            menu.addAction(chip.accessibleName().replace("&", "&&"), partial(self.removed.emit, at))
        before = self._more_button.menu()
        self._more_button.setMenu(menu)
        if before is not None:
            before.deleteLater()

    def _more_width(self) -> int:
        return self._more_button.sizeHint().width() + S

    def _repaint(self) -> None:
        for chip in self._chips:
            chip.update()
