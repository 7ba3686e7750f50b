"""The entries of the sidebar, made from counts and saved searches, and their model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QLocale,
    QModelIndex,
    QObject,
    Qt,
)
from typing_extensions import override

from plantdesk.domain.errors import Text
from plantdesk.domain.records import SourceKind
from plantdesk.domain.search import parse_terms
from plantdesk.domain.selections import AddedBy, HasTag
from plantdesk.domain.tags import is_in_branch, levels
from plantdesk.ui.filters import TODAY, UNTAGGED, filter_text, is_filter, tag_of
from plantdesk.ui.texts import one_line, shown, tag_text
from plantdesk.ui.widgets.plain_text import tool_tip

if TYPE_CHECKING:
    from plantdesk.domain.selections import Term
    from plantdesk.domain.views import Counts
    from plantdesk.ui.qt import Index


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
    """A line of the sidebar; `plants` is their number, None while it is not known.

    A tag is so many levels below another one (`depth`). `is_folded`: whether those below it are hidden, None where
    there are none; `own` is the number of its own plants then, `plants` that of the branch.
    """

    kind: Kind
    text: str
    plants: int | None = None
    term: Term | None = None
    search: SavedSearch | None = None
    depth: int = 0
    is_folded: bool | None = None
    own: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies the entry when the counts change."""
        return self.kind, self.term or self.search or self.text

    @property
    def tag(self) -> str | None:
        """The tag of the entry, None for any other entry."""
        return tag_of(self.term) if isinstance(self.term, HasTag) else None

    @property
    def is_branch(self) -> bool:
        """Whether there are tags below that of the entry."""
        return self.is_folded is not None

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


def in_order(tags: Iterable[str]) -> list[str]:
    """Return tags as a tree is read: each level sorted for people, below what it belongs to."""
    from plantdesk.domain.folding import natural_key

    return sorted(tags, key=lambda tag: [natural_key(part) for part in levels(tag)])


def tag_term(tag: str, *, is_branch: bool) -> HasTag:
    """Return the filter of a tag, or of the branch below it."""
    return HasTag(f"{tag}/", exact=True) if is_branch else HasTag.just(tag)


def _tag_entries(
    tags: Iterable[str], counts: Mapping[str | None, int] | None, folded: Collection[str]
) -> Iterator[SidebarEntry]:
    """Yield the tags as a tree, without what is below those that are `folded`; also tags that only others are below."""
    nodes: dict[str, tuple[int, str]] = {}
    sums: Counter[str] = Counter()
    branches = set()
    for tag in tags:
        path = ""
        for depth, part in enumerate(parts := levels(tag)):
            path = f"{path}/{part}" if depth else part
            nodes.setdefault(path, (depth, part))
            sums[path] += 0 if counts is None else counts.get(tag, 0)
            if depth < len(parts) - 1:
                branches.add(path)
    hidden_below: str | None = None
    for tag, (depth, part) in nodes.items():
        if hidden_below is not None and is_in_branch(tag, hidden_below):
            continue
        is_folded = tag in folded if tag in branches else None
        hidden_below = tag if is_folded else None
        plants, own = (None, None) if counts is None else (sums[tag], counts.get(tag, 0))
        term = tag_term(tag, is_branch=is_folded is not None)
        yield SidebarEntry(Kind.FILTER, tag_text(part), plants, term, depth=depth, is_folded=is_folded, own=own)


def entries_of(
    contents: Contents | None,
    known: Known,
    searches: Iterable[SavedSearch],
    found: Mapping[str, int | None],
    folded: Collection[str] = (),
) -> list[SidebarEntry]:
    """Return the entries; `found` are the numbers of plants of the saved searches, by their text.

    Those that are `known` are shown as long as there are no `contents`; of `folded` tags, those below are not shown.
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
        entries += _tag_entries(tags, counts and counts.tags, folded)
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


_MAX_SEARCHES = 200


def searches_from_json(value: object) -> list[SavedSearch]:
    """Return the searches in a JSON list; whatever is not valid in it is left out."""
    items = value if isinstance(value, list) else []
    found = [
        SavedSearch(item["name"], item["text"])
        for item in items
        if isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("text"), str)
    ]
    return list(dict.fromkeys(found))[:_MAX_SEARCHES]


def searches_as_json(searches: Iterable[SavedSearch]) -> list[dict[str, str]]:
    """Return a JSON list, as `searches_from_json` reads it."""
    return [search._asdict() for search in searches]


def named_search(text: str, searches: Iterable[SavedSearch]) -> SavedSearch:
    """Return a search with a name that none of `searches` has."""
    terms = parse_terms(text)
    name = ", ".join(filter_text(term) for term in sorted(terms, key=is_filter)) or text
    return SavedSearch(unused_name(name, searches), text)


def unused_name(name: str, searches: Iterable[SavedSearch]) -> str:
    """Return `name`, with a number if one of `searches` has it."""
    taken = {search.name for search in searches}
    names = (name, *(f"{name} {number}" for number in range(2, _MAX_SEARCHES + 2)))
    return next((each for each in names if each not in taken), name)


ENTRY_ROLE = Qt.ItemDataRole.UserRole
ACTIVE_ROLE = Qt.ItemDataRole.UserRole + 1
#: More changed entries than this are a reset.
_MAX_STEPS = 50


class SidebarModel(QAbstractListModel):
    """The entries, and which of them are active: those of the present search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[SidebarEntry] = []
        self._search = ""
        self._terms: frozenset[object] = frozenset()
        #: Whether plants can be given other tags.
        self.can_change_tags = True

    def can_rename(self, entry: SidebarEntry) -> bool:
        """Whether the user may give the entry another name now."""
        return entry.can_be_renamed and (entry.tag is None or self.can_change_tags)

    def entry(self, index: Index) -> SidebarEntry:
        """Return the entry at an index."""
        return self._entries[index.row()]

    def index_of(self, key: tuple[object, ...]) -> QModelIndex:
        """Return the index of the entry with this key, an invalid one where there is none."""
        row = next((row for row, entry in enumerate(self._entries) if entry.key == key), -1)
        return self.index(row, 0)

    def set_search(self, text: str) -> None:
        """Mark the entries of this search as active."""
        self._search, self._terms = text, frozenset(parse_terms(text))
        self._notify()

    def set_entries(self, entries: Sequence[SidebarEntry]) -> None:
        """Show other entries."""
        keys, old = {entry.key for entry in entries}, {entry.key for entry in self._entries}
        if len(keys ^ old) > _MAX_STEPS or not self._step_to(entries, keys):
            self.beginResetModel()
            self._entries = list(entries)
            self.endResetModel()
        self._notify()

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._entries)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        entry = self.entry(index) if index.isValid() else None
        if entry is None or entry.kind is Kind.HEADING:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        flags |= Qt.ItemFlag.ItemIsEditable if self.can_rename(entry) else Qt.ItemFlag.NoItemFlags
        if entry.tag is not None and self.can_change_tags:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        takes_plants = entry.takes_plants and self.can_change_tags
        return flags | (Qt.ItemFlag.ItemIsDropEnabled if takes_plants else Qt.ItemFlag.NoItemFlags)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self.entry(index)
        values: dict[int, Callable[[], Any]] = {
            Qt.ItemDataRole.DisplayRole: lambda: one_line(entry.text),
            Qt.ItemDataRole.ToolTipRole: lambda: _tool_tip(entry),
            Qt.ItemDataRole.AccessibleTextRole: lambda: self._spoken(entry),
            ENTRY_ROLE: lambda: entry,
            ACTIVE_ROLE: lambda: self._is_active(entry),
        }
        return values[role]() if role in values else None

    def _is_active(self, entry: SidebarEntry) -> bool:
        if entry.kind is Kind.EVERYTHING:
            return not self._search
        if entry.search is not None:
            return bool(self._terms) and frozenset(parse_terms(entry.search.text)) == self._terms
        return entry.term is not None and entry.term in self._terms

    def _spoken(self, entry: SidebarEntry) -> str:
        text = one_line(entry.text) if entry.tag is None else tag_text(entry.tag)
        if entry.plants is not None:
            plants = shown(Text("{count:,} plants", one="1 plant", count=entry.plants))
            text = self.tr("{name}, {plants}").format(name=text, plants=plants)
        if entry.is_folded:
            text = self.tr("{entry}, folded").format(entry=text)
        return self.tr("{entry}, shown").format(entry=text) if self._is_active(entry) else text

    def _step_to(self, entries: Sequence[SidebarEntry], keys: set[tuple[object, ...]]) -> bool:
        """Remove and insert entries one by one; False where some have changed their order."""
        for row in reversed(range(len(self._entries))):
            if self._entries[row].key not in keys:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._entries[row]
                self.endRemoveRows()
        for row, entry in enumerate(entries):
            if row >= len(self._entries) or self._entries[row].key != entry.key:
                self.beginInsertRows(QModelIndex(), row, row)
                self._entries.insert(row, entry)
                self.endInsertRows()
            self._entries[row] = entry
        return len(self._entries) == len(entries)

    def _notify(self) -> None:
        if self._entries:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._entries) - 1, 0))


def _tool_tip(entry: SidebarEntry) -> str:
    if entry.tag is None or not (entry.depth or entry.is_branch) or entry.plants is None:
        return tool_tip(entry.text if entry.search is None else f"{entry.text}: {entry.search.text}")
    if not entry.is_branch:
        plants = Text("{tag} · {count:,} plants", one="{tag} · 1 plant", count=entry.plants, tag=tag_text(entry.tag))
        return tool_tip(shown(plants))
    text = translate("Sidebar", "{tag} · {plants} with all below, {own} itself")
    number = QLocale().toString
    return tool_tip(text.format(tag=tag_text(entry.tag), plants=number(entry.plants), own=number(entry.own or 0)))


def count_text(entry: SidebarEntry) -> str:
    """Return the number of an entry's plants."""
    return "…" if entry.plants is None else QLocale().toString(entry.plants)
