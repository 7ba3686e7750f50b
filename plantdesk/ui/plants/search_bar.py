"""The row above the table: search field, filter chips, a button for new plants, and the count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QLocale, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QToolBar, QToolButton, QWidget
from typing_extensions import override

from plantdesk.domain.search import parse_terms, search_text
from plantdesk.domain.selections import Contains, Counts, Term
from plantdesk.domain.texts import Text, plants_text
from plantdesk.ui.filters import filter_icon, filter_text, is_filter, rename_in_filter, tag_of
from plantdesk.ui.plants.search_field import SearchCompleter, SearchField
from plantdesk.ui.qt import STRETCH, fill, mirrored
from plantdesk.ui.texts import quoted, translated
from plantdesk.ui.theme.colors import dot_color, hue_of
from plantdesk.ui.theme.metrics import EDGE, ICON, FontRole, M, S, with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.containers import SCROLL_BAR_WIDTH
from plantdesk.ui.widgets.painting import make_dot_icon
from plantdesk.ui.widgets.plain_text import PlainLabel, set_action_tip, set_tool_tip

#: For text of 13 px.
_MAX_CHIP_TEXT_WIDTH = 160
#: The width of the button for the filters that do not fit, and what it needs beside the room that Qt gives it.
_MORE_WIDTH = 24
_MORE_MARGIN = 16
#: Widths of the search field, for text of 13 px.
_MIN_FIELD_WIDTH = 150
_MAX_FIELD_WIDTH = 300
#: The stretch factor of the search field: it gets its room before the gap after it.
_FIELD_STRETCH = 100
#: Below these widths of the window the count is shorter.
_SHORT_COUNT_BELOW = 850
_SHORTEST_COUNT_BELOW = 700
#: The beginning of a term whose value is not typed yet.
_UNFINISHED_TERM = re.compile(r"(?:^|\s)-?(?:(?:tag|from|added|id|plantdesk):|tag=)\"?$", re.IGNORECASE)
_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class FilterChips(QToolBar):
    """The filters as a row of chips. A click or Delete removes one, Left and Right move between them."""

    #: (term) A chip was clicked or deleted.
    removed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._filters: tuple[Term, ...] = ()
        self._group = QButtonGroup(self)  # moves the focus by Left and Right
        self._group.setExclusive(False)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setAccessibleName(self.tr("Filters"))
        if (more_button := self.findChild(QToolButton, "qt_toolbar_ext_button")) is not None:  # if some do not fit
            more_button.setAccessibleName(self.tr("More filters"))
            more_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            more_button.setFixedWidth(_MORE_WIDTH)
            theme.icons.put_on(more_button, "chevron-down", "muted")
        self.setContentsMargins(*mirrored(self, 0, 0, _MORE_MARGIN, 0))
        theme.changed.connect(self._show_chips)

    def set_filters(self, filters: tuple[Term, ...]) -> None:
        """Show other filters; the focus stays at its index."""
        if filters != self._filters:
            self._filters = filters
            self._show_chips()

    @Slot()
    def _show_chips(self) -> None:
        """Make a chip for each filter; the focus stays at its index."""
        focused = self._focused_index()
        size = self._theme.metrics.scaled(ICON)
        self.setIconSize(QSize(size, size))
        for action in self.actions():
            self.removeAction(action)
            action.deleteLater()
        for term in self._filters:
            self._add_chip(term).triggered.connect(partial(self.removed.emit, term))
        self.setVisible(bool(self._filters))
        if focused is not None and self._filters:
            index = min(focused, len(self._filters) - 1)
            self.widgetForAction(self.actions()[index]).setFocus(Qt.FocusReason.TabFocusReason)

    def _add_chip(self, term: Term) -> QAction:
        """Add the chip of a filter, a button that removes it, and return its action."""
        text = filter_text(term)
        tag = tag_of(term)
        metrics = QFontMetrics(self._theme.metrics.font(FontRole.PILL))
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self._theme.metrics.scaled(_MAX_CHIP_TEXT_WIDTH))
        action = self.addAction(f"{elided}  ✕".replace("&", "&&"))
        button = self.widgetForAction(action)
        button.setProperty("variant", "chip")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        name = self.tr("Remove the filter {filter}").format(filter=text)
        button.setAccessibleName(name)
        button.setAccessibleDescription(name)
        set_action_tip(action, name)
        if isinstance(button, QToolButton):
            self._group.addButton(button)
        if tag is None:
            self._theme.icons.put_on(action, filter_icon(term))
        else:
            action.setIcon(make_dot_icon(dot_color(hue_of(tag), self._theme.colors)))
        button.ensurePolished()
        button.setMinimumWidth(button.sizeHint().width())  # else Qt would shorten its text to nothing
        return action

    def _focused_index(self) -> int | None:
        focused = (self.widgetForAction(action).hasFocus() for action in self.actions())
        return next((index for index, has_focus in enumerate(focused) if has_focus), None)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = self._focused_index()
        if focused is not None and event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.removed.emit(self._filters[focused])
        else:
            super().keyPressEvent(event)


class SearchBar(QWidget):
    """The search field with the filters as chips beside it. Both together form one search text."""

    #: (text) Another search is to be shown.
    changed = Signal(str)
    #: The Save button was clicked.
    save_requested = Signal()
    #: The button that replaces the collapsed sidebar was clicked.
    tags_requested = Signal()
    #: The button that counts new plants above the visible rows was clicked.
    top_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.filters: tuple[Term, ...] = ()
        #: The search text: the filters, then the typed text without an unfinished term.
        self.text = ""
        self._typed = ""
        self._count: tuple[int | None, int | None] | None = None, None
        #: The time of day of the count, or an empty text if the count is current.
        self.time = ""
        self._tags_button = QPushButton(self.tr("Tags"))
        self.field = SearchField(theme)
        self._chips = FilterChips(theme)
        self._save_button = QToolButton()
        self._new_plants_button = QPushButton()
        self._count_label = PlainLabel("…", tone="muted", alignment=_TRAILING)
        self._count_label.setFont(with_tabular_digits())
        self._set_up_buttons()
        self._lay_out()
        self.field.textChanged.connect(self._update_search_text)
        self.field.returnPressed.connect(self._make_chips)
        self.field.scanned.connect(self.clear)  # what is scanned replaces the search
        self.field.last_filter_unwanted.connect(lambda: self.set_filters(self.filters[:-1]))
        self._completer = SearchCompleter(self.field)
        self._completer.completed.connect(self._on_completed)
        self._chips.removed.connect(self._on_removed)
        self._save_button.clicked.connect(self.save_requested)
        self._tags_button.clicked.connect(self.tags_requested)
        self._new_plants_button.clicked.connect(self.top_requested)

    @Slot(str)
    def set_search(self, text: str) -> None:
        """Set the search: words go to the field, other terms become chips."""
        terms = parse_terms(text)
        self._show_search(filter(is_filter, terms), search_text(term for term in terms if not is_filter(term)))

    def _show_search(self, filters: Iterable[Term], text: str) -> None:
        self.filters = tuple(dict.fromkeys(filters))
        self.field.setText(text)
        self._update_search_text()

    def to_json(self) -> dict[str, str]:
        """Return the search, and its part in the field, as a JSON object."""
        return {"search": self.text, "typed": self._typed}

    def restore(self, values: Mapping[str, object]) -> None:
        """Set the search from `to_json`; invalid values are ignored."""
        search, typed = (str(values.get(name) or "") for name in self.to_json())
        if not typed or not search.endswith(typed):
            self.set_search(search)
            return
        self._show_search(filter(is_filter, parse_terms(search.removesuffix(typed))), typed)

    @Slot(object, bool)
    def choose(self, term: Term | None, add: bool) -> None:
        """Search only for `term` (None: show all), or with `add` add the filter, or remove it if it is there."""
        if term is None:
            self.clear()
        elif not add:
            self.set_search(search_text([term]))
        elif term in self.filters:
            self.set_filters([other for other in self.filters if other != term])
        else:
            self.set_filters((*self.filters, term))

    def set_filters(self, filters: Sequence[Term]) -> None:
        """Replace the filters; the typed text stays."""
        self.filters = tuple(dict.fromkeys(filters))
        self._update_search_text()

    @Slot(str, object)
    def replace_tag(self, old: str, new: str | None) -> None:
        """Update the filters after a tag was renamed, or removed (None)."""
        filters = [rename_in_filter(term, old, new) for term in self.filters]
        self.set_filters([term for term in filters if term is not None])

    def set_completions(self, counts: Counts) -> None:
        """Offer the counted tags and sources as completions."""
        self._completer.set_completions(counts)

    def no_match_reason(self) -> str:
        """Return a sentence about why no plant matches."""
        terms = parse_terms(self.text)
        days = [term.text for term in terms if isinstance(term, Contains) and term.text.startswith("added:")]
        if days:
            text = self.tr("{day} is not a day. Write added:today, added:7d, added:2026-11 or added:2026-11-21.")
            return text.format(day=quoted(days[0].removeprefix("added:")))
        if len(terms) == 1 and is_filter(terms[0]):
            return self.tr("No plant matches {text}.").format(text=quoted(filter_text(terms[0])))
        if any(map(is_filter, terms)):
            return self.tr("No plant has all of this. Remove a filter, or search for something else.")
        return self.tr("Nothing contains {text}.").format(text=quoted(self.text))

    @Slot()
    def clear(self) -> bool:
        """Remove text and filters; return whether there was any."""
        had_search = bool(self.field.text() or self.filters)
        self.set_search("")
        return had_search

    def set_tags_button(self, *, visible: bool) -> None:
        """Show or hide the button that replaces the collapsed sidebar."""
        self._tags_button.setVisible(visible)

    @Slot(int)
    def set_new_plants(self, count: int) -> None:
        """Show the number of new plants above the visible rows, if there are any."""
        self._new_plants_button.setText(translated(Text("{count:,} new plants", one="1 new plant", count=count)))
        self._new_plants_button.setVisible(count > 0)

    def set_count(self, found: int | None, total: int | None) -> None:
        """Show the number of found plants and of all plants; None if not known yet."""
        self._count = found, total
        self._show_count()

    def set_count_time(self, time: str) -> None:
        """Show the time of day of the count; empty if the count is current."""
        self.time = time
        self._show_count()

    def clear_count(self) -> None:
        """Show no count, as no store is open."""
        self._count = None
        self._show_count()

    def count_text(self) -> str:
        """Return the shown count in words, with the time if it is not current; empty without a store."""
        if self._count is None:
            return ""
        text = self._found_count_text(*self._count)
        return self.tr("{count}, as of {time}").format(count=text, time=self.time) if self.time else text

    def _found_count_text(self, found: int | None, total: int | None) -> str:
        number = "…" if found is None else QLocale().toString(found)
        if self.text and total is None:
            return self.tr("{shown} of … plants").format(shown=number)
        if self.text:
            return translated(
                Text("{shown} of {count:,} plants", one="{shown} of 1 plant", count=total or 0, shown=number)
            )
        if not found:
            return "…" if found is None else self.tr("No plants")
        return translated(plants_text(found))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_count()

    @Slot()
    def _update_search_text(self) -> None:
        """Join filters and typed text to `text`; emit `changed` if the search is another one."""
        self._chips.set_filters(self.filters)
        self._typed = _UNFINISHED_TERM.sub("", self.field.text()).strip()
        previous_text = self.text
        self.text = " ".join(filter(None, (search_text(self.filters), self._typed)))
        self._save_button.setVisible(bool(self.text))
        if self.text != previous_text:
            self.changed.emit(self.text)

    def _show_count(self) -> None:
        text = self.count_text()
        scaled = self._theme.metrics.scaled
        width = self.window().width()
        if self._count is not None and self.text and width < scaled(_SHORT_COUNT_BELOW):
            found, total = ("…" if count is None else QLocale().toString(count) for count in self._count)
            text = found
            if width >= scaled(_SHORTEST_COUNT_BELOW):
                text = self.tr("{shown} of {total}").format(shown=found, total=total)
        self._count_label.setText(text)
        self._count_label.setAccessibleDescription(self.count_text())
        self._layout.activate()  # or the longer text would be cut in the next frame

    def _set_up_buttons(self) -> None:
        icons = self._theme.icons
        icons.put_on(self._tags_button, "panel-left")
        self._tags_button.hide()
        set_tool_tip(self._tags_button, self.tr("Show tags and other filters (Ctrl+B)"))
        icons.put_on(self._save_button, "bookmark", "muted", ICON)
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
        search = (self._tags_button, (self.field, _FIELD_STRETCH), self._chips, self._save_button)
        margins = mirrored(self, EDGE, M, M + SCROLL_BAR_WIDTH, S - 2)
        self._layout = fill(
            QHBoxLayout(self), *search, STRETCH, self._new_plants_button, self._count_label, margins=margins, spacing=S
        )
        self._chips.hide()
        self._theme.changed.connect(self._fit_field)
        self._fit_field()

    @Slot()
    def _fit_field(self) -> None:
        scaled = self._theme.metrics.scaled
        self.field.setMinimumWidth(scaled(_MIN_FIELD_WIDTH))
        self.field.setMaximumWidth(scaled(_MAX_FIELD_WIDTH))

    @Slot(object, str)
    def _on_completed(self, term: Term, rest: str) -> None:
        self._show_search((*self.filters, term), rest)

    @Slot()
    def _make_chips(self) -> None:
        if self._completer.is_choosing:
            return
        if any(map(is_filter, parse_terms(self.field.text()))):
            self.set_search(f"{search_text(self.filters)} {self.field.text()}")

    @Slot(object)
    def _on_removed(self, term: Term) -> None:
        if len(self.filters) == 1:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.set_filters([other for other in self.filters if other != term])
