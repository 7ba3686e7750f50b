"""Completes names from those that plants have, with the tag that their newest plant has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from plantdesk.ui.plants.name_offers import MAX_OFFERS, NameOffers

if TYPE_CHECKING:
    from plantdesk.domain.protocols import PlantReader
    from plantdesk.domain.views import KnownName
    from plantdesk.ui.background import Task
    from plantdesk.ui.plants.name_field import NameField
    from plantdesk.ui.plants.tag_field import TagField
    from plantdesk.ui.store_queries import StoreQueries
    from plantdesk.ui.theme.theme import Theme

#: Recent plants that Up goes back to.
_MAX_RECENT = 50


class NameCompletion(QObject):
    """Fills name and tag in while the user types; the tag only where none was typed or pinned.

    What was typed is never changed: a name that begins otherwise, if only in another case, is offered to be chosen.
    `known(name)`: the typed name is that of plants, None: it is not.
    """

    known = Signal(object)

    def __init__(self, theme: Theme, name: NameField, tag: TagField, parent: QObject) -> None:
        super().__init__(parent)
        self._name = name
        self._tag = tag
        self._popup = NameOffers(theme, name)
        self._offers: list[KnownName] = []
        self._current = 0
        self._recent: list[tuple[str, str | None]] = []
        self._recalled = 0
        self._queries: StoreQueries | None = None
        self._task: Task | None = None
        name.typed.connect(self._on_typed)
        name.stepped.connect(self._on_stepped)
        name.fill_taken.connect(self._on_fill_taken)
        name.fill_refused.connect(self._refuse)
        name.left.connect(self._on_left)
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
        if self._tag.is_filled:
            self._tag.fill(None)
        if self._queries is None:
            return
        if self._task is not None:
            self._task.cancel()
        start = self._name.typed_name
        if start.strip():
            ask = partial(_known_names, start=start)
            self._task = self._queries.ask(self, ask, partial(self._on_found, start))
        else:
            self._hide()
            self.known.emit(None)

    def _on_found(self, start: str, offers: list[KnownName]) -> None:
        if start != self._name.typed_name or not self._name.hasFocus():
            return
        same = next((offer for offer in offers if offer.name == start.strip()), None)
        self.known.emit(same)
        self._offers = [offer for offer in offers if offer.name != start]
        self._current = -1
        self._popup.show_offers(self._offers, len(start), -1)
        self._name.is_offering = bool(self._offers)
        may_fill = bool(self._offers) and same is None and not start.endswith(" ")
        if may_fill and self._name.can_fill(self._offers[0].name):
            self._name.fill(self._offers[0].name)
            self._show_filled(0)

    def _choose(self, position: int) -> None:
        self._name.choose(self._offers[position].name)
        self._show_filled(position)

    def _show_filled(self, position: int) -> None:
        """Show the tag of an offer whose name is in the field, and mark it."""
        offer, self._current = self._offers[position], position
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
    def _on_fill_taken(self) -> None:
        self.settle()

    @Slot()
    def _refuse(self) -> None:
        self._name.refuse_fill()
        if self._tag.is_filled:
            self._tag.fill(None)
        self._hide()

    @Slot()
    def _on_left(self) -> None:
        self._hide()

    def _on_newest(self, newest: tuple[str, str | None] | None) -> None:
        if newest is not None and not self._recent:
            self._recent.append(newest)

    def _hide(self) -> None:
        if self._task is not None:
            self._task.cancel()  # its offers are for a text that was submitted or left
            self._task = None
        self._offers = []
        self._name.is_offering = False
        self._popup.hide()


def _known_names(reader: PlantReader, _task: Task, start: str) -> list[KnownName]:
    return reader.known_names(start, MAX_OFFERS)


def _newest_of_form(reader: PlantReader, _task: Task) -> tuple[str, str | None] | None:
    """Return name and tag of the plant that was added last in the form."""
    from plantdesk.domain.records import SourceKind
    from plantdesk.domain.selections import AddedBy, Selection
    from plantdesk.domain.views import View

    ids = next(reader.ids(View(Selection.of(AddedBy(SourceKind.FORM)))), None)
    row = reader.plant(ids[0]) if ids else None
    return None if row is None else (row.name, row.tag)
