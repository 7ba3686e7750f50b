"""The events of a store, for scripts that follow it: one for each plant that a commit has changed."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from typing_extensions import override

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.records import LARGEST_ID, PlantContent
from plantdesk.domain.texts import Text

_NUMBER = "(-?[0-9]{1,19})"
_FORMAT = re.compile("([0-9a-f]{1,32})" + rf"\.{_NUMBER}" * 4 + rf"(?:\.{_NUMBER})?")


class EventKind(StrEnum):
    """What a commit did to a plant."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


class PlantEvent(NamedTuple):
    """The change of one plant by one commit.

    `position` is the position after it, from which the next event is read. `plant` is None after a deletion.
    `change` is the number in the history, None for a plant added by form, command or API.
    """

    position: str
    kind: EventKind
    id: int
    plant: PlantContent | None
    change: int | None


class EventPage(NamedTuple):
    """Events in the order of their commits, and the position after them, where the next page begins."""

    events: list[PlantEvent]
    position: str


class UnknownPositionError(PlantDeskError):
    """The position belongs to another store, or to a state that this store no longer has."""

    text = Text(
        "The position “{position}” is not one of these plants: it is of another database, or an older copy has taken "
        "its place. Read all plants again, then watch without a position."
    )


class OutdatedPositionError(PlantDeskError):
    """The events since a position are no longer stored."""

    text = Text(
        "Changes since the position “{position}” are no longer stored. Read all plants again, then watch without a "
        "position."
    )


class EventPosition(NamedTuple):
    """A position in the order of all events: after the plants up to `seq`, and after `plant` of the change `change`.

    `added_at` and `made_at` are the times of that `seq` and change, in milliseconds since 1970 (0 if there is none):
    they show whether the store is still the same.
    """

    identity: str
    seq: int
    added_at: int
    change: int
    made_at: int
    plant: int = LARGEST_ID

    @override
    def __str__(self) -> str:
        return ".".join(map(str, self if self.plant != LARGEST_ID else self[:5]))

    @classmethod
    def parse(cls, text: str) -> EventPosition:
        """Parse a text that `str` made of a position. Raises UnknownPositionError."""
        match = _FORMAT.fullmatch(text)
        if match is None:
            raise UnknownPositionError(position=text)
        identity, *numbers = match.groups()
        return cls(identity, *(int(number) for number in numbers if number is not None))
