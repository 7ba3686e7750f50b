from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.ui.plants.table.queries import rows_of
from tests.support.cases import cases

IDS = st.lists(st.one_of(st.integers(0, 5), st.sampled_from([256**power for power in range(8)]), st.integers(0, 2**62)))


@given(IDS.map(lambda ids: list(dict.fromkeys(ids))), st.frozensets(st.integers(0, 20), max_size=30))
@cases(200)
def test_ids_are_found_where_they_are(ids: list[int], others: frozenset[int]) -> None:
    requested = others | frozenset(ids[::3])
    assert rows_of(requested, array("q", ids)) == {each: ids.index(each) for each in requested if each in ids}


def test_the_bytes_across_two_ids_are_no_id() -> None:
    ids = array("q", [256 * 7, 256, 7])
    assert rows_of(frozenset([7]), ids) == {7: 2}
    assert rows_of(frozenset([1, 7]), ids[:2]) == {}
