"""Reading the store: the order of the rows in a view, pages of rows by id, and small questions."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence

    from plantdesk.records import PlantRow


class Order(StrEnum):
    """What a view is sorted by."""

    ADDED = "added"
    ID = "id"
    NAME = "name"
    TAG = "tag"
    SOURCE = "source"


class View(NamedTuple):
    """Which plants, in which order. `text` is looked for in name, tag and id, without regard to case or accents."""

    text: str = ""
    order: Order = Order.ADDED
    descending: bool = True


class Reader:
    """A read connection. One thread at a time may use it, but any thread may interrupt it.

    Every method raises StoreError where the file cannot be read, and InterruptedError after `interrupt()`.
    """

    def ids(self, view: View) -> Iterator[array[int]]:
        """Yield the ids of a view in its order, as `array('q')` chunks; the first one is small, so that it is quick."""

    def matching(self, ids: Sequence[int], view: View) -> set[int]:
        """Return those of `ids` that a view holds."""

    def rows(self, ids: Sequence[int]) -> dict[int, PlantRow]:
        """Return the plants of `ids` by id; those that are gone are left out."""

    def plant(self, plant_id: int) -> PlantRow | None:
        """Return one plant, or None."""

    def count(self) -> int:
        """Return the number of plants in the store."""

    def next_free_id(self) -> int:
        """Return the id after the largest one; the smallest free positive id when there is nothing after it."""

    def tags(self) -> list[str]:
        """Return the tags that plants have, sorted without regard to case."""

    def interrupt(self) -> None:
        """End the query that another thread runs on this reader: it raises InterruptedError there."""

    def close(self) -> None:
        """Close the connection. May be called again."""
