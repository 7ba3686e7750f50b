import time

import pytest

from plantdesk.domain.records import FORM, PlantRow
from plantdesk.ui.plants.table.cells import Column, cell_text, spoken_text
from plantdesk.ui.texts import one_line, quoted

DAY = 86_400_000


def row(**values: object) -> PlantRow:
    usual = PlantRow(7, "Aloe vera", "kitchen", round(time.time() * 1000), FORM)
    return usual._replace(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines", "two↵lines"),
        ("two\r\nlines\r", "two↵lines↵"),
        ("nothing\0", "nothing␀"),
        ("tab\tstop", "tab␉stop"),
        ("turned\u202eover", "turned[U+202E]over"),
        ("zero\u200bwidth\ufeff", "zero[U+200B]width[U+FEFF]"),
        ("Alo\u200de", "Alo[U+200D]e"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\x7f\x9b", "[U+007F][U+009B]"),
        ("délicate 山椒", "délicate 山椒"),
        ("👩\u200d🌾 gardener", "👩\u200d🌾 gardener"),
        ("wide\u00a0space", "wide\u00a0space"),
    ],
)
def test_a_name_stands_on_one_line_with_nothing_hidden(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_quotation_marks_are_not_nested() -> None:
    assert quoted("Basil “Genovese”") == "“Basil ‘Genovese’”"


def test_the_time_of_today_and_the_name_of_yesterday() -> None:
    assert ":" in cell_text(row(), Column.ADDED)
    assert cell_text(row(added_at=row().added_at - DAY), Column.ADDED) == "Yesterday"
    assert cell_text(row(added_at=1_700_000_000_000), Column.ADDED) == "11/14/23"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("", "(blank name)"),
        (" \u00a0\u3000", "(blank name)"),
        ("\u3164\u2800", "(blank name)"),
        ("\u200b", "[U+200B]"),
        ("\0", "␀"),
        ("Aloe vera", "Aloe vera"),
    ],
)
def test_a_name_without_a_visible_character_is_shown_as_such(name: str, shown: str) -> None:
    assert cell_text(row(name=name), Column.NAME) == shown
    assert spoken_text(row(name=name), Column.NAME) == shown


@pytest.mark.parametrize(
    ("tag", "shown", "spoken"),
    [
        (None, "—", "no tag"),
        ("", "(empty tag)", "(empty tag)"),
        ("  ", "(blank tag)", "(blank tag)"),
        ("shade", "shade", "shade"),
    ],
)
def test_a_tag_without_a_visible_character_is_shown_as_such(tag: str | None, shown: str, spoken: str) -> None:
    assert cell_text(row(tag=tag), Column.TAG) == shown
    assert spoken_text(row(tag=tag), Column.TAG) == spoken
