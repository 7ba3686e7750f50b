from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.ui.plants.table.queries import Edit, id_list_diff
from tests.support.cases import cases

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


def applied(old: Sequence[int], edits: list[Edit]) -> list[int]:
    result = list(old)
    for edit in reversed(edits):  # rows are those of the old order
        result[edit.row : edit.row + edit.removed] = edit.inserted
    return result


@given(FEW_IDS, FEW_IDS)
@cases(200)
def test_the_edits_turn_one_sorted_list_into_another(first: list[int], second: list[int]) -> None:
    old, new = sorted(first), sorted(second)
    edits = id_list_diff(array("q", old), array("q", new))
    assert edits is not None
    assert applied(old, edits) == new


@given(st.lists(st.integers(0, 12), unique=True), st.lists(st.integers(0, 12), unique=True))
@cases(200)
def test_of_any_two_lists_there_are_edits_that_keep_common_rows_or_none(old: list[int], new: list[int]) -> None:
    edits = id_list_diff(array("q", old), array("q", new))
    common = set(old) & set(new)
    if edits is None:  # the lists are short: only a row that moved is a reason
        assert [plant for plant in old if plant in common] != [plant for plant in new if plant in common]
        return
    assert applied(old, edits) == new
    touched = [plant for edit in edits for plant in (*old[edit.row : edit.row + edit.removed], *edit.inserted)]
    assert common.isdisjoint(touched)
    ends = [(edit.row, edit.row + edit.removed) for edit in edits]
    assert ends == sorted(ends)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ends))


@given(st.sets(st.integers(0, 9_999), min_size=1, max_size=300), st.sets(st.integers(10_000, 19_999), max_size=300))
@cases(200)
def test_edits_are_few_or_none(removed: set[int], added: set[int]) -> None:
    old = array("q", range(0, 20_000, 2))
    new = array("q", sorted({*old}.difference(removed) | added))
    edits = id_list_diff(old, new)
    if edits is None:
        assert len(removed) + len(added) > 100  # so many differences that a new list costs less
    else:
        assert len(edits) <= 130
        assert applied(old, edits) == list(new)


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(100, 160), unique=True, min_size=1))
@cases(200)
def test_new_rows_at_one_end_are_one_edit(old: list[int], added: list[int]) -> None:
    before, after = array("q", added + old), array("q", old + added)
    assert id_list_diff(array("q", old), before) == [Edit(0, 0, array("q", added))]
    assert id_list_diff(array("q", old), after) == [Edit(len(old), 0, array("q", added))]
