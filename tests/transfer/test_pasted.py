"""Plants of a text that a user pastes."""

import pytest

from plantdesk.domain.errors import PlantDeskError
from tests.support.pasting import pasted_plants

Plants = list[tuple[int | None, str, str | None, str | None]]


PASTED = {
    "name": ("Agastache ‘Blackadder’\n", [(None, "Agastache ‘Blackadder’", None, None)]),
    "names": ("Aster\r\n\r\nIvy, common\r\n", [(None, "Aster", None, None), (None, "Ivy, common", None, None)]),
    "commas between words": (
        "Rose, Dog\nIvy, common\n",
        [(None, "Rose, Dog", None, None), (None, "Ivy, common", None, None)],
    ),
    "commas between columns": (
        "Aster,bed 4\nIvy,bed 4\n",
        [(None, "Aster", "bed 4", None), (None, "Ivy", "bed 4", None)],
    ),
    "name and tag": ("Aster\tbed 4\nIvy\tbed 4\n", [(None, "Aster", "bed 4", None), (None, "Ivy", "bed 4", None)]),
    "rows of other lengths": (
        "Aster\n\nIvy\tbed 4\nRose\tbed 4\n",
        [(None, "Aster", None, None), *((None, n, "bed 4", None) for n in ("Ivy", "Rose"))],
    ),
    "tags like a header": ("Aster\tbed\nIvy\tbed\n", [(None, "Aster", "bed", None), (None, "Ivy", "bed", None)]),
    "blank": (" \n\t\n", []),
    "id and name": ("7\tAster\n8\tIvy\n", [(7, "Aster", None, None), (8, "Ivy", None, None)]),
    "tag and name": (
        "bed 4\tAster\nbed 4\tIvy\nbed 4\tRose",
        [(None, each, "bed 4", None) for each in ("Aster", "Ivy", "Rose")],
    ),
    "header": (
        "Sorte;Beet;Preis\nAster;bed 4;4,90\nIvy;bed 4;5,20\n",
        [(None, each, "bed 4", None) for each in ("Aster", "Ivy")],
    ),
    "other order": ("Bemerkung\tPFLANZE\nwet\tAster\n", [(None, "Aster", None, "wet")]),
    "bullets": ("• Aster\n•\tIvy - x\n", [(None, each, None, None) for each in ("Aster", "Ivy - x")]),
    "numbers": ("1. Aster\n\n10. Ivy\n", [(None, each, None, None) for each in ("Aster", "Ivy")]),
    "one mark is no list": ("- Aster\nIvy\n", [(None, each, None, None) for each in ("- Aster", "Ivy")]),
    "unknown header": (
        "Cultivar\tPrice\nAster\t4.90\nIvy\t5.20\n",
        [(None, "Aster", None, None), (None, "Ivy", None, None)],
    ),
}


@pytest.mark.parametrize(("text", "plants"), PASTED.values(), ids=PASTED)
def test_text_is_read_as_plants(text: str, plants: Plants) -> None:
    pasted = pasted_plants(text, 100)
    assert [row[2:] for row in pasted.rows] == plants
    assert pasted.refused == []


def test_rows_that_are_no_plants_are_refused() -> None:
    pasted = pasted_plants("id\tname\n1\tAster\n\nx\tIvy\n\n3\tRose\n", 100)
    assert [row.name for row in pasted.rows] == ["Aster", "Rose"]
    assert [(row.line, row.values) for row in pasted.refused] == [(4, {"id": "x", "name": "Ivy"})]


def test_a_wide_pasted_table_of_many_rows_is_refused() -> None:
    """Each of 30,000 rows would get 30,000 cells."""
    with pytest.raises(PlantDeskError, match="30,001 columns"):
        pasted_plants("\t" * 30_000 + "a\n" + "b\n" * 30_000, 100)
