"""Names that are spelt alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.folding import fold
from plantdesk.domain.selections import Contains
from plantdesk.domain.spelling import edit_distance, max_distance, near_candidates, nearest_spellings


@given(st.text("abc ", max_size=6), st.text("abc ", max_size=6), st.integers(0, 3))
def test_the_distance_is_that_of_levenshtein(one: str, other: str, limit: int) -> None:
    rows = [[*range(len(other) + 1)]]
    for number, letter in enumerate(one, start=1):
        rows.append([number])
        for at, each in enumerate(other):
            rows[-1].append(min(rows[-2][at] + (letter != each), rows[-2][at + 1] + 1, rows[-1][at] + 1))
    expected = rows[-1][-1]
    assert edit_distance(one, other, limit) == (expected if expected <= limit else None)


@given(st.text("abcé x×", min_size=4, max_size=30), st.lists(st.text("abcé x×", max_size=30), max_size=5), st.data())
def test_what_may_be_near_has_all_that_is_near(name: str, others: list[str], data: st.DataObject) -> None:
    changed = [*name]
    for _ in range(2):
        at = data.draw(st.integers(0, len(changed)))
        changed[at : at + data.draw(st.integers(0, 1))] = data.draw(st.text("abé", max_size=1))
    near = near_candidates(name)
    for other in nearest_spellings(name, [*others, "".join(changed)], 9, str):
        assert near is not None
        assert len(fold(other)) in near[1]
        for group in near[0].groups:
            assert any(isinstance(term, Contains) and term.text in fold(other) for term in group)
    assert (near is None) == (max_distance(fold(name).strip()) is None)
