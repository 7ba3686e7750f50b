"""The order of the rows as a list of ids, and the edits that keep it that of the store. Without Qt, queries and clocks.

Plants that are added where the newest are at an end get their rows at once. After every other change the rows are
outdated: the order is asked for again as a whole, and compared with the rows by a bounded diff.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

from plantdesk.domain.views import Order, View

#: Added ids are compared with so many of the newest rows: a query may have returned them before they were reported.
_OVERLAP = 20_000
#: More plants than this are not looked for in the rows: each takes 10 ms at a million.
_MAX_LOOKED_UP = 10


class Insertion(NamedTuple):
    """Ids that are inserted before `row`."""

    row: int
    ids: array[int]


class Removal(NamedTuple):
    """So many rows are removed, from `row` on."""

    row: int
    size: int


class Replacement(NamedTuple):
    """All rows are replaced; `same_query`: by those of the same query, else by the first ones of another."""

    ids: array[int]
    same_query: bool


Edit: TypeAlias = Insertion | Removal | Replacement


class Answer(NamedTuple):
    """The whole order of a query, also as edits of the rows, and the number of plants in the store."""

    edits: Sequence[Edit]
    ids: array[int]
    total: int


class State(Enum):
    """What the rows are, and what is being queried."""

    EMPTY = "nothing was queried yet"
    LOADING = "another query runs, the rows are still those of the previous one"
    FILLING = "the first rows of the query are there, the others follow"
    COMPLETE = "all rows are there"
    REFRESHING = "all rows are there, and are being compared with the store"
    FAILED = "the query failed, the rows are missing or incomplete"


class RowOrder:
    """The ids of a query in their order. Whoever gets edits from a method applies all of them before the next call.

    `outdated`: the rows may differ from those of the store by more than what a running query returns.
    """

    def __init__(self) -> None:
        self.ids: array[int] = array("q")
        self.state = State.EMPTY
        self.outdated = False
        self.view = View()
        self._counted: int | None = None
        #: Added while a query runs, which may return them or not.
        self._held: list[int] = []

    @property
    def complete(self) -> bool:
        """Whether all rows of the query are there."""
        return self.state in {State.COMPLETE, State.REFRESHING}

    @property
    def is_current(self) -> bool:
        """Whether all rows are there, and nothing is known to have changed since."""
        return self.state is State.COMPLETE and not self.outdated

    @property
    def total(self) -> int | None:
        """The number of plants in the store, None until it is known."""
        return len(self.ids) if self.complete and self.view.plants.is_everything else self._counted

    def row_of(self, plant_id: int) -> int | None:
        """Return the row of a plant, None when it is not there. Takes 10 ms at a million rows."""
        try:
            return self.ids.index(plant_id)
        except ValueError:
            return None

    def rows_of(self, plant_ids: Collection[int]) -> dict[int, int]:
        """Return the rows of those plants that are there. Takes 70 ms at a million rows."""
        return {each: row for row, each in enumerate(self.ids) if each in plant_ids} if plant_ids else {}

    # --- a query and its answers ---

    def load(self, view: View) -> None:
        """Expect the rows of another query, or of the same one from the beginning."""
        self._counted = self.total
        self.view, self.state = view, State.LOADING
        self.outdated = False
        self._held.clear()

    def refresh(self) -> None:
        """Expect all rows of the same query, compared with the present ones."""
        self.state = State.REFRESHING
        self.outdated = False

    def begin(self, ids: array[int]) -> list[Edit]:
        """Show the first rows of another query."""
        self.state = State.FILLING
        return [Replacement(ids, same_query=False)]

    def finish(self, answer: Answer) -> list[Edit]:
        """Show all rows of a query, and those added while it ran."""
        self.state, self._counted = State.COMPLETE, answer.total
        added, self._held = self._held, []
        return [*answer.edits, *self._place(added, answer.ids)]

    def fail(self) -> None:
        """Keep the rows that are there: the query has failed."""
        self.state = State.COMPLETE if self.complete else State.FAILED
        self.outdated = True
        self._held.clear()

    # --- changes of the store ---

    def add(self, ids: Sequence[int]) -> list[Edit]:
        """Show plants that were added, in the order in which they were added."""
        if self.state is State.COMPLETE:
            return self._place(ids, self.ids)
        self._held += ids
        return []

    def update(self, ids: Sequence[int]) -> None:
        """Note that plants were edited, or have come back."""
        keeps_order = self.view.plants.is_everything and self.view.order in {Order.ADDED, Order.ID}
        few = self.state is State.COMPLETE and len(ids) <= _MAX_LOOKED_UP
        if not (few and keeps_order) or None in map(self.row_of, ids):
            self.outdated |= bool(ids)

    def remove(self, ids: Sequence[int]) -> list[Edit]:
        """Show that plants were deleted. The next query shows whether one of these ids was added again since."""
        few = self.state is State.COMPLETE and len(ids) <= _MAX_LOOKED_UP
        rows = [row for row in map(self.row_of, ids) if row is not None] if few else []
        self.outdated |= bool(ids)
        return [Removal(row, 1) for row in sorted(rows, reverse=True)]

    def apply(self, edit: Edit) -> None:
        """Change the rows."""
        if isinstance(edit, Replacement):
            self.ids = edit.ids
        elif isinstance(edit, Removal):
            del self.ids[edit.row : edit.row + edit.size]
        else:
            self.ids[edit.row : edit.row] = edit.ids

    def _place(self, added: Sequence[int], ids: array[int]) -> list[Edit]:
        """Insert added plants into `ids` where the newest are; elsewhere only the store knows their rows."""
        is_placed = self.view.plants.is_everything and self.view.order is Order.ADDED
        if self.outdated or not is_placed:
            self.outdated |= bool(added)
            return []
        newest_first = self.view.descending
        known = {*(ids[:_OVERLAP] if newest_first else ids[-_OVERLAP:])} if added else ()
        # A query that has returned a plant has returned those that were added before it.
        start = max((at + 1 for at, plant_id in enumerate(added) if plant_id in known), default=0)
        new = array("q", reversed(added[start:]) if newest_first else added[start:])
        return [Insertion(0 if newest_first else len(ids), new)] if new else []


#: How far a row is searched for after a difference, and the largest number of edits.
_MAX_DISTANCE = 2048
_MAX_EDITS = 128
_BLOCK = 1024


def id_list_diff(old: array[int], new: array[int]) -> list[Edit]:
    """Return edits from the last row to the first, so that each row is that of the old list.

    All rows are replaced when the lists differ in too many places, or when a row moved: the selection loses a row that
    is removed and inserted again.
    """
    edits: list[Edit] = []
    row = at = 0
    while (row < len(old) or at < len(new)) and len(edits) <= _MAX_EDITS:
        same = _same(old, row, new, at)
        row, at = row + same, at + same
        removed, inserted = _difference(old, row, new, at)
        if inserted:
            edits.append(Insertion(row, new[at : at + inserted]))
        if removed:
            edits.append(Removal(row, removed))
        row, at = row + removed, at + inserted
    is_replaced = len(edits) > _MAX_EDITS or _moves(old, edits)
    return [Replacement(new, same_query=True)] if is_replaced else edits[::-1]


def _moves(old: array[int], edits: list[Edit]) -> bool:
    removals = [edit for edit in edits if isinstance(edit, Removal)]
    removed = {plant_id for edit in removals for plant_id in old[edit.row : edit.row + edit.size]}
    inserted = [edit.ids for edit in edits if isinstance(edit, Insertion)]
    return bool(removed) and not all(map(removed.isdisjoint, inserted))


def _same(old: array[int], row: int, new: array[int], at: int) -> int:
    """Return the number of equal ids from here on; whole blocks are compared at once."""
    equal = 0
    while (block := old[row + equal : row + equal + _BLOCK]) and block == new[at + equal : at + equal + _BLOCK]:
        equal += len(block)
    pairs = list(zip(block, new[at + equal : at + equal + _BLOCK], strict=False))
    return equal + next((offset for offset, (one, other) in enumerate(pairs) if one != other), len(pairs))


def _difference(old: array[int], row: int, new: array[int], at: int) -> tuple[int, int]:
    """Return how many rows are removed and inserted here, by the nearer common id."""
    if row == len(old) or at == len(new):
        return len(old) - row, len(new) - at
    inserted, removed = _distance(new, at, old[row]), _distance(old, row, new[at])
    if inserted == removed == _MAX_DISTANCE:
        return 1, 1
    return (0, inserted) if inserted <= removed else (removed, 0)


def _distance(ids: array[int], start: int, plant_id: int) -> int:
    """Return how far an id is from `start`, _MAX_DISTANCE if that far or more."""
    try:
        return ids.index(plant_id, start, start + _MAX_DISTANCE) - start
    except ValueError:
        return _MAX_DISTANCE
