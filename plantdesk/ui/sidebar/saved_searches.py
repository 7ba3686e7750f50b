"""The searches that the user has saved for a store, kept in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.domain.search import parse_terms
from plantdesk.ui.filters import filter_text, is_filter
from plantdesk.ui.sidebar.entries import SavedSearch

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_SEARCHES = 200


def from_json(value: object) -> list[SavedSearch]:
    """Return the searches in a JSON list; whatever is not valid in it is left out."""
    items = value if isinstance(value, list) else []
    found = [
        SavedSearch(item["name"], item["text"])
        for item in items
        if isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("text"), str)
    ]
    return list(dict.fromkeys(found))[:_MAX_SEARCHES]


def as_json(searches: Iterable[SavedSearch]) -> list[dict[str, str]]:
    """Return a JSON list, as `from_json` reads it."""
    return [search._asdict() for search in searches]


def named(text: str, searches: Iterable[SavedSearch]) -> SavedSearch:
    """Return a search with a name that none of `searches` has."""
    terms = parse_terms(text)
    name = ", ".join(filter_text(term) for term in sorted(terms, key=is_filter)) or text
    return SavedSearch(unused(name, searches), text)


def unused(name: str, searches: Iterable[SavedSearch]) -> str:
    """Return `name`, with a number if one of `searches` has it."""
    taken = {search.name for search in searches}
    names = (name, *(f"{name} {number}" for number in range(2, _MAX_SEARCHES + 2)))
    return next((each for each in names if each not in taken), name)
