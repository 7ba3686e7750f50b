"""The options of commands by which plants are selected."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.errors import UnknownSourceError
from plantdesk.domain.records import SourceKind
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import AddedBy, HasTag, Selection

if TYPE_CHECKING:
    from plantdesk.domain.selections import Term
    from plantdesk.store import ReadOnlyStore, Store


class Filter(NamedTuple):
    """Which plants; None or False: any. `since` is in milliseconds since 1970, UTC."""

    text: str | None = None
    tag: str | None = None
    without_tag: bool = False
    source: str | None = None
    since: int | None = None


def selection_of(store: Store | ReadOnlyStore, wanted: Filter) -> Selection:
    """Return the set of plants that a filter selects. Raises UnknownSourceError, StoreError."""
    groups: list[tuple[Term, ...]] = [*parse_search(wanted.text or "").groups]
    if wanted.without_tag or wanted.tag is not None:
        groups.append((HasTag(wanted.tag, exact=True),))
    if wanted.source is not None:
        groups.append(_sources(store, wanted.source))
    return Selection(tuple(groups), wanted.since)


def _sources(store: Store | ReadOnlyStore, name: str) -> tuple[AddedBy, ...]:
    """Return the kind of source that `name` is, else those with this label, of tokens. Raises UnknownSourceError."""
    if name in set(SourceKind):
        return (AddedBy(SourceKind(name)),)
    with closing(store.reader()) as reader:
        kinds = {source.kind for source in reader.sources() if source.label == name}
    if not kinds:
        raise UnknownSourceError(name)
    return tuple(AddedBy(kind, name) for kind in sorted(kinds))
