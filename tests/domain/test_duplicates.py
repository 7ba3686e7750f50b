"""Which groups of plants that are alike are no mistake."""

import pytest

from plantdesk.domain.duplicates import PlantGroups, intentional_groups
from plantdesk.domain.folding import fold, fold_all, natural_key
from plantdesk.domain.records import FORM, PlantRow


@pytest.mark.parametrize(
    ("times", "versions", "is_intended"),
    [
        ((0, 0, 0), (-1, -2, -3), True),  # at the same time
        ((0, 3, 7), (5, 5, 5), True),  # by one change, which took some milliseconds
        ((0, 3, 7), (5, 8, 5), True),  # of which one was edited
        ((0, 3, 7), (-1, -2, -3), False),  # by a script that has sent them three times
        ((0, 3, 60_000), (5, 5, 5), False),  # one of them later; all were edited together
    ],
)
def test_plants_of_one_change_are_no_mistake(
    times: tuple[int, ...], versions: tuple[int, ...], *, is_intended: bool
) -> None:
    facts = enumerate(zip(times, versions, strict=True))
    rows = {number: PlantRow(number, "Salvia", None, at, FORM, str(number), version) for number, (at, version) in facts}
    groups = PlantGroups.of([list(rows.values())])
    assert intentional_groups(groups, lambda ids: {each: rows[each] for each in ids}) == ({0} if is_intended else set())


# --- what counts as the same text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ordered",
    [
        ["bed", "bed 1", "bed 02", "bed 3", "bed 10", "bed 10 b", "bed a"],
        ["", "7", "10", "a", "É1", "e2", "é 10"],
        ["room ²", "room 3", f"room {'9' * 5000}", f"room 1{'0' * 5000}"],
    ],
    ids=["numbers", "folded", "extremes"],
)
def test_natural_keys_sort_numbers_by_value(ordered: list[str]) -> None:
    mixed = ordered[::-1]
    assert sorted(mixed, key=natural_key) == ordered


@pytest.mark.parametrize(
    "texts", [[], [None], ["Érable", None, "“Ilse” × x"], ["a\nb", None, "Ç"], ["", "\n", ""], ["\0", "\x1f"]]
)
def test_many_texts_are_folded_as_one_by_one(texts: list[str | None]) -> None:
    assert fold_all(texts) == [None if text is None else fold(text) for text in texts]
