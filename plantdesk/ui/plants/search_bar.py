"""The row above the table: search field, filters, new plants and count. Its field and filters are one search text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from plantdesk.domain.errors import Text
from plantdesk.domain.search import parse_terms, search_text
from plantdesk.domain.selections import AddedBy, Contains, HasTag
from plantdesk.ui.filters import is_filter
from plantdesk.ui.plants.filter_chips import FilterChips
from plantdesk.ui.plants.search_field import SearchCompleter, SearchField
from plantdesk.ui.qt import mirrored, override
from plantdesk.ui.texts import quoted, shown
from plantdesk.ui.theme.metrics import EDGE, ICON, M, S, tabular
from plantdesk.ui.widgets.plain_text import PlainLabel, set_tool_tip
from plantdesk.ui.widgets.scroll_area import WIDTH as _SCROLL_BAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from plantdesk.domain.selections import Term
    from plantdesk.domain.views import Counts
    from plantdesk.ui.theme.theme import Theme

#: Widths for text of 13 px: of the search field in a wide window and at least, and of the window.
_SEARCH, _MIN_SEARCH, _WIDE = 300, 150, 900
#: Below these widths of the window the count is shorter.
_SHORT, _SHORTEST = 850, 700
#: The beginning of a term whose value is not yet typed.
_UNFINISHED = re.compile(r"(?:^|\s)-?(?:(?:tag|from|added|id):|tag=)\"?$", re.IGNORECASE)


class SearchBar(QWidget):
    """Search field and filters.

    `changed(text)`: the search is another one. `save_requested`: the user wants to keep the search. `tags_requested`:
    the button that stands for the collapsed sidebar. `top_requested`: the button that reports new plants above the
    visible rows.
    """

    changed = Signal(str)
    save_requested = Signal()
    tags_requested = Signal()
    top_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._filters: tuple[Term, ...] = ()
        self._text = ""
        self._is_setting = False
        self._count: tuple[int | None, int | None] | None = None, None
        self._tags_button = QPushButton(self.tr("Tags"))
        self._field = SearchField(theme)
        self._chips = FilterChips(theme)
        self._save_button = QToolButton()
        self._new_plants_button = QPushButton()
        self._count_label = PlainLabel("…", tone="muted", alignment=_TRAILING)
        self._count_label.setFont(tabular())
        self._set_up_buttons()
        self._lay_out()
        self._field.textChanged.connect(self._on_text_changed)
        self._field.returnPressed.connect(self._on_return)
        self._field.last_filter_unwanted.connect(self._on_last_unwanted)
        self._completer = SearchCompleter(self._field)
        self._completer.completed.connect(self._on_completed)
        self._chips.removed.connect(self._on_removed)
        self._save_button.clicked.connect(self.save_requested)
        self._tags_button.clicked.connect(self.tags_requested)
        self._new_plants_button.clicked.connect(self.top_requested)

    @property
    def field(self) -> SearchField:
        """The field that searches while the user types."""
        return self._field

    @property
    def text(self) -> str:
        """The whole search: the filters, then what is typed, without a term that is only begun."""
        return self._text

    @property
    def filters(self) -> tuple[Term, ...]:
        """The filters that are shown as chips."""
        return self._filters

    def set_search(self, text: str) -> None:
        """Show another search: its words in the field, its other terms as chips."""
        terms = parse_terms(text)
        self._filters = tuple(dict.fromkeys(filter(is_filter, terms)))
        self._set_text(search_text(term for term in terms if not is_filter(term)))

    def choose(self, term: Term | None, *, add: bool) -> None:
        """Search for `term` alone, or `add` it to the filters; it is removed if it is there. None: show all plants."""
        if term is None:
            self.clear()
        elif not add:
            self.set_search(search_text([term]))
        elif term in self._filters:
            self.set_filters([each for each in self._filters if each != term])
        else:
            self.set_filters((*self._filters, term))

    def set_filters(self, filters: Sequence[Term]) -> None:
        """Show other filters; what is typed stays."""
        self._filters = tuple(dict.fromkeys(filters))
        self._update()

    def set_counts(self, counts: Counts) -> None:
        """Offer the tags and sources of these plants as completions."""
        self._completer.set_counts(counts)

    def why_nothing(self) -> str:
        """Return why no plant matches, as far as a single term says it."""
        terms = parse_terms(self._text)
        for term in terms:
            match term:
                case HasTag(str(tag)) if not self._completer.knows(term):
                    return self.tr("No plant has the tag {tag}.").format(tag=quoted(tag))
                case AddedBy(_, str(label)) if not self._completer.knows(term):
                    return self.tr("No plant comes from {source}.").format(source=quoted(label))
                case Contains(str(text)) if text.startswith("added:"):
                    day = quoted(text.removeprefix("added:"))
                    hint = self.tr(
                        "{day} is not a day. Write added:today, added:7d, added:2026-11 or added:2026-11-21."
                    )
                    return hint.format(day=day)
        if any(map(is_filter, terms)):
            return self.tr("No plant has all of this. Remove a filter, or search for something else.")
        return self.tr("Nothing contains {text}.").format(text=quoted(self._text))

    def clear(self) -> bool:
        """Show all plants; False where they are shown already."""
        had_search = bool(self._field.text() or self._filters)
        self.set_search("")
        return had_search

    def set_tags_button(self, *, visible: bool) -> None:
        """Show the button that stands for the collapsed sidebar, or not."""
        self._tags_button.setVisible(visible)
        self._fit()

    @Slot(int)
    def set_new_plants(self, count: int) -> None:
        """Show how many new plants are above the visible rows, if any; nothing in the table moves."""
        self._new_plants_button.setText(shown(Text("{count:,} new plants", one="1 new plant", count=count)))
        self._new_plants_button.setVisible(count > 0)
        self._fit()

    def set_count(self, shown: int | None, total: int | None) -> None:
        """Show how many plants are found, of how many; None: not yet known."""
        self._count = shown, total
        self._show_count()

    def clear_count(self) -> None:
        """Show no count: there is no store."""
        self._count = None
        self._show_count()

    def count_text(self) -> str:
        """Return the count as a sentence."""
        if self._count is None:
            return ""
        found, total = self._count
        number = "…" if found is None else QLocale().toString(found)
        if self._text and total is None:
            return self.tr("{shown} of … plants").format(shown=number)
        if self._text:
            return shown(Text("{shown} of {count:,} plants", one="{shown} of 1 plant", count=total or 0, shown=number))
        if not found:
            return "…" if found is None else self.tr("No plants")
        return shown(Text("{count:,} plants", one="1 plant", count=found))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_count()

    def _set_text(self, text: str) -> None:
        """Set the text of the field together with the filters, so that the search changes once."""
        self._is_setting = True
        self._field.setText(text)
        self._is_setting = False
        self._update()

    def _update(self) -> None:
        self._chips.set_filters(self._filters)
        typed = _UNFINISHED.sub("", self._field.text()).strip()
        before, self._text = self._text, " ".join(filter(None, (search_text(self._filters), typed)))
        self._save_button.setVisible(bool(self._text))
        self._fit()
        if self._text != before:
            self.changed.emit(self._text)

    def _show_count(self) -> None:
        text, scaled, width = self.count_text(), self._theme.metrics.scaled, self.window().width()
        if self._count is not None and self._text and width < scaled(_SHORT):
            shown, total = ("…" if each is None else QLocale().toString(each) for each in self._count)
            text = (
                shown if width < scaled(_SHORTEST) else self.tr("{shown} of {total}").format(shown=shown, total=total)
            )
        self._count_label.setText(text)
        self._count_label.setAccessibleDescription(self.count_text())
        self._fit()

    def _fit(self) -> None:
        """Give the field its width, and the chips what is left."""
        scaled = self._theme.metrics.scaled
        is_wide = self.window().width() >= scaled(_WIDE)
        margins = self._layout.contentsMargins()
        room = self.width() - margins.left() - margins.right() - self._count_label.sizeHint().width() - 2 * S
        for button in (self._tags_button, self._save_button, self._new_plants_button):
            room -= 0 if button.isHidden() else button.sizeHint().width() + S
        self._chips.set_room(room - scaled(_SEARCH if is_wide and room > scaled(2 * _SEARCH) else _MIN_SEARCH))
        chips = self._chips.sizeHint().width() + S if self._filters else 0
        self._field.setFixedWidth(max(scaled(_MIN_SEARCH), min(room - chips, scaled(_SEARCH) if is_wide else room)))

    def _set_up_buttons(self) -> None:
        icons = self._theme.icons
        icons.put_on(self._tags_button, "panel-left")
        self._tags_button.hide()
        set_tool_tip(self._tags_button, self.tr("Show tags and other filters (Ctrl+B)"))
        icons.put_on(self._save_button, "bookmark", "text_2", ICON)
        self._save_button.setAccessibleName(self.tr("Save this search"))
        set_tool_tip(self._save_button, self.tr("Save this search"))
        self._save_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._save_button.hide()
        icons.put_on(self._new_plants_button, "arrow-up", "on_accent")
        self._new_plants_button.setProperty("variant", "pill")
        self._new_plants_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_tool_tip(self._new_plants_button, self.tr("Show the new plants (Ctrl+Home)"))
        self._new_plants_button.hide()

    def _lay_out(self) -> None:
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(*mirrored(self, EDGE, M, M + _SCROLL_BAR, S - 2))
        self._layout.setSpacing(S)
        for widget in (self._tags_button, self._field, self._chips, self._save_button):
            self._layout.addWidget(widget)
        self._layout.addStretch()
        self._layout.addWidget(self._new_plants_button)
        self._layout.addWidget(self._count_label)
        self._chips.hide()

    @Slot()
    def _on_text_changed(self) -> None:
        if not self._is_setting:
            self._update()

    @Slot(object, str)
    def _on_completed(self, term: Term, rest: str) -> None:
        self._filters = tuple(dict.fromkeys((*self._filters, term)))
        self._set_text(rest)

    @Slot()
    def _on_return(self) -> None:
        """Make chips of the terms that were typed; those that no plant can match stay in the field."""
        if self._completer.is_choosing:
            return
        terms = parse_terms(self._field.text())
        completed = {term: self._completer.completed_term(term) for term in terms if is_filter(term)}
        found = [term for term in completed.values() if term is not None]
        if found:
            self._filters = tuple(dict.fromkeys((*self._filters, *found)))
            self._set_text(search_text(term for term in terms if completed.get(term) is None))

    @Slot(int)
    def _on_removed(self, position: int) -> None:
        left = [each for at, each in enumerate(self._filters) if at != position]
        if not left:
            self._field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.set_filters(left)

    @Slot()
    def _on_last_unwanted(self) -> None:
        self.set_filters(self._filters[:-1])


_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
