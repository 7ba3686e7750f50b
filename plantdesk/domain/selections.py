"""Conditions by which a search, view, export or edit selects plants, and the orders of a view; independent of SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

from plantdesk.domain.folding import fold
from plantdesk.domain.records import Source, SourceKind


@dataclass(frozen=True)
class Contains:
    """Name or tag contains a text, regardless of case, accents and confusables (`folding`).

    With `is_word`, the id may also begin with it. With `in_note`, the note contains it instead; an empty text matches
    any note.
    """

    text: str
    is_word: bool = True
    in_note: bool = False


@dataclass(frozen=True)
class HasTag:
    """The plant has this tag; with None, it has no tag. Unless `is_exact`, both tags are folded (`folding`).

    A tag that ends with a slash selects a branch: “garden/” selects “garden” and all tags that begin with “garden/”.
    """

    tag: str | None
    is_exact: bool = False

    @classmethod
    def exactly(cls, tag: str) -> HasTag:
        """Return the condition for exactly this tag, also if it ends with a slash."""
        return cls(f"{tag}/" if tag.endswith("/") else tag, is_exact=True)

    @property
    def branch(self) -> str | None:
        """The top tag of the branch, folded unless `is_exact`; None if the tag is no branch."""
        if self.tag is None:
            return None
        text = self.tag if self.is_exact else fold(self.tag)
        return text[:-1] if text.endswith("/") and text[:-1].strip() else None


@dataclass(frozen=True)
class AddedBy:
    """The plant's source has this kind, this label, or both. Without a kind, the labels are compared folded."""

    kind: SourceKind | None = None
    label: str | None = None


@dataclass(frozen=True)
class AddedOn:
    """The plant was added on a day from `first` to `last`: dates, or numbers of days before today.

    Days are in the local time zone, from midnight to midnight, even if a clock change makes them shorter.
    """

    first: date | int
    last: date | int

    @property
    def is_relative(self) -> bool:
        """Whether the days are relative to today."""
        return isinstance(self.first, int)

    def milliseconds(self) -> range:
        """Return the times of the days, in milliseconds since 1970, UTC."""
        return range(_midnight_ms(_resolve_day(self.first)), _midnight_ms(_resolve_day(self.last) + timedelta(days=1)))


@dataclass(frozen=True)
class HasId:
    """The id is in a range, ends included."""

    first: int
    last: int


Condition = Contains | HasTag | AddedBy | AddedOn | HasId


@dataclass(frozen=True)
class Not:
    """The plant does not match the condition `term`."""

    term: Condition


Term = Condition | Not


class Selection(NamedTuple):
    """A set of plants.

    A plant belongs to it if it matches at least one term of every group; without groups, every plant does.

    `since` selects by the time of adding, in milliseconds since 1970, UTC; `ids` by the ids; these need not exist.
    """

    groups: tuple[tuple[Term, ...], ...] = ()
    since: int | None = None
    ids: Sequence[int] | None = None

    @classmethod
    def of(cls, *terms: Term) -> Selection:
        """Return the plants that match `terms`: every `Contains` and `Not`, and one term of each other kind."""
        groups: dict[object, list[Term]] = {}
        for term in dict.fromkeys(terms):
            groups.setdefault(term if isinstance(term, (Contains, Not)) else type(term), []).append(term)
        return cls(tuple(map(tuple, groups.values())))

    def among(self, ids: set[int]) -> Selection:
        """Return the plants of the set whose ids are in `ids`."""
        return self._replace(ids=sorted(ids if self.ids is None else ids.intersection(self.ids)))

    @property
    def is_everything(self) -> bool:
        """Whether there is no condition, so that all plants are selected."""
        return self == Selection()

    @property
    def depends_on_today(self) -> bool:
        """Whether the set changes at midnight."""
        conditions = [term.term if isinstance(term, Not) else term for group in self.groups for term in group]
        return any(isinstance(condition, AddedOn) and condition.is_relative for condition in conditions)


def _resolve_day(day: date | int) -> date:
    return datetime.now().date() - timedelta(days=day) if isinstance(day, int) else day  # noqa: DTZ005  the local day


def _midnight_ms(day: date) -> int:
    """Return the timestamp of the local midnight that begins a day, or of the clock change that skips it."""
    return round(datetime.combine(day, time()).timestamp() * 1000)


class Order(StrEnum):
    """The sort key of a view."""

    ADDED = "added"
    ID = "id"
    NAME = "name"
    TAG = "tag"
    SOURCE = "source"


class KnownName(NamedTuple):
    """A name that plants have, the tag of the newest of these plants, and their number."""

    name: str
    tag: str | None
    plants: int


class View(NamedTuple):
    """A set of plants in an order."""

    plants: Selection = Selection()
    order: Order = Order.ADDED
    descending: bool = True


class Counts(NamedTuple):
    """Numbers of plants by tag (None: without one) and by source, and of those added today, in one snapshot."""

    tags: Mapping[str | None, int]
    sources: Mapping[Source, int]
    today: int

    @property
    def total(self) -> int:
        """The number of all plants."""
        return sum(self.tags.values())
