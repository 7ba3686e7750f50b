"""Completes the names of plants, with the tag of their newest plant, and offers them under the field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QHBoxLayout,
    QListView,
    QStyle,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.domain.views import KnownName
from plantdesk.ui.qt import STRETCH, fill
from plantdesk.ui.texts import one_line, shown, tag_text, translate
from plantdesk.ui.theme.metrics import XS, FontRole, M, S, tabular
from plantdesk.ui.widgets.fields import OfferDelegate
from plantdesk.ui.widgets.painting import paint_pill, pill_size
from plantdesk.ui.widgets.plain_text import PlainLabel, announce

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader
    from plantdesk.store import KnownNames
    from plantdesk.ui.background import StoreQueries, Task
    from plantdesk.ui.feature import WindowContext
    from plantdesk.ui.plants.form_fields import NameField, TagField
    from plantdesk.ui.qt import Index
    from plantdesk.ui.theme.theme import Theme


_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
#: Recent plants that Up can recall.
_MAX_RECENT = 50
#: Milliseconds without a key after which similar names are offered, and the most of them.
_PAUSE, _MAX_NEAR = 300, 3
#: Replaces the number of plants of a name that is from a list or is only similar.
_LISTED, _NEAR = 0, -1


class NameCompletion(QObject):
    """Fills in name and tag while the user types; the tag only if none was typed or pinned.

    What was typed is never changed: a name with another beginning, if only in another case, is only offered.
    After the names of plants, it offers names of a list, and if there are none, names of plants with a similar
    spelling. These are not filled in: the user has to choose them.
    `known(name)`: plants have the typed name; None: no plant has it.
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
        """Offer names over the window, or `below` a small one; `names`, called on another thread, returns the list."""
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

    def remember(self, name: str, tag: str | None) -> None:
        """Let Up recall a plant that was submitted."""
        self._recent = [(name, tag), *self._recent][:_MAX_RECENT]
        self._recalled = 0
        self._hide()

    def settle(self) -> None:
        """Keep what was filled in if the user chose it or had time to see it, else remove it."""
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
        self.known.emit(None if same is None or not same.plants else same)
        self._show([offer for offer in offers if offer.name != start], start)
        if not offers:
            self._pause.start()
        if same is None and self._may_fill(start):
            self._name.fill(self._offers[0].name)
            self._show_filled(0)

    def _may_fill(self, start: str) -> bool:
        """Return whether the rest of the first offer may be filled in after `start`: only names of the store may.

        A text that ends with a whole word may be a whole name: “Acer minor” beside “Acer minor ‘Blauhügel’”.
        """
        if not self._offers:
            return False
        offer = self._offers[0]
        is_within_word = not start.endswith(" ") and offer.name[len(start) :][:1].isalnum()
        return offer.plants > 0 and is_within_word and self._name.can_fill(offer.name)

    def _show(self, offers: list[KnownName], typed: str) -> None:
        self._offers, self._current = offers, -1
        self._popup.show_offers(offers, typed)
        self._name.is_offering = bool(offers)

    @Slot()
    def _ask_near(self) -> None:
        """Query similar names: the typed one is neither a plant's nor in the list."""
        start = self._name.typed_name
        if self._queries is not None:
            find = partial(_near, name=start)
            self._task = self._queries.ask(self, find, partial(self._on_near, start))

    def _on_near(self, start: str, offers: list[KnownName]) -> None:
        if offers and start == self._name.typed_name and self._name.hasFocus():
            self._show(offers, "")
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
        """Fill in the plant that was added `position` plants ago; 0: none."""
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

    def _hide(self) -> None:
        self._pause.stop()
        if self._task is not None:
            self._task.cancel()  # its offers are for a text that was submitted or left
            self._task = None
        self._offers = []
        self._name.is_offering = False
        self._popup.hide()


def listed(context: WindowContext) -> Callable[[], KnownNames | None]:
    """Return a function that returns the names of a list, which may be empty; None if the user does not want it."""

    def names() -> KnownNames | None:
        from plantdesk.store import KnownNames

        offers = context.preferences.settings.offers_known_names
        return KnownNames(context.location.names_file) if offers else None

    return names


def _offers(reader: PlantReader, _task: Task, start: str, names: Callable[[], KnownNames | None]) -> list[KnownName]:
    """Return names that begin with a text: first the text itself if it is a name, then the names of plants."""
    own, found = reader.known_names(start, MAX_OFFERS), names()
    taken = {each.name for each in own}
    others = [] if found is None else found.beginning(start, MAX_OFFERS)
    offers = own + [KnownName(name, None, _LISTED) for name in others if name not in taken]
    typed = start.strip()
    if typed not in {each.name for each in offers} and reader.names_in_use([typed]):  # cut off by more frequent ones
        offers.append(KnownName(typed, None, _LISTED))
    return sorted(offers, key=lambda offer: offer.name != typed)[:MAX_OFFERS]


def _near(reader: PlantReader, _task: Task, name: str) -> list[KnownName]:
    """Return names of plants that are similar to a name, with their tags."""
    return [KnownName(each.name, each.tag, _NEAR) for each in reader.near_names(name, _MAX_NEAR)]


MAX_OFFERS = 6
#: For text of 13 px: distance from the right edge to the end of the pill.
_COUNT = 68
_MIN_WIDTH = 360
_PADDING = 5
#: The role under which the delegate gets the KnownName itself.
_OFFER_ROLE = Qt.ItemDataRole.UserRole


class NameDelegate(OfferDelegate):
    """Paints a name, its tag as a pill, and how many plants have it."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        #: The pixels that are reserved at the end of each row for the widest number, with space around it.
        self.room_for_numbers = 0

    def fit(self, offers: Sequence[KnownName]) -> None:
        """Reserve the width that the numbers of these offers need."""
        metrics = self._theme.metrics
        width_of = QFontMetrics(tabular(metrics.font(FontRole.PILL))).horizontalAdvance
        widest = max([metrics.scaled(_COUNT), *(width_of(_number(each)) + M for each in offers)])
        self.room_for_numbers = widest + S + XS

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(_MIN_WIDTH, self._theme.metrics.row)

    @override
    def paint_end(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> int:
        offer: KnownName = index.data(_OFFER_ROLE)
        row, end = option.rect, option.rect.right() - self.room_for_numbers
        painter.setFont(tabular(self._theme.metrics.font(FontRole.PILL)))
        painter.setPen(self._theme.colors.color("text_2"))
        number = QStyle.visualRect(option.direction, row, row.adjusted(0, 0, -S - XS, 0))
        painter.drawText(number, QStyle.visualAlignment(option.direction, _TRAILING), _number(offer))
        if offer.tag is None:
            return end
        size = pill_size(self._theme, offer.tag).boundedTo(QSize(row.width() // 3, row.height()))
        pill = QRect(QPoint(end - size.width(), row.top() + (row.height() - size.height()) // 2), size)
        paint_pill(painter, self._theme, QStyle.visualRect(option.direction, row, pill), offer.tag)
        return pill.left()


class NameOffers(QFrame):
    """Lies over the window below its field and never takes the focus. `chosen(position)`: an offer was clicked."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, field: QWidget) -> None:
        """Make it, hidden, for a field."""
        super().__init__(field)
        self._theme = theme
        self._field = field
        self._offers: Sequence[KnownName] = ()
        self._model = QStandardItemModel(self)
        #: Paints the offers.
        self.delegate = NameDelegate(theme, self)
        #: The list of the offers.
        self.view = QListView()
        self.view.setModel(self._model)
        self.view.setItemDelegate(self.delegate)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setProperty("pane", "offers")
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setAccessibleName(self.tr("Known names"))
        self.view.clicked.connect(lambda index: self.chosen.emit(index.row()))
        self._keys = [(PlainLabel(role="key"), PlainLabel(tone="muted")) for _ in range(3)]
        line = QFrame()
        line.setProperty("pane", "lines")
        line.setFixedHeight(1)
        keys = fill(QHBoxLayout(), *chain.from_iterable(self._keys), STRETCH, margins=(S, XS, S, 0), spacing=S)
        fill(QVBoxLayout(self), self.view, line, keys, margins=_PADDING, spacing=XS)
        self.setProperty("popup", "true")
        shadow = QGraphicsDropShadowEffect(self, blurRadius=24, offset=QPointF(0, 4), color=QColor(0, 0, 0, 70))
        self.setGraphicsEffect(shadow)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    @property
    def offers(self) -> Sequence[KnownName]:
        """What is offered."""
        return self._offers

    def show_offers(self, offers: Sequence[KnownName], typed: str) -> None:
        """Show offers; `typed` is the typed part of their names. Enter still adds what is typed."""
        self._offers, self.delegate.typed = offers, typed
        self._model.clear()
        for offer in offers:
            item = QStandardItem(offer.name)
            item.setData(offer, _OFFER_ROLE)
            self._model.appendRow(item)
        self.delegate.fit(offers)
        self.view.setFixedHeight(len(offers) * self._theme.metrics.row)
        self._show_keys(self.keys(is_chosen=False, fills_tag=False))
        self._place()
        self.setVisible(bool(offers))
        self.raise_()

    def set_current(self, current: int, *, fills_tag: bool) -> None:
        """Mark the offer that Enter adds, announce it to screen readers, and show whether it has filled in its tag."""
        self.view.setCurrentIndex(self._model.index(current, 0))
        self._show_keys(self.keys(is_chosen=True, fills_tag=fills_tag))
        offer = self._offers[current]
        words = [one_line(offer.name), *([] if offer.tag is None else [tag_text(offer.tag)]), _number(offer)]
        announce(self._field, ", ".join(words))

    def keys(self, *, is_chosen: bool, fills_tag: bool) -> list[tuple[str, str]]:
        """Return the keys to show, and what they do."""
        enter, escape = self.tr("Enter"), self.tr("Esc")
        if not is_chosen:
            return [(enter, self.tr("add what is typed")), ("↓", self.tr("choose")), (escape, self.tr("close"))]
        add = self.tr("add with its tag") if fills_tag else self.tr("add")
        return [(enter, add), (self.tr("Tab"), self.tr("take and go on")), (escape, self.tr("keep what is typed"))]

    def _show_keys(self, keys: list[tuple[str, str]]) -> None:
        """Show keys, as many as fit."""
        left = self._width()
        for (key, does), texts in zip(self._keys, keys, strict=True):
            key.setText(texts[0])
            does.setText(texts[1])
            left -= key.sizeHint().width() + does.sizeHint().width() + 2 * S
            key.setVisible(left > 0)
            does.setVisible(left > 0)

    def _width(self) -> int:
        """Return the width in pixels: at least that of the field."""
        least = max(self._field.width(), self._theme.metrics.scaled(_MIN_WIDTH))
        return min(least, self._field.window().width() - 2 * S)

    def _place(self) -> None:
        """Lie over the window, 4 pixels below the field."""
        window, width = self._field.window(), self._width()
        if self.parentWidget() is not window:
            self.setParent(window)
        position = self._field.mapTo(window, QPoint(0, self._field.height() + XS))
        position.setX(max(S, min(position.x(), window.width() - S - width)))
        self.setGeometry(QRect(position, QSize(width, self.sizeHint().height())))


class OffersBelow(NameOffers):
    """A window of its own below that of its field, or above it if there is no room. It never takes the focus."""

    def __init__(self, theme: Theme, field: QWidget, window: QWidget) -> None:
        super().__init__(theme, field)
        self.setGraphicsEffect(None)  # type: ignore[arg-type]  # a window would cut off its shadow
        kind = Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowDoesNotAcceptFocus
        self.setParent(window, kind)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)

    @override
    def keys(self, *, is_chosen: bool, fills_tag: bool) -> list[tuple[str, str]]:
        add, stay = (self.tr("Enter"), self.tr("add and close")), (self.tr("Ctrl+Enter"), self.tr("add, stay"))
        return [add, stay, (self.tr("Esc"), self.tr("close"))]

    @override
    def _width(self) -> int:
        return self._field.width()

    @override
    def _place(self) -> None:
        window, size = self._field.window().frameGeometry(), QSize(self._width(), self.sizeHint().height())
        left = self._field.mapToGlobal(QPoint()).x()
        is_room = window.bottom() + S + size.height() <= self._field.screen().availableGeometry().bottom()
        top = window.bottom() + S if is_room else window.top() - S - size.height()
        self.setGeometry(QRect(QPoint(left, top), size))


def _number(offer: KnownName) -> str:
    if offer.plants in {_LISTED, _NEAR}:
        near, in_list = translate("NameOffers", "Did you mean?"), translate("NameOffers", "in the list")
        return near if offer.plants == _NEAR else in_list
    return shown(Text("{count:,} here", one="1 here", count=offer.plants))
