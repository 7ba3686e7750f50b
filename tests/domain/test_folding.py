import pytest

from plantdesk.domain.folding import natural_key, searched, searched_all


@pytest.mark.parametrize(
    "ordered",
    [
        ["bed", "bed 1", "bed 02", "bed 3", "bed 10", "bed 10 b", "bed a"],
        ["", "7", "10", "a", "É1", "e2", "é 10"],
        ["room ²", "room 3", f"room {'9' * 5000}", f"room 1{'0' * 5000}"],
    ],
    ids=["numbers", "folded", "extremes"],
)
def test_the_natural_order(ordered: list[str]) -> None:
    mixed = ordered[::-1]
    assert sorted(mixed, key=natural_key) == ordered


@pytest.mark.parametrize(
    "texts", [[], [None], ["Érable", None, "“Ilse” × x"], ["a\nb", None, "Ç"], ["", "\n", ""], ["\0", "\x1f"]]
)
def test_many_texts_are_folded_as_one_by_one(texts: list[str | None]) -> None:
    assert searched_all(texts) == [None if each is None else searched(each) for each in texts]
