"""Lists of completions below a field. They never take the focus, so that all keys go to the field."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPointF, QRect, QSize, QStringListModel, Qt
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPalette, QTextLayout
from PySide6.QtWidgets import QApplication, QCompleter, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget
from shiboken6 import isValid
from typing_extensions import override

from plantdesk.domain.folding import fold
from plantdesk.domain.tags import tag_completions
from plantdesk.domain.texts import Text
from plantdesk.ui.qt import Index
from plantdesk.ui.texts import one_line, tag_text, translated
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.theme.theme import round_corners
from plantdesk.ui.widgets.painting import lay_out_line
from plantdesk.ui.widgets.plain_text import announce

#: Pixels beside the texts of a list.
_LIST_MARGINS = 40
#: The corner radius of the chosen offer.
_ROW_RADIUS = 6
#: Events of a field's window that close its list.
_CLOSING_EVENTS = {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowDeactivate, QEvent.Type.MouseButtonPress}
#: Offers that screen readers speak at once.
_MAX_SPOKEN = 3


class OfferDelegate(QStyledItemDelegate):
    """Paints an offer in the direction of its text, with the typed part in bold."""

    typed = ""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = super().sizeHint(option, index).height()
        return QSize(QFontMetrics(_make_bold(option.font)).horizontalAdvance(str(index.data())) + 3 * S, height)

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
        layout = self.lay_out(str(index.data()), option, rect.width())
        text_rect = QStyle.visualRect(option.direction, option.rect, rect)
        top = text_rect.top() + (text_rect.height() - layout.boundingRect().height()) / 2
        layout.draw(painter, QPointF(text_rect.left(), top))
        painter.restore()

    def paint_end(self, _painter: QPainter, option: QStyleOptionViewItem, _index: Index) -> int:
        """Paint what follows the text; return its left edge in a left-to-right row. By default, paint nothing."""
        return option.rect.right()

    def lay_out(self, text: str, option: QStyleOptionViewItem, width: int) -> QTextLayout:
        """Return the layout of a text, elided to a width in pixels."""
        bold = _make_bold(option.font)
        bold_range = QTextLayout.FormatRange()
        text = one_line(text)
        folded = fold(text)
        typed = fold(self.typed)
        bold_range.start = max(folded.find(typed), 0)
        bold_range.length = len(typed) if typed in folded and len(folded) == len(text) else 0
        bold_range.format.setFont(bold)
        elided = QFontMetrics(bold).elidedText(text, Qt.TextElideMode.ElideRight, max(width, 0))
        return lay_out_line(elided, [bold_range], option.font, option.direction, width)


class CompleterPopup(QObject):
    """Shows the list of a completer without focus, passes keys of the field on to it, and closes it."""

    def __init__(self, completer: QCompleter, owner: QWidget, delegate: OfferDelegate | None = None) -> None:
        """Use the present popup of the completer; `delegate` paints the offers.

        `owner` is a widget in the window of the fields, and the parent of the completer, which must be deleted first.
        """
        super().__init__(completer)
        popup = completer.popup()
        assert popup is not None  # noqa: S101  Qt creates it, unless another one was set
        self._completer = completer
        #: The list.
        self.view = popup
        self._field: QWidget | None = None
        self._delegate = delegate or OfferDelegate(self)
        popup.setParent(owner, Qt.WindowType.ToolTip | Qt.WindowType.WindowDoesNotAcceptFocus)
        popup.setProperty("popup", "true")
        popup.setItemDelegate(self._delegate)
        popup.installEventFilter(self)

    def set_typed(self, text: str) -> None:
        """Set the typed text, which is painted in bold within the offers."""
        self._delegate.typed = text

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self.view:
            if kind is QEvent.Type.Show:
                self._watch_field(self._completer.widget())
            elif kind is QEvent.Type.Hide:
                self._watch_field(None)
            elif kind is QEvent.Type.Resize:
                round_corners(self.view)
        elif watched is self._field and isinstance(event, QKeyEvent) and kind is QEvent.Type.KeyPress:
            handled = QApplication.sendEvent(self.view, event)  # the completer sends it to the field first
            if event.key() == Qt.Key.Key_Escape:  # also if the field has taken it
                self.view.hide()
            return handled
        elif watched is self._field:
            if kind is QEvent.Type.FocusOut:
                self.view.hide()
        elif kind in _CLOSING_EVENTS:
            self.view.hide()
        return False

    def _watch_field(self, field: QWidget | None) -> None:
        previous = self._field
        self._field = field
        if previous is not None:
            previous.removeEventFilter(self)
            previous.window().removeEventFilter(self)
        if field is not None:
            field.installEventFilter(self)
            field.window().installEventFilter(self)


class OfferList(QCompleter):
    """A completer that offers the texts it is given, under a field, and chooses none by itself."""

    def __init__(self, field: QWidget, delegate: OfferDelegate | None = None) -> None:
        super().__init__(field)
        self._texts = QStringListModel(self)
        self.setModel(self._texts)
        self.setCompletionMode(self.CompletionMode.UnfilteredPopupCompletion)
        self.setWidget(field)
        self._popup = CompleterPopup(self, field, delegate)
        #: The list.
        self.view = self._popup.view

    def offer(self, texts: Sequence[str], typed: str, rect: QRect) -> None:
        """Show texts below a rectangle of the field, with `typed` in bold; without texts, hide the list."""
        if not isValid(self.view):  # a field that is deleted loses the focus after its list is gone
            return
        self._texts.setStringList(texts)
        if texts:
            self._popup.set_typed(typed)
            width = max(rect.width(), self.view.sizeHintForColumn(0) + _LIST_MARGINS)
            self.complete(QRect(rect.topLeft(), QSize(width, rect.height())))
            self.view.setCurrentIndex(QModelIndex())  # else Qt takes the first one
        else:
            self.view.hide()


def _make_bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    return bold


class TagCompleter(QCompleter):
    """Offers the `tags` that contain the typed text, level by level (`domain.tags.completions`)."""

    def __init__(self, tags: QStringListModel, owner: QWidget) -> None:
        """Make a completer for fields in the window of `owner`; `tags` is a model that may change."""
        super().__init__(owner)
        self.tags = tags
        self._popup = CompleterPopup(self, owner)
        self._offers = QStringListModel(self)
        self.setModel(self._offers)
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setFilterMode(Qt.MatchFlag.MatchContains)
        self.setMaxVisibleItems(8)

    @override
    def splitPath(self, path: str) -> list[str]:
        """Update the offers for the typed text; Qt calls this before it searches them."""
        self._popup.set_typed(path)
        offers = tag_completions(self.tags.stringList(), path)
        if offers not in (self._offers.stringList(), [path], []) and path:
            names = ", ".join(map(tag_text, offers[:_MAX_SPOKEN]))
            text = Text("{count:,} tags offered: {names}", one="1 tag offered: {names}", count=len(offers), names=names)
            announce(self.widget(), translated(text))
        self._offers.setStringList(offers)
        return [path]
