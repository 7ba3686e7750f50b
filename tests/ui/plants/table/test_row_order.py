from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from plantdesk.domain.records import FORM, Changes, PlantRow
from plantdesk.domain.views import View
from plantdesk.ui.plants.table.row_order import Insertion, Removal, Replacement, RowOrder, State, difference
from tests.support.cases import cases

if TYPE_CHECKING:
    from plantdesk.ui.bridge import Bridge


def test_equal_orders_need_no_edit() -> None:
    order = array("q", range(100_000))
    assert difference(order, order[:]) is None


def test_plants_that_come_or_go_at_one_place_are_one_edit() -> None:
    old = array("q", range(100_000))
    assert difference(old, old[:70_000] + array("q", [-5]) + old[70_000:]) == Insertion(70_000, array("q", [-5]))
    assert difference(old, old[:10] + old[20:]) == Removal(10, 10)


def test_a_plant_that_moved_replaces_all_because_a_selection_would_forget_it() -> None:
    old = array("q", range(10_000))
    new = old[:5] + old[6:9000] + array("q", [5]) + old[9000:]
    assert difference(old, new) == Replacement(new, same_query=True)


@given(st.lists(st.integers(0, 12), unique=True), st.lists(st.integers(0, 12), unique=True))
@cases(200)
def test_the_edit_turns_one_list_into_another(old: list[int], new: list[int]) -> None:
    rows = [*old]
    match difference(array("q", old), array("q", new)):
        case Insertion(row, ids):
            rows[row:row] = ids
        case Removal(row, size):
            del rows[row : row + size]
        case Replacement(ids, same_query):
            assert same_query
            rows = [*ids]
    assert rows == new


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(100, 160), unique=True, min_size=1))
@cases(200)
def test_new_rows_at_one_end_are_an_insertion(old: list[int], added: list[int]) -> None:
    before, after = array("q", added + old), array("q", old + added)
    assert difference(array("q", old), before) == Insertion(0, array("q", added))
    assert difference(array("q", old), after) == Insertion(len(old), array("q", added))


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
    difference(old, old[:999_000])
    assert old.reads < 5 * len(old)


def reads_of_additions(bridge: Bridge, size: int, *, descending: bool) -> int:
    """Return how many ids are read to show a hundred plants that are added one after the other."""
    rows = RowOrder(bridge)
    rows.load(View(descending=descending))
    rows.ids, rows.state = Counted("q", range(size)), State.COMPLETE
    edits: list[Insertion] = []
    rows.edited.connect(edits.append)
    for plant_id in range(size, size + 100):
        rows.apply(Changes((PlantRow(plant_id, "Fern", None, 0, FORM),)))
    assert [edit.ids.tolist() for edit in edits] == [[each] for each in range(size, size + 100)]
    return rows.ids.reads


@pytest.mark.parametrize("descending", [False, True])
def test_a_new_plant_is_compared_with_as_many_of_a_million_as_of_a_hundred_thousand(
    bridge: Bridge, *, descending: bool
) -> None:
    few = reads_of_additions(bridge, 100_000, descending=descending)
    assert reads_of_additions(bridge, 1_000_000, descending=descending) == few
