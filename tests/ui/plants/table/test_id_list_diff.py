from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.ui.plants.table.id_list_diff import Edit, id_list_diff

FEW_IDS = st.lists(st.integers(0, 60), unique=True, max_size=60)


def test_equal_orders_need_no_edit() -> None:
    order = array("q", range(100_000))
    assert id_list_diff(order, order[:]) == []


def test_a_plant_in_the_middle_is_one_edit() -> None:
    old = array("q", range(100_000))
    new = old[:70_000] + array("q", [-5]) + old[70_000:]
    assert id_list_diff(old, new) == [Edit(70_000, 0, array("q", [-5]))]


def test_plants_that_are_gone_are_one_edit() -> None:
    old = array("q", range(100_000))
    assert id_list_diff(old, old[:10] + old[20:]) == [Edit(10, 10, array("q"))]


def test_a_plant_that_moved_is_no_edit_because_a_selection_would_forget_it() -> None:
    old = array("q", range(10_000))
    assert id_list_diff(old, old[:5] + old[6:9000] + array("q", [5]) + old[9000:]) is None


def test_orders_with_little_in_common_are_better_exchanged() -> None:
    assert id_list_diff(array("q", range(10_000)), array("q", reversed(range(10_000)))) is None


@given(FEW_IDS, FEW_IDS)
def test_the_edits_turn_one_order_into_the_other(first: list[int], second: list[int]) -> None:
    old, new = sorted(first), sorted(second)
    edits = id_list_diff(array("q", old), array("q", new))
    assert edits is not None
    result = old[:]
    for edit in reversed(edits):
        result[edit.row : edit.row + edit.removed] = edit.inserted
    assert result == new
