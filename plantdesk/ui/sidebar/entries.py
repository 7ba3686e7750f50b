"""The entries of the sidebar, made from counts and saved searches."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication

from plantdesk.selections import AddedBy, HasTag
from plantdesk.ui.filters import TODAY, UNTAGGED, filter_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plantdesk.selections import Term
    from plantdesk.store import Counts

translate = QCoreApplication.translate

#: The first entries, which are always there: all plants, today, without a tag.
FIXED_ENTRIES = 3


class Kind(Enum):
    """What an entry does when it is chosen."""

    HEADING = auto()
    EVERYTHING = auto()
    FILTER = auto()
    SEARCH = auto()


class SavedSearch(NamedTuple):
    """A search with a name."""

    name: str
    text: str


class Entry(NamedTuple):
    """A line of the sidebar; `plants` is their number, None while it is not known."""

    kind: Kind
    text: str
    plants: int | None = None
    term: Term | None = None
    search: SavedSearch | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies the entry when the counts change."""
        return self.kind, self.term or self.search or self.text

    @property
    def tag(self) -> str | None:
        """The tag of the entry, None for any other entry."""
        return self.term.tag if isinstance(self.term, HasTag) else None

    @property
    def takes_plants(self) -> bool:
        """Whether plants can be dropped on the entry: they get its tag, or none."""
        return isinstance(self.term, HasTag)

    @property
    def can_be_renamed(self) -> bool:
        """Whether the user may give the entry another name."""
        return self.tag is not None or self.search is not None


class Contents(NamedTuple):
    """The counts of a store, with the tags in their order."""

    counts: Counts
    tags: Sequence[str]


def entries_of(
    contents: Contents | None, searches: Iterable[SavedSearch], found: Mapping[str, int | None]
) -> list[Entry]:
    """Return the entries; `found` are the numbers of plants of the saved searches, by their text."""
    counts = None if contents is None else contents.counts
    entries = [
        Entry(Kind.EVERYTHING, translate("Sidebar", "All plants"), None if counts is None else counts.total),
        Entry(Kind.FILTER, filter_text(TODAY), None if counts is None else counts.today, TODAY),
        Entry(Kind.FILTER, filter_text(UNTAGGED), None if counts is None else counts.tags.get(None, 0), UNTAGGED),
    ]
    if contents is not None and contents.tags:
        entries.append(Entry(Kind.HEADING, translate("Sidebar", "Tags")))
        terms = (HasTag(tag, exact=True) for tag in contents.tags)
        entries += [Entry(Kind.FILTER, filter_text(term), contents.counts.tags[term.tag], term) for term in terms]
    sources = _sources(counts)
    if len(sources) > 1:
        entries.append(Entry(Kind.HEADING, translate("Sidebar", "From")))
        entries += sources
    saved = [Entry(Kind.SEARCH, each.name, found.get(each.text), search=each) for each in searches]
    return [*entries, Entry(Kind.HEADING, translate("Sidebar", "Saved searches")), *saved] if saved else entries


def _sources(counts: Counts | None) -> list[Entry]:
    """Return an entry for each source; tokens of one name, one after the other, are one."""
    found: dict[AddedBy, int] = {}
    for source, count in sorted(counts.sources.items() if counts is not None else ()):
        term = AddedBy(source.kind, source.label)
        found[term] = found.get(term, 0) + count
    return [Entry(Kind.FILTER, filter_text(term), count, term) for term, count in found.items()]
