"""What an import into a store takes and gives. `PlantImport` in `protocols` describes its steps."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from plantdesk.errors import PlantDeskError


class OnClash(StrEnum):
    """What happens to a row whose id belongs to another plant, in the store or in an earlier row."""

    REFUSE = "refuse"
    SKIP = "skip"
    NEW_ID = "new-id"
    REPLACE = "replace"


class ImportRow(NamedTuple):
    """A valid plant of a file. `id` None: the next free one. `file` and `line` say where it is, both from 1."""

    file: int
    line: int
    id: int | None
    name: str
    tag: str | None
    note: str | None


class SavedPlant(NamedTuple):
    """A plant of a file that is not the open store."""

    id: int
    name: str
    tag: str | None
    note: str | None


class Clash(NamedTuple):
    """A row whose id belongs to another plant, and the name of that."""

    row: ImportRow
    owner: str


class ImportCounts(NamedTuple):
    """What becomes of the rows of an import, compared with the store."""

    new: int
    unchanged: int
    clashing: int


class ImportClashError(PlantDeskError):
    """Ids of an import belong to other plants, and it is to refuse them."""

    def __init__(self, count: int) -> None:
        ids = "1 ID belongs" if count == 1 else f"{count:,} IDs belong"
        super().__init__(f"{ids} to other plants, so nothing was imported. Add --on-clash skip, new-id or replace.")
