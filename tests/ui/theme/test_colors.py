from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from plantdesk.platform.settings import ThemeMode
from plantdesk.ui.theme.colors import (
    DARK,
    HUES,
    LIGHT,
    Colors,
    dot_color,
    hue_of,
    in_high_contrast,
    palette_of,
    pill_colors,
)
from plantdesk.ui.theme.theme import Theme
from tests.support.contrast import contrast

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
    for hue in range(len(HUES)):
        assert contrast(*pill_colors(hue, dark=dark)) >= 7.5


@pytest.mark.parametrize("colors", [LIGHT, DARK, in_high_contrast(LIGHT), in_high_contrast(DARK)])
def test_dots_are_visible_and_none_stands_out(colors: Colors) -> None:
    found = [contrast(dot_color(hue, colors), colors.color("sidebar")) for hue in range(len(HUES))]
    assert min(found) >= 3.7
    assert max(found) / min(found) < 1.15


def test_a_tag_keeps_its_colour_from_one_start_to_the_next() -> None:
    assert [hue_of(tag) for tag in ("kitchen", "Küche", "")] == [3, 6, 0]


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("white")) == pytest.approx(4.48, abs=0.01)


@pytest.fixture(autouse=True)
def _usual_palette(qapp: QApplication) -> Iterator[None]:
    yield
    Theme(qapp, ThemeMode.LIGHT)
    qapp.setPalette(palette_of(LIGHT))  # a theme that finds its style sheet leaves the palette


@pytest.mark.parametrize("mode", ThemeMode)
def test_a_theme_has_set_the_palette_when_it_is_made(qapp: QApplication, mode: ThemeMode) -> None:
    qapp.setPalette(palette_of(LIGHT))  # that of the system, whatever the test before has left
    theme = Theme(qapp, mode)
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme.colors.color("window")
    assert theme.colors.dark is (mode is ThemeMode.DARK)
