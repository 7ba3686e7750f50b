from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from plantdesk.ui.plants.table.delegate import tag_colors
from plantdesk.ui.theme.colors import DARK, LIGHT, Colors, contrast, in_high_contrast

TEXT = 4.5
EDGE = 3.0

PAIRS = [
    ("text", "window", TEXT),
    ("text", "surface", TEXT),
    ("text", "selection", TEXT),
    ("text_2", "surface", TEXT),
    ("text_2", "sidebar", TEXT),
    ("text_2", "selection", TEXT),
    ("text_2", "ok_bg", TEXT),
    ("placeholder", "surface", TEXT),
    ("on_accent", "accent", TEXT),
    ("error", "error_bg", TEXT),
    ("error", "surface", TEXT),
    ("warning", "warning_bg", TEXT),
    ("info", "info_bg", TEXT),
    ("ok", "ok_bg", TEXT),
    ("ok", "window", TEXT),
    ("accent", "window", TEXT),
    ("on_toast", "toast", TEXT),
    ("toast_link", "toast", TEXT),
    ("border", "surface", EDGE),
    ("border", "window", EDGE),
    ("focus", "surface", EDGE),
    ("focus", "selection", EDGE),
    ("error", "surface", EDGE),
]


@pytest.mark.parametrize("colors", [LIGHT, DARK, in_high_contrast(LIGHT), in_high_contrast(DARK)])
@pytest.mark.parametrize(("front", "back", "least"), PAIRS)
def test_every_pair_of_colours_can_be_distinguished(colors: Colors, front: str, back: str, least: float) -> None:
    assert contrast(colors.color(front), colors.color(back)) >= least


@pytest.mark.parametrize("dark", [False, True])
def test_every_tag_can_be_read_on_its_pill(dark: bool) -> None:  # noqa: FBT001 - a parameter of the test
    for number in range(2000):
        ground, ink = tag_colors(f"tag {number}", dark=dark)
        assert contrast(ground, ink) >= 7


def test_a_tag_keeps_its_colour_from_one_start_to_the_next() -> None:
    assert tag_colors("kitchen", dark=False)[0].hslHue() == 100


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("white")) == pytest.approx(4.48, abs=0.01)
