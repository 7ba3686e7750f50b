"""Input and results of an import. `PlantImport` in `protocols` describes its steps."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text


class OnConflict(StrEnum):
    """The treatment of a row whose id belongs to another plant, in the store or in an earlier row."""

    REFUSE = "refuse"
    SKIP = "skip"
    NEW_ID = "new-id"
    REPLACE = "replace"


class RowPosition(NamedTuple):
    """A line of one of the files of an import; both are numbers from 1."""

    file: int
    line: int


class ImportRow(NamedTuple):
    """A valid plant of a file; `file` and `line` are its `RowPosition`. With `id` None it gets the next free id."""

    file: int
    line: int
    id: int | None
    name: str
    tag: str | None
    note: str | None


class ImportConflict(NamedTuple):
    """A row whose id belongs to another plant.

    `owner_name` is the name of that plant. `owner_row` is its row if it is in the files, None if it is in the store.
    """

    row: ImportRow
    owner_name: str
    owner_row: RowPosition | None = None


class ImportCounts(NamedTuple):
    """The numbers of new, unchanged and conflicting rows of an import.

    `owners` is the number of plants of the store that have the ids of conflicting rows.
    """

    new: int
    unchanged: int
    conflicting: int
    owners: int


class ImportConflictError(PlantDeskError):
    """Rows of an import have ids of other plants, and `OnConflict.REFUSE` was chosen."""

    text = Text(
        "{count:,} rows have an ID that is taken, so nothing was imported.",
        one="1 row has an ID that is taken, so nothing was imported.",
    )

    def __init__(self, count: int) -> None:
        super().__init__(count=count)
