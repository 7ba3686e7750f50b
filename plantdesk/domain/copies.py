"""Copying a whole store to an empty one of any kind: plants, sources, tokens and the history with its before-images.

The tables and columns are those that the kinds have in common. All rows are read in one snapshot and written in one
transaction, which reads them again before it commits and compares counts and checksums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from plantdesk.domain.errors import LISTED, PlantDeskError, StoreError, Text, joined

if TYPE_CHECKING:
    Row = Sequence[Any]
    #: Gets the fraction that is done; what it raises ends the copying, and nothing is written.
    Progress = Callable[[float], None]

#: Rows between two calls of a progress.
_PAGE = 5_000
#: Plants and changes that a message names.
_MAX_NAMED = 20
#: Columns of a plant with its texts as they are searched.
SEARCHED = ("searched_name", "searched_tag", "searched_note")
_TEXTS = {"kind", "label", "searched_label", "name", "tag", "note", *SEARCHED, "parameters"}


class Table(NamedTuple):
    """A table that both kinds have. The first `keys` of its columns are its primary key."""

    name: str
    columns: tuple[str, ...]
    keys: int = 1

    @property
    def order(self) -> str:
        """The columns of the primary key."""
        return ", ".join(self.columns[: self.keys])

    @property
    def types(self) -> list[str]:
        """The types of the columns, as PostgreSQL names them."""
        return ["text" if each in _TEXTS else "bytea" if each == "digest" else "int8" for each in self.columns]


SOURCE = Table("source", ("id", "kind", "label", "searched_label"))
PLANT = Table("plant", ("id", "name", "tag", "seq", "added_at", "source_id", "note", "change", *SEARCHED))
CHANGE = Table(
    "change",
    ("number", "made_at", "source_id", "kind", "parameters", "plants", "undoes", "undone", "size"),
)
BEFORE_IMAGE = Table(
    "before_image",
    (
        "change",
        "plant_id",
        "after",
        "name",
        "tag",
        "note",
        "seq",
        "added_at",
        "source_id",
        "plant_change",
        *SEARCHED,
    ),
    keys=2,
)
TOKEN = Table(
    "token",
    (
        "id",
        "name",
        "digest",
        "source_id",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
        "plants_added",
        "max_plants",
    ),
)
#: A table follows those that it refers to.
TABLES = (SOURCE, PLANT, CHANGE, BEFORE_IMAGE, TOKEN)


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


class StoreRows(Protocol):
    """All rows of a store, in one snapshot. Every method raises StoreError."""

    #: What identifies the store.
    identity: str
    #: The largest sequence number that was ever used, and the number of the last change.
    last_seq: int
    last_change: int
    #: At least the id of every deleted plant.
    last_id: int

    def count(self) -> int:
        """Return the number of rows of all tables, about."""

    def rows(self, table: Table) -> Iterator[Row]:
        """Yield the rows of a table by its primary key."""

    def with_nul(self) -> tuple[list[int], list[int]]:
        """Return the ids of the plants, and the numbers of the changes, that have U+0000 in a text."""


class EmptyTables(Protocol):
    """The tables of a store without rows, in a transaction that the caller commits. Every method raises StoreError."""

    def insert(self, table: Table, rows: Iterator[Row]) -> None:
        """Insert all rows of a table."""

    def rows(self, table: Table) -> Iterator[Row]:
        """Yield the rows of a table by its primary key."""


def transfer(source: StoreRows, target: EmptyTables, progress: Progress | None = None) -> Copied:
    """Insert all rows of `source` into `target`, read them again and compare them. Raises CopyDiffersError."""
    report = _Report(2 * source.count(), progress)
    read = {table.name: _Checked(report) for table in TABLES}
    for table in TABLES:
        target.insert(table, read[table.name].passed(source.rows(table)))
    for table in TABLES:
        written = _Checked(report)
        for _ in written.passed(target.rows(table)):
            pass
        if written.result != read[table.name].result:
            raise CopyDiffersError
    whole = hashlib.sha256("".join(each.result[1] for each in read.values()).encode())
    return Copied({name: each.rows for name, each in read.items()}, whole.hexdigest())


class _Report:
    def __init__(self, rows: int, progress: Progress | None) -> None:
        self._rows, self._progress, self._done = max(rows, 1), progress, 0

    def add(self, rows: int) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(min(self._done / self._rows, 1.0))


class _Checked:
    """Counts rows, and computes their digest, while they pass."""

    def __init__(self, report: _Report) -> None:
        self.rows = 0
        self._digest = hashlib.sha256()
        self._report = report

    @property
    def result(self) -> tuple[int, str]:
        return self.rows, self._digest.hexdigest()

    def passed(self, rows: Iterator[Row]) -> Iterator[Row]:
        while page := tuple(islice(rows, _PAGE)):
            self._digest.update(repr(page).encode("utf-8", "surrogatepass"))
            self.rows += len(page)
            yield from page
            self._report.add(len(page))


def _listed(numbers: Sequence[int]) -> Text:
    listed = [Text("{number}", number=each) for each in numbers[:_MAX_NAMED]]
    return joined([*listed, *([Text("…")] if len(numbers) > _MAX_NAMED else [])], LISTED)
