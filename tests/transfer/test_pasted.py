"""Plants of a text that a user pastes."""

import pytest

from plantdesk.domain.errors import PlantDeskError
from tests.support.pasting import pasted_plants

Plants = list[tuple[int | None, str, str | None, str | None]]


@pytest.mark.parametrize(
    ("text", "plants"),
    [
        ("Agastache ‘Blackadder’\n", [(None, "Agastache ‘Blackadder’", None, None)]),
        ("Aster\r\n\r\nIvy, common\r\n", [(None, "Aster", None, None), (None, "Ivy, common", None, None)]),
        ("Rose, Dog\nIvy, common\n", [(None, "Rose, Dog", None, None), (None, "Ivy, common", None, None)]),
        ("Aster,bed 4\nIvy,bed 4\n", [(None, "Aster", "bed 4", None), (None, "Ivy", "bed 4", None)]),
        ("Aster\tbed 4\nIvy\tbed 4\n", [(None, "Aster", "bed 4", None), (None, "Ivy", "bed 4", None)]),
        (
            "Aster\n\nIvy\tbed 4\nRose\tbed 4\n",
            [(None, "Aster", None, None), *((None, n, "bed 4", None) for n in ("Ivy", "Rose"))],
        ),
        ("Aster\tbed\nIvy\tbed\n", [(None, "Aster", "bed", None), (None, "Ivy", "bed", None)]),
        (" \n\t\n", []),
        ("7\tAster\n8\tIvy\n", [(7, "Aster", None, None), (8, "Ivy", None, None)]),
        ("bed 4\tAster\nbed 4\tIvy\nbed 4\tRose", [(None, each, "bed 4", None) for each in ("Aster", "Ivy", "Rose")]),
        (
            "Sorte;Beet;Preis\nAster;bed 4;4,90\nIvy;bed 4;5,20\n",
            [(None, each, "bed 4", None) for each in ("Aster", "Ivy")],
        ),
        ("Bemerkung\tPFLANZE\nwet\tAster\n", [(None, "Aster", None, "wet")]),
        ("• Aster\n•\tIvy - x\n", [(None, each, None, None) for each in ("Aster", "Ivy - x")]),
        ("1. Aster\n\n10. Ivy\n", [(None, each, None, None) for each in ("Aster", "Ivy")]),
        ("- Aster\nIvy\n", [(None, each, None, None) for each in ("- Aster", "Ivy")]),
        ("Cultivar\tPrice\nAster\t4.90\nIvy\t5.20\n", [(None, "Aster", None, None), (None, "Ivy", None, None)]),
    ],
    ids=[
        "name",
        "names",
        "commas between words",
        "commas between columns",
        "name and tag",
        "rows of other lengths",
        "tags like a header",
        "blank",
        "id and name",
        "tag and name",
        "header",
        "other order",
        "bullets",
        "numbers",
        "one mark is no list",
        "unknown header",
    ],
)
def test_text_is_read_as_plants(text: str, plants: Plants) -> None:
    pasted = pasted_plants(text, 100)
    assert [row[2:] for row in pasted.rows] == plants
    assert pasted.refused == []


def test_rows_that_are_no_plants_are_refused() -> None:
    pasted = pasted_plants("id\tname\n1\tAster\n\nx\tIvy\n\n3\tRose\n", 100)
    assert [row.name for row in pasted.rows] == ["Aster", "Rose"]
    assert [(row.line, row.values) for row in pasted.refused] == [(4, {"id": "x", "name": "Ivy"})]


def test_tabs_and_lines_do_not_multiply() -> None:
    """Each of 30,000 rows would get 30,000 cells."""
    with pytest.raises(PlantDeskError, match="30,001 columns"):
        pasted_plants("\t" * 30_000 + "a\n" + "b\n" * 30_000, 100)
