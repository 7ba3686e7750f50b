"""What a table of plants shows and in which order, and how many plants there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.domain.selections import Selection

if TYPE_CHECKING:
    from plantdesk.domain.records import Source


class Order(StrEnum):
    """The sort key of a view."""

    ADDED = "added"
    ID = "id"
    NAME = "name"
    TAG = "tag"
    SOURCE = "source"


class KnownName(NamedTuple):
    """A name that plants have: the tag of the newest of them, and their number."""

    name: str
    tag: str | None
    plants: int


class View(NamedTuple):
    """A set of plants in an order."""

    plants: Selection = Selection()
    order: Order = Order.ADDED
    descending: bool = True


class Counts(NamedTuple):
    """Numbers of plants, in one snapshot. The tag None is for those without one; `today` are those added today."""

    tags: Mapping[str | None, int]
    sources: Mapping[Source, int]
    today: int
    #: The state of the store that was counted; only the store knows what it means.
    position: object = None

    @property
    def total(self) -> int:
        """The number of all plants."""
        return sum(self.tags.values())

    def plus(self, steps: Iterable[tuple[str | None, Source, int, int]], position: object) -> Counts:
        """Return the counts at a position, after numbers of a tag and source were added: in all, and of today."""
        tags, sources, today = Counter(self.tags), Counter(self.sources), self.today
        for tag, source, step, step_today in steps:
            tags[tag] += step
            sources[source] += step
            today += step_today
        return Counts(dict(+tags), dict(+sources), today, position)
