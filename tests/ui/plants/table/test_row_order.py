from array import array
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typing_extensions import override

from plantdesk.domain.records import FORM, Changes, PlantRow
from plantdesk.domain.selections import Order, View
from plantdesk.ui.plants.table.row_order import (
    Insertion,
    Removal,
    RowEdit,
    RowOrder,
    RowReplacement,
    RowsState,
    find_edit,
)
from tests.support.cases import cases, runs


def plant(plant_id: int) -> PlantRow:
    return PlantRow(plant_id, "Fern", None, 0, FORM)


def test_a_plant_that_moved_replaces_all_because_a_selection_would_forget_it() -> None:
    old = array("q", range(10_000))
    new = old[:5] + old[6:9000] + array("q", [5]) + old[9000:]
    assert find_edit(old, new) == RowReplacement(new, is_same_query=True)


@given(st.lists(st.integers(0, 12), unique=True), st.lists(st.integers(0, 12), unique=True))
@cases(200)
def test_the_edit_turns_one_list_into_another(old: list[int], new: list[int]) -> None:
    rows = [*old]
    match find_edit(array("q", old), array("q", new)):
        case Insertion(row, ids):
            rows[row:row] = ids
        case Removal(row, size):
            del rows[row : row + size]
        case RowReplacement(ids, is_same_query):
            assert is_same_query
            rows = [*ids]
    assert rows == new


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(100, 160), unique=True, min_size=1))
@cases(200)
def test_new_rows_at_one_end_are_an_insertion(old: list[int], added: list[int]) -> None:
    before, after = array("q", added + old), array("q", old + added)
    assert find_edit(array("q", old), before) == Insertion(0, array("q", added))
    assert find_edit(array("q", old), after) == Insertion(len(old), array("q", added))


class Counted(array):  # type: ignore[type-arg]
    """Ids that count how many of them are read."""

    reads = 0

    @override
    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.reads += len(found) if isinstance(at, slice) else 1
        return found


def test_orders_are_compared_in_steps_that_grow_with_their_length() -> None:
    old = Counted("q", range(1_000_000))
    find_edit(old, old[:999_000])
    assert old.reads < 5 * len(old)


def reads_of_additions(size: int, *, descending: bool) -> int:
    """Return how many ids are read to show a hundred plants that are added one after the other."""
    rows = RowOrder()
    rows.mark_querying(RowsState.LOADING, View(descending=descending))
    rows.ids, rows.state = Counted("q", range(size)), RowsState.COMPLETE
    edits: list[RowEdit] = []
    for plant_id in range(size, size + 100):
        edits += rows.apply(Changes((plant(plant_id),)))
    ids = [edit.ids.tolist() for edit in edits if isinstance(edit, Insertion)]
    assert ids == [[number] for number in range(size, size + 100)]
    return rows.ids.reads


@pytest.mark.parametrize("descending", [False, True])
def test_a_new_plant_is_compared_with_as_many_of_a_million_as_of_a_hundred_thousand(*, descending: bool) -> None:
    few = reads_of_additions(100_000, descending=descending)
    assert reads_of_additions(1_000_000, descending=descending) == few


class Rows(RuleBasedStateMachine):
    """A store that changes while queries of its order begin, answer and fail; changes are reported one by one, late."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = RowOrder()
        self.stored: list[int] = []  # in the order of adding
        self.reports: list[Changes] = []
        self.answer: list[int] | None = None  # of the running query
        self.view = View()

    @initialize(view=st.sampled_from([View(), View(descending=False), View(order=Order.ID)]))
    def show(self, view: View) -> None:
        self.view = view
        self.rows.mark_querying(RowsState.LOADING, view)

    @rule(plant_id=st.integers(1, 8))
    def add_or_delete(self, plant_id: int) -> None:
        if plant_id in self.stored:
            self.stored.remove(plant_id)
            self.reports.append(Changes(removed=(plant_id,)))
        else:
            self.stored.append(plant_id)
            self.reports.append(Changes((plant(plant_id),)))

    @rule()
    def report(self) -> None:
        if self.reports:
            self.apply(self.rows.apply(self.reports.pop(0)))

    @rule()
    def read(self) -> None:
        if self.is_queried and self.answer is None:
            self.answer = self.ordered()

    @rule()
    def begin_answer(self) -> None:
        if self.rows.state is RowsState.LOADING and self.answer:
            self.apply(self.rows.take_first(array("q", self.answer[:2])))

    @rule()
    def answer_query(self) -> None:
        if self.is_queried and self.answer is not None:
            ids, self.answer = self.answer, None
            self.apply(self.rows.take_all(array("q", ids), len(ids)))

    @rule(fails=st.integers(0, 5).map(lambda number: not number))
    def fail_or_ask_again(self, *, fails: bool) -> None:
        if fails and self.is_queried:
            self.answer = None
            self.rows.mark_failed()
        if needed := self.rows.needed_query:
            self.rows.mark_querying(needed, self.view)

    @property
    def is_queried(self) -> bool:
        return self.rows.state in {RowsState.LOADING, RowsState.FILLING, RowsState.REFRESHING}

    def ordered(self) -> list[int]:
        ids = sorted(self.stored) if self.view.order is Order.ID else self.stored
        return [*reversed(ids)] if self.view.descending else [*ids]

    def apply(self, edits: Iterable[RowEdit]) -> None:
        for edit in edits:
            match edit:
                case Insertion(row, ids):
                    self.rows.ids[row:row] = ids
                case Removal(row, size):
                    del self.rows.ids[row : row + size]
                case RowReplacement(ids):
                    self.rows.ids = ids

    @invariant()
    def rows_that_are_current_are_those_of_the_store(self) -> None:
        if self.rows.is_current and not self.reports:
            assert self.rows.ids.tolist() == self.ordered()

    @override
    def teardown(self) -> None:
        """All reports and answers arrive at last."""
        while self.reports:
            self.report()
        while not self.rows.is_current:
            self.fail_or_ask_again(fails=False)
            self.read()
            self.answer_query()
        self.rows_that_are_current_are_those_of_the_store()


TestRows = Rows.TestCase
TestRows.settings = runs(200)
