"""Input and results of an import. `PlantImport` in `protocols` describes its steps."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text


class OnConflict(StrEnum):
    """How to handle a row whose id belongs to another plant, in the store or in an earlier row."""

    REFUSE = "refuse"
    SKIP = "skip"
    NEW_ID = "new-id"
    REPLACE = "replace"


class ImportRow(NamedTuple):
    """A valid plant of a file. `id` None: the next free one. `file` and `line` are its position, both from 1."""

    file: int
    line: int
    id: int | None
    name: str
    tag: str | None
    note: str | None


class ImportConflict(NamedTuple):
    """A row whose id belongs to another plant, and the name of that.

    `earlier` is the file and the line of the earlier row with that id, None if a plant of the store has it.
    """

    row: ImportRow
    owner: str
    earlier: tuple[int, int] | None = None


class ImportCounts(NamedTuple):
    """The numbers of new, unchanged and conflicting rows of an import.

    `owners` are the plants of the store to which the ids of conflicting rows belong.
    """

    new: int
    unchanged: int
    clashing: int
    owners: int


class ImportConflictError(PlantDeskError):
    """Rows of an import have ids of other plants, and `OnConflict.REFUSE` was chosen."""

    text = Text(
        "{count:,} rows have an ID that is taken, so nothing was imported.",
        one="1 row has an ID that is taken, so nothing was imported.",
    )

    def __init__(self, count: int) -> None:
        super().__init__(count=count)
