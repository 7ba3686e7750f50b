"""Views: what a table of plants shows, and in which order."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from plantdesk.domain.selections import Selection


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
