"""Lists of offers under a field: round, with what was typed of each bold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPainterPath, QPalette, QRegion, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QApplication,
    QCompleter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.folding import searched
from plantdesk.ui.texts import one_line
from plantdesk.ui.theme.metrics import S

if TYPE_CHECKING:
    from plantdesk.ui.qt import Index

#: Of the frame, as in the style sheet, and of the chosen offer.
_RADIUS, _ROW_RADIUS = 8, 6
#: Events of a field's window that close its list.
_CLOSING = {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowDeactivate, QEvent.Type.MouseButtonPress}


class OfferDelegate(QStyledItemDelegate):
    """Paints a text in its own direction. `typed` is what the user has typed of it."""

    typed = ""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = super().sizeHint(option, index).height()
        return QSize(QFontMetrics(_bold(option.font)).horizontalAdvance(str(index.data())) + 3 * S, height)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(option.palette.color(QPalette.ColorRole.Highlight))
            painter.drawRoundedRect(option.rect, _ROW_RADIUS, _ROW_RADIUS)
        end = self.paint_end(painter, option, index)
        rect = QRect(option.rect.left() + S, option.rect.top(), end - option.rect.left() - 2 * S, option.rect.height())
        painter.setPen(option.palette.color(QPalette.ColorRole.Text))
        layout = self.layout(str(index.data()), option, rect.width())
        place = QStyle.visualRect(option.direction, option.rect, rect)
        top = place.top() + (place.height() - layout.boundingRect().height()) / 2
        layout.draw(painter, QPointF(place.left(), top))
        painter.restore()

    def paint_end(self, _painter: QPainter, option: QStyleOptionViewItem, _index: Index) -> int:
        """Paint what is at the end of the row; return where it begins, before the row is mirrored."""
        return option.rect.right()

    def layout(self, text: str, option: QStyleOptionViewItem, width: int) -> QTextLayout:
        """Return the layout of a text, elided to a width in pixels."""
        bold, found = _bold(option.font), QTextLayout.FormatRange()
        text = one_line(text)
        folded, typed = searched(text), searched(self.typed)
        found.start = max(folded.find(typed), 0)
        found.length = len(typed) if typed in folded and len(folded) == len(text) else 0
        found.format.setFont(bold)
        shown = QFontMetrics(bold).elidedText(text, Qt.TextElideMode.ElideRight, max(width, 0))
        layout = QTextLayout(shown, option.font)
        layout.setFormats([found])
        side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft)
        text_option = QTextOption(side | Qt.AlignmentFlag.AlignAbsolute)
        text_option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        layout.setTextOption(text_option)
        layout.beginLayout()
        layout.createLine().setLineWidth(width)
        layout.endLayout()
        return layout


class CompleterPopup(QObject):
    """Shows the list of one completer without focus, passes the keys of its field on to it, and closes it."""

    def __init__(self, completer: QCompleter, owner: QWidget) -> None:
        """Use the completer's present popup; `owner` is in the window of its fields."""
        super().__init__(completer)
        popup = completer.popup()
        assert popup is not None  # noqa: S101  Qt makes it, unless another one was set
        self._completer, self._popup = completer, popup
        self._field: QWidget | None = None
        self._delegate = OfferDelegate(self)
        popup.setParent(owner, Qt.WindowType.ToolTip | Qt.WindowType.WindowDoesNotAcceptFocus)
        popup.setProperty("popup", "true")
        popup.setItemDelegate(self._delegate)
        popup.installEventFilter(self)

    def set_typed(self, text: str) -> None:
        """Show a part of the offers bold."""
        self._delegate.typed = text

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self._popup:
            if kind is QEvent.Type.Show:
                self._follow(self._completer.widget())
            elif kind is QEvent.Type.Hide:
                self._follow(None)
            elif kind is QEvent.Type.Resize:  # a translucent window has black corners without a compositor
                path = QPainterPath()
                path.addRoundedRect(QRectF(self._popup.rect()), _RADIUS, _RADIUS)
                self._popup.setMask(QRegion(path.toFillPolygon().toPolygon()))
        elif watched is self._field and kind is QEvent.Type.KeyPress:
            return QApplication.sendEvent(self._popup, event)  # the completer asks the field first
        elif kind is QEvent.Type.FocusOut if watched is self._field else kind in _CLOSING:
            self._popup.hide()
        return False

    def _follow(self, field: QWidget | None) -> None:
        """Watch a field and its window while the list is shown."""
        before, self._field = self._field, field
        if before is not None:
            before.removeEventFilter(self)
            before.window().removeEventFilter(self)
        if field is not None:
            field.installEventFilter(self)
            field.window().installEventFilter(self)


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    return bold
