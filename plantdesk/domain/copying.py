"""Rows, result and errors of copying all rows of a store into another one; `locations.copy_store` does the copying."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from plantdesk.domain.errors import PlantDeskError, StoreError
from plantdesk.domain.texts import Text, comma_list, joined

#: The values of a row of any table, in the order of its columns.
TableRow = Sequence[Any]
#: Is called with the fraction that is done. Its exception ends the copying, and nothing is written.
ReportFraction = Callable[[float], None]
#: The most plants and changes that a message names.
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
    """Rows of the store break a constraint of the tables; only another program can have written them."""

    text = Text("Rows of the store are damaged, so nothing was copied. `plantdesk export` writes what can be read.")


class CopyDiffersError(StoreError):
    """The rows that were read back from the copy differ from the original: a defect of disk or memory."""

    text = Text("The copy differs from the store, so it was discarded. Check disk and memory of this computer.")


class NulInStoreError(PlantDeskError):
    """Texts have U+0000, which the target cannot store; the message lists the ids of plants and numbers of changes."""

    def __init__(self, plants: Sequence[int], changes: Sequence[int]) -> None:
        problems = []
        if plants:
            problems.append(
                Text(
                    "Nothing was copied: a shared store cannot keep the character U+0000, which is in the plants with "
                    "these IDs: {numbers}. Remove it there.",
                    numbers=comma_list(plants, _MAX_NAMED),
                )
            )
        if changes:
            problems.append(
                Text(
                    "The history has the character U+0000 in its changes {numbers}, and a shared store cannot keep it. "
                    "`plantdesk export` and `plantdesk import` take the plants there without the history.",
                    numbers=comma_list(changes, _MAX_NAMED),
                )
            )
        super().__init__(joined(problems))


class Copied(NamedTuple):
    """The result of a copy: the number of rows of each table, and the SHA-256 digest of all rows."""

    rows: dict[str, int]
    digest: str


class StoreRows(NamedTuple):
    """All rows of a store. Its functions read them in one snapshot, and raise StoreError."""

    #: The identity of the store.
    identity: str
    #: The largest sequence number that was ever used.
    last_seq: int
    #: The number of the last change.
    last_change: int
    #: A number not below the id of any deleted plant.
    last_id: int
    #: Returns about the number of rows of all tables.
    count_rows: Callable[[], int]
    #: Yields the rows of a table of `plantdesk.store.models` in the order of its primary key.
    rows: Callable[[Any], Iterator[TableRow]]
    #: Returns the ids of the plants, and the numbers of the changes, that have U+0000 in a text.
    find_nul: Callable[[], tuple[list[int], list[int]]]
