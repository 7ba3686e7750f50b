"""Other texts for plants by one rule."""

from __future__ import annotations

import pytest

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.rewriting import Rule, Texts


@pytest.mark.parametrize("field", ["name", "note"])
@pytest.mark.parametrize("any_case", [False, True])
def test_a_text_that_would_become_huge_is_refused_before_it_is_made(field: str, *, any_case: bool) -> None:
    rule = Rule(fields=(field,), find="x", replacement="y" * 100_000, any_case=any_case)
    with pytest.raises(InvalidPlantError) as refused:
        rule.rewritten(Texts("x" * 50_000, None, "x" * 50_000))
    assert [each.field for each in refused.value.fields] == [field]


def test_a_text_that_is_huge_already_can_become_shorter() -> None:
    assert Rule(find="xx", replacement="y").rewritten(Texts("x" * 4_000_000, None, None)).name == "y" * 2_000_000
