from __future__ import annotations

from array import array
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.ui.plants.table.row_order import Edit, Insertion, Removal, Replacement, id_list_diff
from tests.support.cases import cases

FEW_IDS = st.lists(st.integers(0, 60), unique=True, max_size=60)


def test_equal_orders_need_no_edit() -> None:
    order = array("q", range(100_000))
    assert id_list_diff(order, order[:]) == []


def test_a_plant_in_the_middle_is_one_edit() -> None:
    old = array("q", range(100_000))
    new = old[:70_000] + array("q", [-5]) + old[70_000:]
    assert id_list_diff(old, new) == [Insertion(70_000, array("q", [-5]))]


def test_plants_that_are_gone_are_one_edit() -> None:
    old = array("q", range(100_000))
    assert id_list_diff(old, old[:10] + old[20:]) == [Removal(10, 10)]


def test_a_plant_that_moved_replaces_all_because_a_selection_would_forget_it() -> None:
    old = array("q", range(10_000))
    new = old[:5] + old[6:9000] + array("q", [5]) + old[9000:]
    assert id_list_diff(old, new) == [Replacement(new, same_query=True)]


def test_orders_with_little_in_common_are_better_exchanged() -> None:
    new = array("q", reversed(range(10_000)))
    assert id_list_diff(array("q", range(10_000)), new) == [Replacement(new, same_query=True)]


def applied(old: Sequence[int], edits: list[Edit]) -> list[int]:
    result = list(old)
    for edit in edits:
        if isinstance(edit, Insertion):
            result[edit.row : edit.row] = edit.ids
        else:
            assert isinstance(edit, Removal)
            del result[edit.row : edit.row + edit.size]
    return result


@given(FEW_IDS, FEW_IDS)
@cases(200)
def test_the_edits_turn_one_sorted_list_into_another(first: list[int], second: list[int]) -> None:
    old, new = sorted(first), sorted(second)
    assert applied(old, id_list_diff(array("q", old), array("q", new))) == new


@given(st.lists(st.integers(0, 12), unique=True), st.lists(st.integers(0, 12), unique=True))
@cases(200)
def test_the_edits_of_any_two_lists_keep_common_rows_unless_one_moved(old: list[int], new: list[int]) -> None:
    edits = id_list_diff(array("q", old), array("q", new))
    common = set(old) & set(new)
    if edits == [Replacement(array("q", new), same_query=True)]:  # the lists are short: only as a row moved
        assert [plant for plant in old if plant in common] != [plant for plant in new if plant in common]
        return
    assert applied(old, edits) == new
    touched = [each for edit in edits if isinstance(edit, Insertion) for each in edit.ids]
    touched += [each for edit in edits if isinstance(edit, Removal) for each in old[edit.row : edit.row + edit.size]]
    assert common.isdisjoint(touched)
    rows = [edit.row for edit in edits if not isinstance(edit, Replacement)]
    assert rows == sorted(rows, reverse=True)


@given(st.sets(st.integers(0, 9_999), min_size=1, max_size=300), st.sets(st.integers(10_000, 19_999), max_size=300))
@cases(200)
def test_edits_are_few(removed: set[int], added: set[int]) -> None:
    old = array("q", range(0, 20_000, 2))
    new = array("q", sorted({*old}.difference(removed) | added))
    edits = id_list_diff(old, new)
    if edits == [Replacement(new, same_query=True)]:
        assert len(removed) + len(added) > 100  # so many differences that a new list costs less
    else:
        assert len(edits) <= 130
        assert applied(old, edits) == list(new)


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(100, 160), unique=True, min_size=1))
@cases(200)
def test_new_rows_at_one_end_are_one_edit(old: list[int], added: list[int]) -> None:
    before, after = array("q", added + old), array("q", old + added)
    assert id_list_diff(array("q", old), before) == [Insertion(0, array("q", added))]
    assert id_list_diff(array("q", old), after) == [Insertion(len(old), array("q", added))]
