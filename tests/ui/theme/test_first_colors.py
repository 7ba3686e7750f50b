from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QPalette

from plantdesk.ui.theme.colors import DARK, LIGHT, palette_of
from plantdesk.ui.theme.first_colors import FirstColors, ThemeMode
from plantdesk.ui.theme.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication

    from plantdesk.ui.theme.colors import Colors


@pytest.fixture(autouse=True)
def _usual_palette(qapp: QApplication) -> Iterator[None]:
    yield
    Theme(qapp, ThemeMode.LIGHT)


@pytest.mark.parametrize("mode", ThemeMode)
def test_the_theme_keeps_the_first_palette(qapp: QApplication, mode: ThemeMode) -> None:
    first = FirstColors(qapp, mode)
    palette = QPalette(qapp.palette())
    theme = Theme(qapp, mode, portal=first.portal)
    assert palette.color(QPalette.ColorRole.Window) == theme.colors.color("window")
    assert qapp.palette() == palette


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_the_first_palette_is_as_dark_as_that_of_the_system(qapp: QApplication, colors: Colors) -> None:
    qapp.setPalette(palette_of(colors))
    FirstColors(qapp, ThemeMode.SYSTEM)
    assert qapp.palette() == palette_of(colors)
