"""What a table of plants shows and in which order, how many plants there are, and where new ones belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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


#: Ids compared in one round, and the most rows that one id is compared with in it.
_ROUND = 4096
_MAX_PROBES = 64


class InsertionPoint(NamedTuple):
    """A new id and the row before which it belongs."""

    row: int
    id: int


def find_insertion_points(
    new: Sequence[int],
    known: Sequence[int],
    in_order: Callable[[Sequence[int]], Sequence[int]],
) -> list[InsertionPoint] | None:
    """Return where `new` ids, sorted already, belong among `known` ones. None where `known` is too far out of date.

    New ids that are known are left out. `in_order` sorts ids, without those that do not exist any more. Takes four
    rounds for a million rows.
    """
    searches = [_Search(plant_id, 0, len(known)) for plant_id in new]
    while unfinished := [search for search in searches if search.low < search.high]:
        probes = max(1, min(_MAX_PROBES, _ROUND // len(unfinished)))
        rows = [search.probes(probes) for search in unfinished]
        probed = {row: known[row] for each in rows for row in each}
        ids = set(probed.values()).union(search.id for search in unfinished)
        position = {plant_id: at for at, plant_id in enumerate(in_order(list(ids)))}
        for search, its_rows in zip(unfinished, rows, strict=True):
            search.is_known = any(probed[row] == search.id for row in its_rows)
            if search.is_known:
                search.high = search.low
            else:
                found = {row: position[probed[row]] for row in its_rows if probed[row] in position}
                if not search.narrow(found, len(its_rows), position):
                    return None
    return [InsertionPoint(search.low, search.id) for search in searches if not search.is_known]


class _Search:
    """The rows between which an id belongs, from `low` to `high`."""

    def __init__(self, plant_id: int, low: int, high: int) -> None:
        self.id, self.low, self.high = plant_id, low, high
        self.is_known = False

    def probes(self, count: int) -> list[int]:
        """Return rows to compare the id with, evenly spread."""
        size = self.high - self.low
        count = min(count, size)
        return [self.low + size * at // count + size // (2 * count) for at in range(count)]

    def narrow(self, found: dict[int, int], probed: int, position: dict[int, int]) -> bool:
        """Narrow the range by the positions of the probed rows that still exist; return False where none helps."""
        if self.id not in position or (not found and self.high - self.low > probed):
            return False
        if not found:  # all rows between which it belongs are gone
            self.high = self.low
            return True
        mine = position[self.id]
        self.low = max((row + 1 for row, at in found.items() if at < mine), default=self.low)
        self.high = max(self.low, min((row for row, at in found.items() if at > mine), default=self.high))
        return True
