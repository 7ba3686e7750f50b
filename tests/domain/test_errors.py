from __future__ import annotations

import pytest

from plantdesk.domain.errors import ErrorNumber, StoreError, shortened


def test_numbers_are_status_times_100_plus_n() -> None:
    assert {number.status for number in ErrorNumber} == {400, 401, 404, 405, 408, 500, 503}
    assert all(number.meaning.endswith(".") for number in ErrorNumber)


def test_every_store_error_is_a_503() -> None:
    """A defect of PlantDesk is 500."""
    known = [StoreError]
    for kind in known:
        assert kind.number.status == 503, kind
        known += kind.__subclasses__()
    assert len(known) > 5


@pytest.mark.parametrize(
    ("text", "line"),
    [("Aloe", "Aloe"), ("a\nb\0c\x1b[31m", "a b c [31m"), ("x" * 61, "x" * 59 + "…"), ("x" * 60, "x" * 60)],
)
def test_quoted_text_is_one_short_line(text: str, line: str) -> None:
    assert shortened(text) == line
