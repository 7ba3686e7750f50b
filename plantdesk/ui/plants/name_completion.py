"""Completes names from those that plants have, with the tag of their newest plant, and offers them under the field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QStyle, QWidget
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.domain.views import KnownName
from plantdesk.ui.texts import one_line, shown, tag_text, translate
from plantdesk.ui.theme.metrics import XS, FontRole, M, S, tabular
from plantdesk.ui.widgets.painting import paint_pill, pill_size
from plantdesk.ui.widgets.plain_text import announce

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from plantdesk.domain.protocols import PlantReader
    from plantdesk.store import KnownNames
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.plants.form_fields import NameField, TagField
    from plantdesk.ui.theme.theme import Theme


#: Recent plants that Up goes back to.
_MAX_RECENT = 50
#: Milliseconds without a key after which names are offered that are spelt alike, and the most of them.
_PAUSE, _MAX_NEAR = 300, 3
#: In place of the number of plants of a name: it is from a list, or spelt alike.
_LISTED, _NEAR = 0, -1


class NameCompletion(QObject):
    """Fills name and tag in while the user types; the tag only where none was typed or pinned.

    What was typed is never changed: a name that begins otherwise, if only in another case, is offered to be chosen.
    After those that plants have it offers names of a list, and where there are none those that are spelt alike, again
    first those that plants have. These are not filled in, only chosen.
    `known(name)`: the typed name is that of plants, None: it is not.
    """

    known = Signal(object)

    def __init__(
        self,
        theme: Theme,
        name: NameField,
        tag: TagField,
        parent: QObject,
        below: QWidget | None = None,
        names: Callable[[], KnownNames | None] = lambda: None,
    ) -> None:
        """Offer names over the window, or `below` a small one; `names` returns the list, on another thread."""
        super().__init__(parent)
        self._name = name
        self._tag = tag
        self._popup = NameOffers(theme, name) if below is None else OffersBelow(theme, name, below)
        self._offers: list[KnownName] = []
        self._current = 0
        self._recent: list[tuple[str, str | None]] = []
        self._recalled = 0
        self._queries: StoreQueries | None = None
        self._names = names
        self._task: Task | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._ask_near)
        name.typed.connect(self._on_typed)
        name.stepped.connect(self._on_stepped)
        name.fill_taken.connect(self.settle)
        name.fill_refused.connect(self._refuse)
        name.left.connect(self._hide)
        self._popup.chosen.connect(self._on_chosen)

    def set_store(self, queries: StoreQueries | None) -> None:
        """Offer the names of a store; None: offer nothing."""
        self._hide()
        self._queries = queries
        self._recent.clear()
        if queries is not None:
            queries.ask(self, _newest_of_form, self._on_newest)

    def remember(self, name: str, tag: str | None) -> None:
        """Let Up go back to a plant that was submitted."""
        self._recent = [(name, tag), *self._recent][:_MAX_RECENT]
        self._recalled = 0
        self._hide()

    def settle(self) -> None:
        """Keep what was filled in if the user has chosen it or can have seen it, else remove it."""
        if self._name.is_filled and not self._name.is_fill_seen:
            self._refuse()
        else:
            self._take()

    def _take(self) -> None:
        self._name.take_fill()
        self._tag.take_fill()
        self._hide()

    @Slot(str)
    def _on_typed(self, _text: str) -> None:
        self._recalled = 0
        self._pause.stop()
        if self._tag.is_filled:
            self._tag.fill(None)
        if self._queries is None:
            return
        if self._task is not None:
            self._task.cancel()
        start = self._name.typed_name
        if start.strip():
            find = partial(_offers, start=start, names=self._names)
            self._task = self._queries.ask(self, find, partial(self._on_found, start))
        else:
            self._hide()
            self.known.emit(None)

    def _on_found(self, start: str, offers: list[KnownName]) -> None:
        if start != self._name.typed_name or not self._name.hasFocus():
            return
        same = next((offer for offer in offers if offer.name == start.strip()), None)
        self.known.emit(same if same is not None and same.plants else None)
        self._show([offer for offer in offers if offer.name != start], len(start))
        if not offers:
            self._pause.start()
        may_fill = bool(self._offers) and self._offers[0].plants and same is None and not start.endswith(" ")
        # What ends with a whole word may be all of a name: “Acer minor” beside “Acer minor ‘Blauhügel’”.
        if may_fill and self._offers[0].name[len(start) :][:1].isalnum() and self._name.can_fill(self._offers[0].name):
            self._name.fill(self._offers[0].name)
            self._show_filled(0)

    def _show(self, offers: list[KnownName], typed: int) -> None:
        self._offers, self._current = offers, -1
        self._popup.show_offers(offers, typed, -1)
        self._name.is_offering = bool(offers)

    @Slot()
    def _ask_near(self) -> None:
        """Look for names that are spelt alike: the typed one is neither a plant's nor in the list."""
        start = self._name.typed_name
        if self._queries is not None:
            find = partial(_near, name=start, names=self._names)
            self._task = self._queries.ask(self, find, partial(self._on_near, start))

    def _on_near(self, start: str, offers: list[KnownName]) -> None:
        if offers and start == self._name.typed_name and self._name.hasFocus():
            self._show(offers, 0)
            announce(self._name, ", ".join((_number(offers[0]), *(one_line(offer.name) for offer in offers))))

    def _choose(self, position: int) -> None:
        self._name.choose(self._offers[position].name)
        self._show_filled(position)

    def _show_filled(self, position: int) -> None:
        """Show the tag of an offer whose name is in the field, and mark it."""
        offer, self._current = self._offers[position], position
        self._pause.stop()
        if not self._tag.is_pinned and (self._tag.is_filled or not self._tag.text()):
            self._tag.fill(offer.tag)
        self._popup.set_current(position, fills_tag=self._tag.is_filled)

    @Slot(int)
    def _on_stepped(self, step: int) -> None:
        if self._popup.isVisible():
            self._choose(max(0, min(self._current + step, len(self._offers) - 1)))
        elif not self._name.text() or self._recalled:
            self._recall(self._recalled - step)

    def _recall(self, position: int) -> None:
        """Show the plant that was added so many plants ago; 0: none."""
        self._recalled = max(0, min(position, len(self._recent)))
        name, tag = self._recent[self._recalled - 1] if self._recalled else ("", None)
        self._name.setText(name)
        self._name.selectAll()
        if not self._tag.is_pinned:
            self._tag.fill(tag)

    @Slot(int)
    def _on_chosen(self, position: int) -> None:
        self._choose(position)
        self._take()

    @Slot()
    def _refuse(self) -> None:
        self._name.refuse_fill()
        if self._tag.is_filled:
            self._tag.fill(None)
        self._hide()

    def _on_newest(self, newest: tuple[str, str | None] | None) -> None:
        if newest is not None and not self._recent:
            self._recent.append(newest)

    def _hide(self) -> None:
        self._pause.stop()
        if self._task is not None:
            self._task.cancel()  # its offers are for a text that was submitted or left
            self._task = None
        self._offers = []
        self._name.is_offering = False
        self._popup.hide()


def listed(context: WindowContext) -> Callable[[], KnownNames | None]:
    """Return what returns the list of names of a store, which may be empty; None if the user does not want it."""

    def names() -> KnownNames | None:
        from plantdesk.store import KnownNames

        offers = context.preferences.settings.offers_known_names
        return KnownNames(context.location.names_file) if offers else None

    return names


def _offers(reader: PlantReader, _task: Task, start: str, names: Callable[[], KnownNames | None]) -> list[KnownName]:
    """Return names that begin with a text: first the text, if it is one, then those that plants have."""
    own, found = reader.known_names(start, MAX_OFFERS), names()
    taken = {each.name for each in own}
    others = [] if found is None else found.beginning(start, MAX_OFFERS)
    offers = own + [KnownName(name, None, _LISTED) for name in others if name not in taken]
    typed = start.strip()
    if typed not in {each.name for each in offers} and reader.names_in_use([typed]):  # many others are more frequent
        offers.append(KnownName(typed, None, _LISTED))
    return sorted(offers, key=lambda offer: offer.name != typed)[:MAX_OFFERS]


def _near(reader: PlantReader, _task: Task, name: str, names: Callable[[], KnownNames | None]) -> list[KnownName]:
    """Return names that are spelt like one: first those that plants have, with their tags."""
    own, found = {each.name: each.tag for each in reader.near_names(name, _MAX_NEAR)}, names()
    listed = dict.fromkeys([] if found is None else found.near(name, _MAX_NEAR))
    return [KnownName(each, tag, _NEAR) for each, tag in (own | {**listed, **own}).items()][:_MAX_NEAR]


def _newest_of_form(reader: PlantReader, _task: Task) -> tuple[str, str | None] | None:
    """Return name and tag of the plant that was added last in the form."""
    from plantdesk.domain.records import SourceKind
    from plantdesk.domain.selections import AddedBy, Selection

    found = reader.two_sources()
    if len(found) == 1 and found[0] not in {each.id for each in reader.sources() if each.kind is SourceKind.FORM}:
        return None  # without a search of all plants
    row = next(iter(reader.selected(Selection.of(AddedBy(SourceKind.FORM)), 1)), None)
    return None if row is None else (row.name, row.tag)


MAX_OFFERS = 6
#: For text of 13 px: from the right edge to the end of the pill, and the row of keys.
_COUNT, _KEYS_HEIGHT = 68, 36
_MIN_WIDTH = 360
_PADDING, _RADIUS = 5, 6
_LEADING = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class NameOffers(QFrame):
    """Lies over the window below its field and never takes the focus. `chosen(position)`: an offer was clicked."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, field: QWidget) -> None:
        """Make it, hidden, for a field."""
        super().__init__(field)
        self._theme = theme
        self._field = field
        self._offers: Sequence[KnownName] = ()
        self._typed = 0
        self._current = 0
        self._fills_tag = False
        self.setProperty("popup", "true")
        shadow = QGraphicsDropShadowEffect(self, blurRadius=24, offset=QPointF(0, 4), color=QColor(0, 0, 0, 70))
        self.setGraphicsEffect(shadow)
        self.setAccessibleName(self.tr("Known names"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.hide()

    @property
    def offers(self) -> Sequence[KnownName]:
        """What is offered."""
        return self._offers

    def show_offers(self, offers: Sequence[KnownName], typed: int, current: int) -> None:
        """Show offers, of whose names the first `typed` characters were typed; `current` is the one that Enter adds."""
        self._offers, self._typed, self._current = offers, typed, current
        self._place()
        self.setVisible(bool(offers))
        self.raise_()
        self.update()

    def set_current(self, current: int, *, fills_tag: bool) -> None:
        """Mark another offer, which has filled in its tag or not, and announce it to screen readers."""
        self._current, self._fills_tag = current, fills_tag
        self.update()
        offer = self._offers[current]
        words = [one_line(offer.name), *([] if offer.tag is None else [tag_text(offer.tag)]), _number(offer)]
        announce(self._field, ", ".join(words))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = (event.position().toPoint().y() - _PADDING) // self._theme.metrics.row
        if 0 <= row < len(self._offers):
            self.chosen.emit(row)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # each text in its own direction
        for row, offer in enumerate(self._offers):
            self._paint_offer(painter, self._row_rect(row), offer, is_current=row == self._current)
        self._paint_keys(painter)
        painter.end()

    def _paint_offer(self, painter: QPainter, rect: QRect, offer: KnownName, *, is_current: bool) -> None:
        colors, metrics = self._theme.colors, self._theme.metrics
        if is_current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("selection"))
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        painter.setFont(tabular(metrics.font(FontRole.PILL)))
        painter.setPen(colors.color("text_2"))
        self._draw(painter, rect.adjusted(0, 0, -S - XS, 0), _number(offer), _TRAILING)
        end = rect.right() - self.room_for_numbers()
        pill = self._paint_pill(painter, rect, end, offer.tag) if offer.tag is not None else end
        self._paint_name(painter, QRect(rect.left() + S, rect.top(), pill - rect.left() - 2 * S, rect.height()), offer)

    def room_for_numbers(self) -> int:
        """Return the width that is kept free at the end of each row for the widest number, with space round it."""
        metrics = self._theme.metrics
        widths = QFontMetrics(tabular(metrics.font(FontRole.PILL))).horizontalAdvance
        return max([metrics.scaled(_COUNT), *(widths(_number(each)) + M for each in self._offers)]) + S + XS

    def name_layout(self, offer: KnownName, width: int) -> QTextLayout:
        """Return the layout of a name in its own direction, which has what was typed of it strong."""
        font, typed = QFont(self._theme.font()), QTextLayout.FormatRange()
        font.setWeight(QFont.Weight.DemiBold)
        typed.start, typed.length = 0, self._typed
        typed.format.setFont(font)
        name = QFontMetrics(font).elidedText(one_line(offer.name), Qt.TextElideMode.ElideRight, max(width, 0))
        layout = QTextLayout(name, self._theme.font())
        layout.setFormats([typed])
        side = QStyle.visualAlignment(self.layoutDirection(), Qt.AlignmentFlag.AlignLeft)
        option = QTextOption(side | Qt.AlignmentFlag.AlignAbsolute)
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        layout.setTextOption(option)
        layout.beginLayout()
        layout.createLine().setLineWidth(width)
        layout.endLayout()
        return layout

    def _paint_name(self, painter: QPainter, rect: QRect, offer: KnownName) -> None:
        painter.setPen(self._theme.colors.color("text"))
        layout, place = self.name_layout(offer, rect.width()), self._mirrored(rect)
        top = place.top() + (place.height() - layout.boundingRect().height()) / 2
        layout.draw(painter, QPointF(place.left(), top))

    def _paint_pill(self, painter: QPainter, rect: QRect, end: int, tag: str) -> int:
        """Paint a tag that ends at `end`; return where it begins."""
        size = pill_size(self._theme, tag).boundedTo(QSize(rect.width() // 3, rect.height()))
        pill = QRect(QPoint(end - size.width(), rect.top() + (rect.height() - size.height()) // 2), size)
        paint_pill(painter, self._theme, self._mirrored(pill), tag)
        return pill.left()

    def _paint_keys(self, painter: QPainter) -> None:
        colors, metrics = self._theme.colors, self._theme.metrics
        top = self._row_rect(len(self._offers)).top()
        painter.fillRect(QRect(1, top, self.width() - 2, 1), colors.color("line"))
        painter.setFont(metrics.font(FontRole.PILL))
        left, height = _PADDING + S, metrics.line + 4
        middle = top + 1 + (metrics.scaled(_KEYS_HEIGHT) - height) // 2
        for key, does in self.keys:
            width = painter.fontMetrics().horizontalAdvance(key) + 2 * S
            if left + width + S + painter.fontMetrics().horizontalAdvance(does) > self.width():
                return
            cap = QRect(left, middle, width, height)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.setBrush(colors.color("window"))
            painter.drawRoundedRect(self._mirrored(cap), 4, 4)
            painter.setPen(colors.color("text_2"))
            painter.drawText(self._mirrored(cap), Qt.AlignmentFlag.AlignCenter, key)
            text = QRect(cap.right() + S, middle, painter.fontMetrics().horizontalAdvance(does) + 1, height)
            self._draw(painter, text, does, _LEADING)
            left = text.right() + M + XS

    @property
    def keys(self) -> list[tuple[str, str]]:
        """The keys that are shown, and what they do."""
        enter, escape = self.tr("Enter"), self.tr("Esc")
        if self._current < 0:
            return [(enter, self.tr("add what is typed")), ("↓", self.tr("choose")), (escape, self.tr("close"))]
        add = self.tr("add with its tag") if self._fills_tag else self.tr("add")
        return [(enter, add), (self.tr("Tab"), self.tr("take and go on")), (escape, self.tr("keep what is typed"))]

    def _draw(self, painter: QPainter, rect: QRect, text: str, side: Qt.AlignmentFlag) -> None:
        painter.drawText(self._mirrored(rect), QStyle.visualAlignment(self.layoutDirection(), side), text)

    def _mirrored(self, rect: QRect) -> QRect:
        return QStyle.visualRect(self.layoutDirection(), self.rect(), rect)

    def _row_rect(self, row: int) -> QRect:
        height = self._theme.metrics.row
        return QRect(_PADDING, _PADDING + row * height, self.width() - 2 * _PADDING, height)

    def _needed_height(self) -> int:
        metrics = self._theme.metrics
        return 2 * _PADDING + len(self._offers) * metrics.row + metrics.scaled(_KEYS_HEIGHT)

    def _place(self) -> None:
        """Lie over the window, 4 pixels below the field and at least as wide."""
        window = self._field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        height = self._needed_height()
        width = min(max(self._field.width(), self._theme.metrics.scaled(_MIN_WIDTH)), window.width() - 2 * S)
        position = self._field.mapTo(window, QPoint(0, self._field.height() + XS))
        position.setX(max(S, min(position.x(), window.width() - S - width)))
        self.setGeometry(QRect(position, QSize(width, height)))


class OffersBelow(NameOffers):
    """Is a window of its own below that of its field, or above it where there is no room, and never takes the focus."""

    def __init__(self, theme: Theme, field: QWidget, window: QWidget) -> None:
        super().__init__(theme, field)
        self.setGraphicsEffect(None)  # type: ignore[arg-type]  # a window is cut off where its shadow would be
        kind = Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowDoesNotAcceptFocus
        self.setParent(window, kind)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)

    @property
    @override
    def keys(self) -> list[tuple[str, str]]:
        add, stay = (self.tr("Enter"), self.tr("add and close")), (self.tr("Ctrl+Enter"), self.tr("add, stay"))
        return [add, stay, (self.tr("Esc"), self.tr("close"))]

    @override
    def _place(self) -> None:
        window, size = self._field.window().frameGeometry(), QSize(self._field.width(), self._needed_height())
        left = self._field.mapToGlobal(QPoint()).x()
        is_room = window.bottom() + S + size.height() <= self._field.screen().availableGeometry().bottom()
        top = window.bottom() + S if is_room else window.top() - S - size.height()
        self.setGeometry(QRect(QPoint(left, top), size))


def _number(offer: KnownName) -> str:
    if offer.plants in {_LISTED, _NEAR}:
        near, in_list = translate("NameOffers", "Did you mean?"), translate("NameOffers", "in the list")
        return near if offer.plants == _NEAR else in_list
    return shown(Text("{count:,} here", one="1 here", count=offer.plants))
