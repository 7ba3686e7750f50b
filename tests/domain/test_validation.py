import pytest

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID, parse_id


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), (" -0 ", 0), ("+5", 5), ("007", 7), (str(LARGEST_ID), LARGEST_ID), (str(SMALLEST_ID), SMALLEST_ID)],
)
def test_a_typed_id_is_parsed_exactly(text: str, number: int) -> None:
    assert parse_id(text) == number


@pytest.mark.parametrize("text", ["", " ", "-", "x", "1.5", "1e3", "1 000", "1_000", "٣", "²", "--1", "0x1f"])
def test_a_number_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(InvalidPlantError, match="whole number"):
        parse_id(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (str(LARGEST_ID + 1), "too large"),
        (str(SMALLEST_ID - 1), "too small"),
        ("9" * 1_000_000, "too large"),
        ("-" + "9" * 1_000_000, "too small"),
    ],
)
def test_an_id_beyond_int64_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidPlantError, match=reason):
        parse_id(text)
