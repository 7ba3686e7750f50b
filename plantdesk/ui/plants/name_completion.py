"""Completes the names of plants, with the tag of their newest plant, and offers them under the field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget
from typing_extensions import override

from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.selections import KnownName
from plantdesk.domain.texts import Text
from plantdesk.transfer.known_names import KnownNames
from plantdesk.ui.background import Task
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.plants.add_queue import AddQueue
from plantdesk.ui.plants.form import PlantForm
from plantdesk.ui.qt import Index
from plantdesk.ui.texts import one_line, tag_text, translate, translated
from plantdesk.ui.theme.metrics import XS, FontRole, M, S, with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.offers import OfferDelegate, OfferList
from plantdesk.ui.widgets.painting import paint_pill, pill_size
from plantdesk.ui.widgets.plain_text import announce

_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
#: Recent plants that Up can recall.
_MAX_RECENT = 50
#: Milliseconds without a key after which similar names are offered, and the most of them.
_PAUSE_MS = 300
_MAX_SIMILAR = 3
#: Replaces the number of plants of a name that is from a list or is only similar.
_LISTED_COUNT = 0
_SIMILAR_COUNT = -1
MAX_OFFERS = 6
OpenNames: TypeAlias = Callable[[], KnownNames | None]
#: For text of 13 px: distance from the right edge to the end of the pill.
_COUNT_WIDTH = 68
_MIN_WIDTH = 360


class NameCompletion(QObject):
    """Completes the name while the user types, and the tag unless one was typed or pinned.

    The typed text never changes: a name that begins in another case is only offered. Below the names of plants it
    offers names of a list or, if nothing begins so, names with a similar spelling; it never fills these in.
    """

    def __init__(
        self, form: PlantForm, queue: AddQueue, open_names: OpenNames, small_window: QWidget | None = None
    ) -> None:
        """Offer names of the queue's store under the field, or under `small_window`.

        `open_names` is called on another thread, and returns the user's list of more names, or None.
        """
        super().__init__(form)
        self._theme = form.theme
        self._queue = queue
        self._small_window = small_window
        self._name_field = form.name_field
        self._tag_field = form.tag_field
        name_field = self._name_field
        self._offers: Sequence[KnownName] = ()
        self._current_offer = -1
        self._recent: list[tuple[str, str | None]] = []
        self._recall_position = 0
        self._open_names = open_names
        self._task: Task | None = None
        self._pause_timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause_timer.timeout.connect(self._query_similar)
        self._delegate = NameDelegate(form.theme, self)
        self._list = OfferList(name_field, self._delegate)
        self._list.setWrapAround(False)
        self._list.view.setAccessibleName(self.tr("Known names"))
        self._list.highlighted[QModelIndex].connect(self._on_highlighted)  # type: ignore[index]
        self._list.view.clicked.connect(self._on_clicked)  # not `activated`: Enter submits
        name_field.textEdited.connect(self._on_typed)
        name_field.recall_requested.connect(self._on_recall_requested)
        name_field.fill_accepted.connect(self.accept_or_remove)
        name_field.fill_refused.connect(self._refuse)
        name_field.focus_lost.connect(self._hide_offers)
        name_field.scanned.connect(self._hide_offers)

    def remember(self, name: str, tag: str | None) -> None:
        """Add a submitted plant to those that the key Up recalls, and hide the offers."""
        self._recent = [(name, tag), *self._recent][:_MAX_RECENT]
        self._recall_position = 0
        self._hide_offers()

    def accept_or_remove(self) -> None:
        """Accept the completion if the user chose it or had time to see it; otherwise remove it."""
        if self._name_field.is_filled and not self._name_field.is_fill_seen:
            self._refuse()
        else:
            self._accept()

    def _accept(self) -> None:
        self._name_field.accept_fill()
        self._tag_field.accept_fill()
        self._hide_offers()

    @Slot()
    def _on_typed(self) -> None:
        """Query names that begin with the typed text; the tag of an earlier completion is removed."""
        self._recall_position = 0
        self._pause_timer.stop()
        if self._tag_field.is_filled:
            self._tag_field.fill(None)
        if self._queue.queries is None:
            return
        if self._task is not None:
            self._task.cancel()
        start = self._name_field.typed_name
        if start.strip():
            find = partial(_find_offers, start=start, open_names=self._open_names)
            self._task = self._queue.queries.run(self, find, partial(self._on_found, start))
        else:
            self._hide_offers()

    def _on_found(self, start: str, offers: list[KnownName]) -> None:
        if start != self._name_field.typed_name or not self._name_field.hasFocus():
            return
        self._show_offers([offer for offer in offers if offer.plants or offer.name != start], start)
        if not offers:
            self._pause_timer.start()
        if all(offer.name != start.strip() for offer in offers) and self._may_fill(start):
            self._name_field.fill(self._offers[0].name)
            self._show_filled(0)

    def _may_fill(self, start: str) -> bool:
        """Return whether the rest of the first offer may be filled in after `start`: only names of the store may.

        A text that ends with a whole word may be a whole name: “Acer minor” beside “Acer minor ‘Blauhügel’”.
        """
        if not self._offers:
            return False
        offer = self._offers[0]
        is_within_word = not start.endswith(" ") and offer.name[len(start) :][:1].isalnum()
        return offer.plants > 0 and is_within_word and self._name_field.can_fill(offer.name)

    def _show_offers(self, offers: Sequence[KnownName], typed: str) -> None:
        """Offer names, with the part `typed` in bold; none is chosen yet."""
        self._offers = offers
        self._current_offer = -1
        self._name_field.is_offering = bool(offers)
        self._delegate.offers = offers
        self._list.offer([offer.name for offer in offers], typed, self._list_rect() if offers else QRect())

    def _list_rect(self) -> QRect:
        """Return the rectangle, relative to the field, below which the list is shown, or above it without room."""
        field = self._name_field
        width = min(max(field.width(), self._theme.metrics.scaled(_MIN_WIDTH)), field.window().width() - 2 * S)
        if self._small_window is not None:
            frame = self._small_window.frameGeometry().adjusted(0, -S, 0, S)
            return QRect(0, frame.top() - field.mapToGlobal(QPoint()).y(), width, frame.height())
        return QRect(0, 0, width, field.height() + XS)

    @Slot()
    def _query_similar(self) -> None:
        """Query names with a similar spelling, as no known name begins with the typed one."""
        start = self._name_field.typed_name
        if self._queue.queries is not None:
            find = partial(_find_similar_names, name=start)
            self._task = self._queue.queries.run(self, find, partial(self._on_similar, start))

    def _on_similar(self, start: str, offers: list[KnownName]) -> None:
        if offers and start == self._name_field.typed_name and self._name_field.hasFocus():
            self._show_offers(offers, "")
            announce(self._name_field, ", ".join((_count_text(offers[0]), *(one_line(offer.name) for offer in offers))))

    def _choose(self, position: int) -> None:
        self._name_field.choose(self._offers[position].name)
        self._show_filled(position)

    def _show_filled(self, position: int) -> None:
        """Show the tag of the offer in the tag field, make the offer current, and announce it."""
        offer = self._offers[position]
        self._current_offer = position
        self._pause_timer.stop()
        if not self._tag_field.is_pinned and (self._tag_field.is_filled or not self._tag_field.text()):
            self._tag_field.fill(offer.tag)
        self._list.view.setCurrentIndex(self._list.completionModel().index(position, 0))
        words = [one_line(offer.name), *([] if offer.tag is None else [tag_text(offer.tag)]), _count_text(offer)]
        announce(self._name_field, ", ".join(words))

    @Slot(int)
    def _on_recall_requested(self, step: int) -> None:
        if not self._name_field.text() or self._recall_position:
            self._recall(self._recall_position - step)

    def _recall(self, position: int) -> None:
        """Fill in the plant that was submitted `position` submissions ago; 0 clears the fields."""
        self._recall_position = max(0, min(position, len(self._recent)))
        name, tag = self._recent[self._recall_position - 1] if self._recall_position else ("", None)
        self._name_field.setText(name)
        self._name_field.selectAll()
        if not self._tag_field.is_pinned:
            self._tag_field.fill(tag)

    @Slot(QModelIndex)
    def _on_highlighted(self, index: QModelIndex) -> None:
        if index.isValid() and index.row() != self._current_offer:
            self._choose(index.row())

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())
        self._accept()

    @Slot()
    def _refuse(self) -> None:
        self._name_field.refuse_fill()
        if self._tag_field.is_filled:
            self._tag_field.fill(None)
        self._hide_offers()

    def _hide_offers(self) -> None:
        self._pause_timer.stop()
        if self._task is not None:
            self._task.cancel()  # its result is outdated
            self._task = None
        self._show_offers((), "")


def open_known_names(context: WindowContext) -> KnownNames | None:
    """Return the user's list of names, perhaps empty; None if the user does not want it. For any thread."""
    return KnownNames(context.location.names_file) if context.preferences.settings.offers_known_names else None


def _find_offers(reader: PlantReader, _task: Task, start: str, open_names: OpenNames) -> list[KnownName]:
    """Return names that begin with a text: first the text itself if it is a name, then the names of plants."""
    own = reader.known_names(start, MAX_OFFERS)
    listed = open_names()
    taken = {offer.name for offer in own}
    others = [] if listed is None else listed.beginning(start, MAX_OFFERS)
    offers = own + [KnownName(name, None, _LISTED_COUNT) for name in others if name not in taken]
    typed = start.strip()
    if typed not in {offer.name for offer in offers} and reader.names_in_use([typed]):  # cut off by more frequent ones
        offers.append(KnownName(typed, None, _LISTED_COUNT))
    return sorted(offers, key=lambda offer: offer.name != typed)[:MAX_OFFERS]


def _find_similar_names(reader: PlantReader, _task: Task, name: str) -> list[KnownName]:
    """Return names of plants that are similar to a name, with their tags."""
    return [KnownName(similar.name, similar.tag, _SIMILAR_COUNT) for similar in reader.near_names(name, _MAX_SIMILAR)]


class NameDelegate(OfferDelegate):
    """Paints a name, its tag as a pill, and how many plants have it."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        #: What is painted in each row.
        self.offers: Sequence[KnownName] = ()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(1, self._theme.metrics.row)

    @override
    def paint_end(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> int:
        offer = self.offers[index.row()]
        count = _count_text(offer)
        row = option.rect
        painter.setFont(with_tabular_digits(self._theme.metrics.font(FontRole.PILL)))
        painter.setPen(self._theme.colors.color("muted"))
        number = row.adjusted(0, 0, -M, 0)
        rect = QStyle.visualRect(option.direction, row, number)
        painter.drawText(rect, QStyle.visualAlignment(option.direction, _TRAILING), count)
        room = max(self._theme.metrics.scaled(_COUNT_WIDTH), painter.fontMetrics().horizontalAdvance(count) + M)
        end = number.right() - room
        if offer.tag is None:
            return end
        size = pill_size(self._theme, offer.tag).boundedTo(QSize(row.width() // 3, row.height()))
        pill = QRect(QPoint(end - size.width(), row.top() + (row.height() - size.height()) // 2), size)
        paint_pill(painter, self._theme, QStyle.visualRect(option.direction, row, pill), offer.tag)
        return pill.left()


def _count_text(offer: KnownName) -> str:
    if offer.plants == _SIMILAR_COUNT:
        return translate("NameOffers", "Did you mean?")
    if offer.plants == _LISTED_COUNT:
        return translate("NameOffers", "in the list")
    return translated(Text("{count:,} here", one="1 here", count=offer.plants))
