"""What a table of plants shows and in which order, and how many plants there are."""

from __future__ import annotations

from collections.abc import Mapping
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

    @property
    def total(self) -> int:
        """The number of all plants."""
        return sum(self.tags.values())
