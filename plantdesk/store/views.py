"""Views: what a table of plants shows, and in which order."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Order(StrEnum):
    """The sort key of a view."""

    ADDED = "added"
    ID = "id"
    NAME = "name"
    TAG = "tag"
    SOURCE = "source"


class View(NamedTuple):
    """A search and an order. Each word of `text` must be in name, tag or id; case and accents do not matter."""

    text: str = ""
    order: Order = Order.ADDED
    descending: bool = True
