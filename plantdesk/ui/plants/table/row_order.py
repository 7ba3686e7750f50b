"""The order of the rows as an array of ids, and the edits that keep it up to date, without Qt.

Added plants are inserted at once if the order is by time, and a few deleted plants are removed at once. After all other
changes the whole order has to be queried again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

from plantdesk.domain.records import Changes
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import Order, View
from plantdesk.ui.plants.table.cells import Column

#: The number of newest rows in which added ids are searched: a query may have returned them already.
_MAX_OVERLAP_ROWS = 20_000
#: The most deleted plants that are searched in the rows, each in 10 ms at a million rows.
_MAX_SEARCHED_REMOVALS = 10


class TableQuery(NamedTuple):
    """The query that the user has chosen for the table: search text, sort column and direction."""

    text: str = ""
    column: Column = Column.ADDED
    descending: bool = True

    @property
    def view(self) -> View:
        """The query in the form that the store takes: the matching plants and their order."""
        return View(parse_search(self.text), Order(self.column.order), self.descending)


class Insertion(NamedTuple):
    """An edit that inserts `ids` before `row`."""

    row: int
    ids: array[int]


class Removal(NamedTuple):
    """An edit that removes `size` rows from `row` on."""

    row: int
    size: int


class RowReplacement(NamedTuple):
    """An edit that replaces all rows: by those of the same query, or the first ones of another query."""

    ids: array[int]
    is_same_query: bool


RowEdit: TypeAlias = Insertion | Removal | RowReplacement


class RowsState(Enum):
    """The states of the rows and of the query that reads them; the values explain them."""

    EMPTY = "nothing was queried yet"
    LOADING = "another query runs, the rows are still those of the previous one"
    FILLING = "the first rows of the query are there, the others follow"
    COMPLETE = "all rows are there"
    REFRESHING = "all rows are there, and are being compared with the store"
    FAILED = "the query failed, the rows are missing or incomplete"


class RowOrder:
    """The ids of a view in their order. The caller applies each yielded edit to `ids` before the next one."""

    def __init__(self) -> None:
        self.ids: array[int] = array("q")
        self.state = RowsState.EMPTY
        self._view = View()
        self._total: int | None = None
        #: Ids that were added while a query runs, which may return them or not.
        self._added_during_query: array[int] = array("q")
        #: Whether the rows have to be queried again, after a query that may be running.
        self._is_outdated = False

    @property
    def is_complete(self) -> bool:
        """Whether all rows of the view are loaded."""
        return self.state in {RowsState.COMPLETE, RowsState.REFRESHING}

    @property
    def is_current(self) -> bool:
        """Whether all rows are loaded and up to date."""
        return self.state is RowsState.COMPLETE and not self._is_outdated

    @property
    def needed_query(self) -> RowsState | None:
        """The kind of query to start now: LOADING after a failure, REFRESHING if outdated; else None."""
        if self.state is RowsState.FAILED:
            return RowsState.LOADING
        return RowsState.REFRESHING if self.state is RowsState.COMPLETE and self._is_outdated else None

    @property
    def total(self) -> int | None:
        """The number of plants in the store, None until it is known."""
        return len(self.ids) if self.is_complete and self._view.plants.is_everything else self._total

    def row_of(self, plant_id: int) -> int | None:
        """Return the row of a plant, or None. Takes 10 ms at a million rows."""
        try:
            return self.ids.index(plant_id)
        except ValueError:
            return None

    def mark_querying(self, state: RowsState, view: View) -> None:
        """Set the state of a query that starts: LOADING, or REFRESHING for the same view."""
        self._total = self.total
        self._view = view
        self.state = state
        self._is_outdated = False
        self._added_during_query = array("q")

    def take_first(self, ids: array[int]) -> Iterator[RowEdit]:
        """Take the first ids that a query has found; yield the edit that shows them."""
        self.state = RowsState.FILLING
        yield RowReplacement(ids, is_same_query=False)

    def take_all(self, ids: array[int], total: int) -> Iterator[RowEdit]:
        """Take all ids that a query has found, and the number of all plants; yield the edits of the rows."""
        is_other_query = self.state is RowsState.LOADING
        edit = RowReplacement(ids, is_same_query=False) if is_other_query else find_edit(self.ids, ids)
        self.state = RowsState.COMPLETE
        self._total = total
        if edit is not None:
            yield edit
        yield from self._insert_added(self._added_during_query)

    def mark_failed(self) -> None:
        """Set the state after a failed query, so that it is repeated: complete rows stay complete."""
        self.state = RowsState.COMPLETE if self.is_complete else RowsState.FAILED
        self._is_outdated = True

    def apply(self, changes: Changes) -> Iterator[RowEdit]:
        """Yield the edits for a commit; if these cannot show all of it, mark the rows as outdated."""
        self._is_outdated |= changes.needs_reload or bool(changes.updated or changes.removed)
        yield from self._insert_added(array("q", [row.id for row in changes.added]))
        if self.state is RowsState.COMPLETE and len(changes.removed) <= _MAX_SEARCHED_REMOVALS:
            for plant_id in changes.removed:
                if (row := self.row_of(plant_id)) is not None:
                    yield Removal(row, 1)

    def _insert_added(self, added: array[int]) -> Iterator[RowEdit]:
        """Yield the insertion of new plants in the order of time; otherwise mark rows as outdated."""
        if not added:
            return
        is_newest_first = self._view.descending
        has_newest_end = self._view.plants.is_everything and self._view.order is Order.ADDED
        if not has_newest_end or self._is_outdated:
            self._is_outdated = True
            return
        if self.state is not RowsState.COMPLETE:
            self._added_during_query.extend(added)
            return
        newest = {*(self.ids[:_MAX_OVERLAP_ROWS] if is_newest_first else self.ids[-_MAX_OVERLAP_ROWS:])}
        # A query that has returned a plant has also returned those that were added before it.
        returned = [index for index, plant_id in enumerate(added) if plant_id in newest]
        new = added[max(returned, default=-1) + 1 :]
        if new:
            yield Insertion(0, new[::-1]) if is_newest_first else Insertion(len(self.ids), new)


def find_edit(old: array[int], new: array[int]) -> RowEdit | None:
    """Return the edit from one order to another: one insertion or removal, else a replacement; None if equal."""
    if old == new:
        return None
    start = _count_common_prefix(old, new)
    end = _count_common_prefix(old[start:][::-1], new[start:][::-1])
    if start + end == len(old):
        return Insertion(start, new[start : len(new) - end])
    if start + end == len(new):
        return Removal(start, len(old) - len(new))
    return RowReplacement(new, is_same_query=True)


def _count_common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the length of the common prefix, found by bisection."""
    low = 0
    high = min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
