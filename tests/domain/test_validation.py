import pytest

from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID, parse_id
from plantdesk.domain.validation import UnfitNumber, new_plant


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({}, ["id", "name"]),
        ({"id": "7", "name": 3, "tag": None}, ["id", "name", "tag"]),
        ({"id": True, "name": "\ud800", "tag": "\udfff"}, ["id", "name", "tag"]),
        ({"id": 7.0, "name": ["x"]}, ["id", "name"]),
        ({"id": LARGEST_ID + 1, "name": "x"}, ["id"]),
        ({"id": SMALLEST_ID - 1, "name": "x"}, ["id"]),
        ({"id": UnfitNumber("7.5", is_whole=False), "name": UnfitNumber("1e400", is_whole=True)}, ["id", "name"]),
        ({"id": None, "name": None}, ["id", "name"]),
        ({"id": {}, "name": "x", "tag": False}, ["id", "tag"]),
    ],
)
def test_all_invalid_fields_are_named(values: dict[str, object], fields: list[str]) -> None:
    with pytest.raises(InvalidPlantError) as refusal:
        new_plant(values)
    assert [each.field for each in refusal.value.fields] == fields
    assert str(refusal.value)


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
