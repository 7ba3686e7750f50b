"""The search field, and the completion of terms and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import islice

from PySide6.QtCore import QObject, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from typing_extensions import override

from plantdesk.domain.folding import fold
from plantdesk.domain.search import PREFIXES, parse_terms
from plantdesk.domain.selections import AddedBy, AddedOn, Condition, Counts, HasTag, Not, Term
from plantdesk.ui.filters import UNTAGGED, filter_text
from plantdesk.ui.texts import translate
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.fields import SearchEdit
from plantdesk.ui.widgets.offers import OfferList

_MAX_OFFERS = 8
#: At the end of the text: a term with a part of its value, and a word that may become a prefix.
_TERM_AT_END = re.compile(
    r'(?:^|(?<=\s))(?P<not>-?)(?P<prefix>tag:|from:|added:)"?(?P<value>(?<=")[^"]*|[^\s"]*)\Z', re.IGNORECASE
)
_WORD_AT_END = re.compile(r"(?:^|(?<=\s))-?(?P<word>[a-z]{2,})\Z", re.IGNORECASE)
#: Milliseconds after which the field shows that a search runs.
_DELAY_MS = 150
#: Characters of a search: each of its words scans the whole table.
_MAX_LENGTH = 300


class SearchCompleter(QObject):
    """Offers filters, and their values, while the user types in the search field."""

    #: (term, rest) A term was chosen; `rest` is the text without it.
    completed = Signal(object, str)

    def __init__(self, field: SearchField) -> None:
        super().__init__(field)
        self._field = field
        self._tags: list[str] = []
        self._sources: list[AddedBy] = []
        #: The term, or the prefix of terms, of each offered text.
        self._offers: dict[str, Term | str] = {}
        self._term_start = 0
        self._list = OfferList(field)
        self._list.setMaxVisibleItems(_MAX_OFFERS)
        self._list.activated.connect(self._on_chosen)
        field.textEdited.connect(self._on_edited)

    @property
    def is_choosing(self) -> bool:
        """Whether an offer of the visible list is current, so that Enter takes it."""
        view = self._list.view
        return view.isVisible() and view.currentIndex().isValid()

    def set_completions(self, counts: Counts) -> None:
        """Set the tags and sources to offer; tags with many plants come first."""
        self._tags = sorted(filter(None, counts.tags), key=lambda tag: -counts.tags[tag])
        self._sources = list(dict.fromkeys(AddedBy(source.kind, source.label) for source in counts.sources))

    @Slot()
    def _on_edited(self) -> None:
        self._offers = {}
        text = self._field.text()
        if self._field.cursorPosition() == len(text):
            offers = dict(self._find_offers(text))
            self._offers = {} if self._is_complete(text, offers) else dict(islice(offers.items(), _MAX_OFFERS))
        term_match = _TERM_AT_END.search(text)
        typed = text[self._term_start :] if term_match is None else term_match["value"]
        rect = QRect(0, self._field.height() + 2, self._field.width() // 2, 1)
        self._list.offer([*self._offers], typed, rect)

    @Slot(str)
    def _on_chosen(self, text: str) -> None:
        result = self._offers[text]
        rest = self._field.text()[: self._term_start]
        if isinstance(result, str):
            self._field.setText(rest + result)
            self._on_edited()  # offers the values of the term
        else:
            self.completed.emit(result, rest.rstrip())

    def _is_complete(self, text: str, offers: Iterable[str]) -> bool:
        """Return whether an offer equals the typed value: then none is needed, and Down goes to the rows."""
        term_match = _TERM_AT_END.search(text)
        typed = "" if term_match is None else fold(term_match["value"]).strip()
        return bool(typed) and any(fold(offer) == typed for offer in offers)

    def _find_offers(self, text: str) -> Iterator[tuple[str, Term | str]]:
        """Yield each offered text with its term or prefix; sets `_term_start`, where it is inserted."""
        if (term_match := _TERM_AT_END.search(text)) is not None:
            self._term_start = term_match.start()
            for term in self._find_terms(term_match["prefix"].lower(), term_match["value"]):
                result: Term = Not(term) if term_match["not"] else term
                yield filter_text(result), result
        elif (word_match := _WORD_AT_END.search(text)) is not None:
            self._term_start = word_match.start("word")
            typed = word_match["word"].lower()
            yield from ((prefix, prefix) for prefix in PREFIXES if prefix.startswith(typed))

    def _find_terms(self, prefix: str, value: str) -> Iterator[Condition]:
        typed = fold(value).strip()
        match prefix:
            case "tag:":
                yield from [UNTAGGED] if "none".startswith(typed) else []
                yield from (HasTag.exactly(tag) for tag in _match_tags(self._tags, typed))
            case "from:":
                yield from (term for term in self._sources if typed in fold(filter_text(term)))
            case _:
                yield from (days for text, days in _make_day_terms().items() if text.startswith(typed))


def _match_tags(tags: Iterable[str], typed: str) -> list[str]:
    """Return the tags that contain the typed text; first the tags that begin with it."""
    matching = [tag for tag in tags if typed in fold(tag)]
    return sorted(matching, key=lambda tag: not fold(tag).startswith(typed))


def _make_day_terms() -> dict[str, AddedOn]:
    """Return the offered filters for days, by the text that a search has for them after “added:”."""
    today = datetime.now().astimezone().date()
    texts = ("today", "yesterday", "7d", "30d", f"{today:%Y-%m}", f"{today:%Y}")
    return {text: term for text in texts for term in parse_terms(f"added:{text}") if isinstance(term, AddedOn)}


class SearchField(SearchEdit):
    """The search field of the plants. During a long search it shows another icon."""

    #: Move to the rows.
    down_pressed = Signal()
    #: Backspace was pressed in the empty field.
    last_filter_unwanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, translate("SearchField", "Search by name, tag or ID"), max_length=_MAX_LENGTH)
        self._delay_timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._delay_timer.timeout.connect(partial(self._show_icon, "loader-circle"))

    @property
    def is_waiting(self) -> bool:
        """Whether the field shows its icon for a search that takes long."""
        return self.icon != SearchEdit.icon

    def set_searching(self, *, is_searching: bool) -> None:
        """Show that a search runs, if it takes long, or at once that none runs."""
        if not is_searching:
            self._delay_timer.stop()
            self._show_icon(SearchEdit.icon)
        elif not self.is_waiting and not self._delay_timer.isActive():
            self._delay_timer.start()

    def _show_icon(self, icon: str) -> None:
        self.icon = icon
        self.update()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        elif event.key() == Qt.Key.Key_Backspace and not self.text():
            self.last_filter_unwanted.emit()
        else:
            super().keyPressEvent(event)
