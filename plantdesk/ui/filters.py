"""Filters: the terms of a search that sidebar and chips show, with their text and icon."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import QDate, QLocale

from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.search import search_text
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasTag, Not, Term
from plantdesk.domain.tags import renamed_with_branch
from plantdesk.domain.texts import Text
from plantdesk.ui.texts import one_line, source_text, tag_text, translate, translated

TODAY = AddedOn(0, 0)
UNTAGGED = HasTag(None)

_SOURCE_ICONS = {
    SourceKind.FORM: "pencil",
    SourceKind.COMMAND: "chevron-right",
    SourceKind.IMPORT: "file-down",
    SourceKind.TOKEN: "key-round",
    SourceKind.ASSISTANT: "terminal",
    SourceKind.OTHER: "circle",
}


def is_filter(term: Term) -> bool:
    """Return whether a term is a filter; words and phrases are not, and stay in the search field."""
    return not isinstance(term.term if isinstance(term, Not) else term, Contains)


def filter_text(term: Term) -> str:
    """Return the translated text of a filter, such as “not kitchen” or “Last 7 days”."""
    match term:
        case Not():
            return translate("Filters", "not {filter}").format(filter=filter_text(term.term))
        case HasTag(str(tag)) if term.branch is not None:
            return translate("Filters", "{tag} and below").format(tag=tag_text(tag[:-1]))
        case HasTag(tag):
            return translate("Filters", "No tag") if tag is None else tag_text(tag)
        case AddedBy(kind, label):
            return source_text(Source(0, kind or SourceKind.TOKEN, label or ""))
        case AddedOn(first, last):
            return _days_text(first, last) or search_text([term]).partition(":")[2]
    return one_line(search_text([term]))


def filter_icon(term: Term) -> str:
    """Return the name of a filter's icon; empty for a tag, which has a coloured dot instead."""
    term = term.term if isinstance(term, Not) else term
    match term:
        case HasTag(tag):
            return "tag" if tag is None else ""
        case AddedBy(kind):
            return _SOURCE_ICONS[kind or SourceKind.TOKEN]
        case AddedOn():
            return "calendar-days"
    return "search"


def tag_of(term: Term) -> str | None:
    """Return the tag of a filter, for a filter of a branch its top tag; None for other filters."""
    term = term.term if isinstance(term, Not) else term
    if not isinstance(term, HasTag) or term.tag is None:
        return None
    return term.tag if term.branch is None else term.tag[:-1]


def rename_in_filter(term: Term, old: str, new: str | None) -> Term | None:
    """Return a filter after the tag `old` was renamed to `new`; None if the tag of the filter was removed."""
    if not isinstance(term, HasTag) or term.tag is None:
        return term
    tag = renamed_with_branch(term.tag, old, new)
    return None if tag is None else HasTag(tag, term.is_exact)


def _days_text(first: date | int, last: date | int) -> str:
    if (first, last) == (0, 0):
        return translate("Filters", "Today")
    if (first, last) == (1, 1):
        return translate("Filters", "Yesterday")
    if isinstance(first, int):
        return translated(Text("Last {count:,} days", one="Last day", count=first + 1))
    if first != last:
        return ""
    return QLocale().toString(QDate(first.year, first.month, first.day), QLocale.FormatType.ShortFormat)
