"""How many plants have each tag and each source."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plantdesk.domain.records import Source


class CountedAt(NamedTuple):
    """The state of the store that was counted: the last sequence number, the last change, and the day."""

    seq: int
    change: int
    day: range


class Counts(NamedTuple):
    """Numbers of plants, in one snapshot. The tag None is for those without one; `today` are those added today."""

    tags: Mapping[str | None, int]
    sources: Mapping[Source, int]
    today: int
    at: CountedAt

    @property
    def total(self) -> int:
        """The number of all plants."""
        return sum(self.tags.values())
