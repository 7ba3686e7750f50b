import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.plant_urls import InvalidAddressError, id_of_url, split_url, url_of
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID
from plantdesk.domain.search import parse_terms, search_text
from plantdesk.domain.selections import HasId


@given(st.integers(SMALLEST_ID, LARGEST_ID))
def test_each_id_has_an_address(plant_id: int) -> None:
    assert id_of_url(url_of(plant_id)) == plant_id
    assert split_url(f"Salvia{url_of(plant_id)}") == ("Salvia", plant_id)


@pytest.mark.parametrize("address", ["plantdesk:42", "PLANTDESK:42", "plantdesk:+42", "plantdesk:0042 "])
def test_readers_may_write_an_address_in_other_ways(address: str) -> None:
    assert id_of_url(address) == 42


@pytest.mark.parametrize(
    "address",
    [
        "plantdesk:",
        "plantdesk://42",
        "plantdesk:42;rm -rf /",
        "plantdesk:42 --database postgresql://evil.example/plants",
        "plantdesk:4.2",
        "plantdesk:٤٢",
        f"plantdesk:{LARGEST_ID + 1}",
        "plantdesk:" + "9" * 100_000,
        "xplantdesk:42",
        "https://evil.example/plantdesk:42",
        "42",
    ],
)
def test_any_other_url_is_refused_with_a_short_sentence(address: str) -> None:
    with pytest.raises(InvalidAddressError, match="is not the address of a plant") as refused:
        id_of_url(address)
    assert len(str(refused.value)) < 250
    assert "\n" not in str(refused.value)


def test_a_search_understands_an_address() -> None:
    assert parse_terms("plantdesk:42") == (HasId(42, 42),)
    assert search_text(parse_terms("PlantDesk:42 rose")) == "id:42 rose"
