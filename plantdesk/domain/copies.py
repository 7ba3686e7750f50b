"""Copying a whole store to an empty one of any kind: plants, sources, tokens and the history with its before-images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from plantdesk.domain.errors import LISTED, PlantDeskError, StoreError, Text, joined

Row = Sequence[Any]
#: Gets the fraction that is done; what it raises ends the copying, and nothing is written.
Progress = Callable[[float], None]

#: Plants and changes that a message names.
_MAX_NAMED = 20


class TargetNotEmptyError(StoreError):
    """The store that is to be filled has plants, changes or tokens."""

    text = Text(
        "“{target}” holds plants, history or tokens already, so nothing was copied. Name a new file or an empty "
        "database; `plantdesk import` adds plants to a store that has some."
    )


class SameStoreError(StoreError):
    """A store would be copied to itself."""

    text = Text("Both are the same store, so nothing was copied. Name another file or database.")


class CopyRefusedError(StoreError):
    """Rows of the store break a rule of the tables; only another program can have written them."""

    text = Text("Rows of the store are damaged, so nothing was copied. `plantdesk export` writes what can be read.")


class CopyDiffersError(StoreError):
    """What was written is not what was read."""

    text = Text("The copy differs from the store, so it was discarded. Check disk and memory of this computer.")


class NulInStoreError(PlantDeskError):
    """Plants, or changes of the history, have U+0000, which the target cannot store."""

    def __init__(self, plants: Sequence[int], changes: Sequence[int]) -> None:
        found = []
        if plants:
            found.append(
                Text(
                    "Nothing was copied: a shared store cannot keep the character U+0000, which is in the plants with "
                    "these IDs: {numbers}. Remove it there.",
                    numbers=_listed(plants),
                )
            )
        if changes:
            found.append(
                Text(
                    "The history has the character U+0000 in its changes {numbers}, and a shared store cannot keep it. "
                    "`plantdesk export` and `plantdesk import` take the plants there without the history.",
                    numbers=_listed(changes),
                )
            )
        super().__init__(joined(found))


class Copied(NamedTuple):
    """What was copied: the number of rows of each table, and the SHA-256 digest of all of them."""

    rows: dict[str, int]
    digest: str


class StoreRows(NamedTuple):
    """All rows of a store, in one snapshot; the functions read them, and raise StoreError."""

    #: What identifies the store.
    identity: str
    #: The largest sequence number that was ever used, and the number of the last change.
    last_seq: int
    last_change: int
    #: At least the id of every deleted plant.
    last_id: int
    #: Returns the number of rows of all tables, about.
    count_rows: Callable[[], int]
    #: Yields the rows of a table of `plantdesk.store.models` by its primary key.
    rows: Callable[[Any], Iterator[Row]]
    #: Returns the ids of the plants, and the numbers of the changes, that have U+0000 in a text.
    with_nul: Callable[[], tuple[list[int], list[int]]]


def _listed(numbers: Sequence[int]) -> Text:
    listed = [Text("{number}", number=each) for each in numbers[:_MAX_NAMED]]
    return joined([*listed, *([Text("…")] if len(numbers) > _MAX_NAMED else [])], LISTED)
