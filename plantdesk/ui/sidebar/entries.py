"""The entries of the sidebar, made from counts and saved searches."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication

from plantdesk.domain.records import SourceKind
from plantdesk.domain.selections import AddedBy, HasTag
from plantdesk.ui.filters import TODAY, UNTAGGED, filter_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plantdesk.domain.selections import Term
    from plantdesk.domain.views import Counts

translate = QCoreApplication.translate

#: The first entries, which are always there: all plants, today, without a tag.
FIXED_ENTRIES = 3

#: Tags and sources that are remembered.
_MAX_KNOWN = 200


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


class SidebarEntry(NamedTuple):
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


class Known(NamedTuple):
    """The filters of a store that are shown before it is counted: those of its tags and of its sources."""

    tags: Sequence[str] = ()
    sources: Sequence[AddedBy] = ()


def known_of(contents: Contents) -> dict[str, object]:
    """Return tags and sources to be remembered as JSON, as `known_from_json` reads them; not of thousands."""
    sources = list(_sources(contents.counts))
    return {
        "tags": contents.tags[:_MAX_KNOWN],
        "sources": [[each.kind, each.label] for each in sources[:_MAX_KNOWN]],
    }


def known_from_json(value: object) -> Known:
    """Return what is remembered; whatever is not valid in it is left out."""
    values = value if isinstance(value, dict) else {}
    tags, sources = (each if isinstance(each, list) else [] for each in (values.get("tags"), values.get("sources")))
    kinds = {kind.value for kind in SourceKind}
    pairs = [each for each in sources if isinstance(each, list) and len(each) == 2]  # noqa: PLR2004 - kind and label
    return Known(
        [tag for tag in tags if isinstance(tag, str)],
        [AddedBy(SourceKind(kind), str(label)) for kind, label in pairs if kind in kinds],
    )


def entries_of(
    contents: Contents | None, known: Known, searches: Iterable[SavedSearch], found: Mapping[str, int | None]
) -> list[SidebarEntry]:
    """Return the entries; `found` are the numbers of plants of the saved searches, by their text.

    Those that are `known` are shown as long as there are no `contents`.
    """
    counts = None if contents is None else contents.counts
    entries = [
        SidebarEntry(Kind.EVERYTHING, translate("Sidebar", "All plants"), None if counts is None else counts.total),
        SidebarEntry(Kind.FILTER, filter_text(TODAY), None if counts is None else counts.today, TODAY),
        SidebarEntry(
            Kind.FILTER, filter_text(UNTAGGED), None if counts is None else counts.tags.get(None, 0), UNTAGGED
        ),
    ]
    tags = known.tags if contents is None else contents.tags
    if tags:
        entries.append(SidebarEntry(Kind.HEADING, translate("Sidebar", "Tags")))
        terms = (HasTag(tag, exact=True) for tag in tags)
        entries += [
            SidebarEntry(Kind.FILTER, filter_text(term), counts and counts.tags[term.tag], term) for term in terms
        ]
    sources = dict.fromkeys(known.sources) if counts is None else _sources(counts)
    if len(sources) > 1:
        entries.append(SidebarEntry(Kind.HEADING, translate("Sidebar", "From")))
        entries += [SidebarEntry(Kind.FILTER, filter_text(term), count, term) for term, count in sources.items()]
    saved = [SidebarEntry(Kind.SEARCH, each.name, found.get(each.text), search=each) for each in searches]
    return [*entries, SidebarEntry(Kind.HEADING, translate("Sidebar", "Saved searches")), *saved] if saved else entries


def _sources(counts: Counts) -> dict[AddedBy, int | None]:
    """Return the number of plants of each source; tokens of one name, one after the other, are one."""
    found: dict[AddedBy, int | None] = {}
    for source, count in sorted(counts.sources.items()):
        term = AddedBy(source.kind, source.label)
        found[term] = (found.get(term) or 0) + count
    return found
