"""The entries of the sidebar, made of counts, saved searches and the present search. It has no widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from PySide6.QtCore import QLocale

from plantdesk.domain.folding import natural_key
from plantdesk.domain.records import SourceKind
from plantdesk.domain.search import parse_terms
from plantdesk.domain.selections import AddedBy, Counts, HasTag, Term
from plantdesk.domain.tags import levels
from plantdesk.domain.texts import Text, plants_text
from plantdesk.ui.filters import TODAY, UNTAGGED, filter_text, is_filter, tag_of
from plantdesk.ui.texts import one_line, tag_text, translate, translated

#: The most tags, sources and searches that are saved.
_MAX_REMEMBERED = 200


class SavedSearch(NamedTuple):
    """A search that the user has saved under a name."""

    name: str
    text: str

    @classmethod
    def unnamed(cls, text: str, others: Iterable[SavedSearch]) -> SavedSearch:
        """Return a search with a name made of its terms, unlike those of the `others`."""
        terms = parse_terms(text)
        words = " ".join(filter_text(term) for term in terms if not is_filter(term))
        filters = [filter_text(term) for term in terms if is_filter(term)]
        return cls("", text).renamed(", ".join(filter(None, [words, *filters])) or text, others)

    @classmethod
    def from_json(cls, value: object) -> list[SavedSearch]:
        """Return the searches in a JSON list; invalid items are left out."""
        items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        pairs = [(item.get("name"), item.get("text")) for item in items]
        valid = (cls(name, text) for name, text in pairs if isinstance(name, str) and isinstance(text, str))
        return list(dict.fromkeys(valid))[:_MAX_REMEMBERED]

    def renamed(self, name: str, others: Iterable[SavedSearch]) -> SavedSearch:
        """Return the search with another name, and a number after it if one of the `others` has it."""
        taken = {other.name for other in others}
        names = (name, *(f"{name} {number}" for number in range(2, len(taken) + 2)))
        return self._replace(name=next(name for name in names if name not in taken))


class SidebarEntry(NamedTuple):
    """An entry of the sidebar: a filter with a term, a saved search, a heading, or “All plants”.

    `plants` is the number of plants, including those of `children` of a tag; None while it is unknown.
    `is_active`: the present search has the term of a filter, or equals the saved search.
    """

    text: str
    plants: int | None = None
    term: Term | None = None
    search: SavedSearch | None = None
    children: Sequence[SidebarEntry] = ()
    is_active: bool = False
    is_heading: bool = False

    @property
    def tag(self) -> str | None:
        """The tag of the entry; None for other filters, searches and headings."""
        return None if self.term is None else tag_of(self.term)

    @property
    def key(self) -> tuple[object, str]:
        """The identity of the entry; it does not depend on counts and children."""
        if self.tag is not None:
            return "tag", self.tag
        return (self.term, self.text) if self.search is None else ("search", self.search.name)

    @property
    def own_plants(self) -> int:
        """The number of plants with exactly this tag."""
        return (self.plants or 0) - sum(child.plants or 0 for child in self.children)

    @property
    def takes_plants(self) -> bool:
        """Whether plants can be dropped on the entry, to get its tag or to lose their tag."""
        return isinstance(self.term, HasTag)

    @property
    def count_text(self) -> str:
        """The number of plants, or “…” while it is unknown."""
        return "…" if self.plants is None else QLocale().toString(self.plants)

    @property
    def tool_tip(self) -> str:
        """The text of the tooltip: the terms of a search, or the whole tag and its numbers of plants."""
        if self.search is not None:
            return f"{self.text}: {self.search.text}"
        if self.tag is None or self.plants is None:
            return self.text
        tag = tag_text(self.tag)
        own = QLocale().toString(self.own_plants)
        if not self.children:
            return translated(Text("{tag} · {count:,} plants", one="{tag} · 1 plant", count=self.plants, tag=tag))
        text = translate("Sidebar", "{tag} · {plants} with all below, {own} itself")
        return text.format(tag=tag, plants=self.count_text, own=own)

    @property
    def removal_label(self) -> str:
        """The label of the command that removes the tag or the search."""
        if self.search is not None:
            return translate("Sidebar", "&Delete this search")
        return translated(Text("Re&move from {count:,} plants", one="Re&move from 1 plant", count=self.plants or 0))

    @property
    def accessible_text(self) -> str:
        """The text for screen readers: name, number of plants, and whether it is shown now."""
        text = one_line(self.text) if self.tag is None else tag_text(self.tag)
        if self.plants is not None:
            plants = translated(plants_text(self.plants))
            text = translate("Sidebar", "{name}, {plants}").format(name=text, plants=plants)
        return translate("Sidebar", "{entry}, shown").format(entry=text) if self.is_active else text


class Contents(NamedTuple):
    """The filters of a store with their numbers of plants; before the first count, the saved filters without numbers.

    `tags` are sorted. `shows_today`: some plants were not added today.
    """

    tags: Mapping[str, int | None]
    sources: Mapping[AddedBy, int | None]
    shows_today: bool = True
    counts: Counts | None = None

    @classmethod
    def of(cls, counts: Counts) -> Contents:
        """Return the filters that `counts` has; tokens with the same name become one source."""
        sources: dict[AddedBy, int | None] = {}
        for source, plants in sorted(counts.sources.items()):
            term = AddedBy(source.kind, source.label)
            sources[term] = (sources.get(term) or 0) + plants
        tags = {tag: counts.tags[tag] for tag in sort_tags(tag for tag in counts.tags if tag is not None)}
        return cls(tags, sources, counts.today != counts.total, counts)

    @classmethod
    def from_json(cls, value: object) -> Contents:
        """Return the contents that `to_json` returned; invalid items are left out."""
        values = value if isinstance(value, dict) else {}
        tags, sources = (item if isinstance(item, list) else [] for item in (values.get("tags"), values.get("sources")))
        pairs = [item for item in sources if isinstance(item, list) and len(item) == 2]  # noqa: PLR2004 - kind and label
        return cls(
            dict.fromkeys(tag for tag in tags if isinstance(tag, str)),
            dict.fromkeys(AddedBy(SourceKind(kind), str(label)) for kind, label in pairs if kind in [*SourceKind]),
            values.get("today") is not False,
        )

    def to_json(self) -> dict[str, object]:
        """Return the filters, without numbers, to be shown at the next start until they are counted."""
        sources = [[source.kind, source.label] for source in self.sources]
        tags = list(self.tags)[:_MAX_REMEMBERED]
        return {"tags": tags, "sources": sources[:_MAX_REMEMBERED], "today": self.shows_today}


def sort_tags(tags: Iterable[str]) -> list[str]:
    """Return tags in the order of a tree, with each level in natural order."""
    return sorted(tags, key=lambda tag: [natural_key(part) for part in levels(tag)])


def entries_of(
    contents: Contents,
    searches: Iterable[SavedSearch] = (),
    search_counts: Mapping[str, int] | None = None,
    search: str = "",
) -> list[SidebarEntry]:
    """Return the entries; `search_counts` are the numbers of plants by the text of a saved search.

    “Today” is left out if all plants were added today, unless the present `search` has it.
    """
    counts = contents.counts
    terms = frozenset(parse_terms(search))
    total, today, untagged = (None,) * 3 if counts is None else (counts.total, counts.today, counts.tags.get(None, 0))

    def entry_of(term: Term, plants: int | None) -> SidebarEntry:
        return SidebarEntry(filter_text(term), plants, term, is_active=term in terms)

    def saved_entry_of(saved: SavedSearch) -> SidebarEntry:
        is_active = bool(terms) and frozenset(parse_terms(saved.text)) == terms
        return SidebarEntry(saved.name, (search_counts or {}).get(saved.text), search=saved, is_active=is_active)

    today_entry = [entry_of(TODAY, today)] if contents.shows_today or TODAY in terms else []
    sources = contents.sources if len(contents.sources) > 1 else {}
    sections = {
        translate("Sidebar", "Tags"): _make_tag_tree(contents.tags, terms),
        translate("Sidebar", "From"): [entry_of(term, plants) for term, plants in sources.items()],
        translate("Sidebar", "Saved searches"): [saved_entry_of(search) for search in searches],
    }
    everything = SidebarEntry(translate("Sidebar", "All plants"), total, is_active=not search)
    entries = [everything, *today_entry, entry_of(UNTAGGED, untagged)]
    for heading, section in sections.items():
        entries += [SidebarEntry(heading, is_heading=True), *section] if section else []
    return entries


def _make_tag_tree(tags: Mapping[str, int | None], terms: AbstractSet[Term]) -> list[SidebarEntry]:
    """Return the entries of tags as a tree; a parent may be no tag of any plant."""
    tree: dict[str, Any] = {}
    for tag in tags:
        below = tree
        for part in levels(tag):
            below = below.setdefault(part, {})

    def entry_of(tag: str, name: str, below: Mapping[str, Any]) -> SidebarEntry:
        children = [entry_of(f"{tag}/{part}", part, deeper) for part, deeper in below.items()]
        numbers = [tags.get(tag, 0), *(child.plants for child in children)]
        plants = None if None in numbers else sum(filter(None, numbers))
        term = HasTag(f"{tag}/", is_exact=True) if children else HasTag.exactly(tag)
        return SidebarEntry(tag_text(name), plants, term, children=children, is_active=term in terms)

    return [entry_of(part, part, below) for part, below in tree.items()]
