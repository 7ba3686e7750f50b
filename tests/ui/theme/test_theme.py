import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QFontInfo, QImage, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from plantdesk.platform import paths
from plantdesk.platform.settings import ThemeMode
from plantdesk.ui.theme.colors import (
    DARK,
    HUES,
    LIGHT,
    Colors,
    dot_color,
    hue_of,
    make_palette,
    pill_colors,
    with_high_contrast,
)
from plantdesk.ui.theme.metrics import FontRole
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.plain_text import PlainLabel
from tests.support.contrast import contrast

DRAWINGS = paths.resources_folder() / "icons" / "lucide"


@pytest.fixture(autouse=True)
def _usual_text(theme: Theme) -> Iterator[None]:
    yield
    theme.set_text_scale(1)


def test_a_choice_is_applied_at_once_and_signalled(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    with qtbot.waitSignal(theme.changed, timeout=0):
        theme.set_mode(ThemeMode.DARK)
    assert theme.colors == DARK
    assert qapp.palette().color(QPalette.ColorRole.Window) == DARK.color("window")
    assert DARK.surface in qapp.styleSheet()
    assert LIGHT.window not in qapp.styleSheet()


def test_a_check_box_with_the_focus_has_a_frame(theme: Theme, qtbot: QtBot) -> None:
    window = QWidget()
    box = QCheckBox("Keep the tag", window)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    for mode in (ThemeMode.DARK, ThemeMode.LIGHT):
        theme.set_mode(mode)
        box.clearFocus()
        before = box.grab().toImage()
        box.setFocus(Qt.FocusReason.TabFocusReason)
        after, color = box.grab().toImage(), theme.colors.color("focus")
        pixels = [(x, y) for x in range(after.width()) for y in range(after.height())]
        framed = [pixel for pixel in pixels if after.pixelColor(*pixel) == color != before.pixelColor(*pixel)]
        assert len(framed) > 4 * 18, "around the box"


def test_text_is_never_smaller_than_twelve_pixels(theme: Theme, qapp: QApplication) -> None:
    theme.set_text_scale(0.5)
    assert QFontInfo(qapp.font()).pixelSize() >= 12
    assert QFontInfo(theme.font(FontRole.CAPTION)).pixelSize() >= 12


def test_icons_change_their_colour_with_the_theme(theme: Theme, qtbot: QtBot) -> None:
    button = QPushButton()
    qtbot.addWidget(button)
    theme.icons.put_on(button, "plus", "on_accent")
    assert _ink(button) == LIGHT.on_accent
    theme.set_mode(ThemeMode.DARK)
    assert _ink(button) == DARK.on_accent


@pytest.mark.parametrize("name", sorted(file.stem for file in DRAWINGS.glob("*.svg")))
def test_every_drawing_can_be_drawn(theme: Theme, name: str) -> None:
    assert _inked(theme.icons.icon(name, size=18).pixmap(18, 18).toImage())


def _ink(button: QPushButton) -> str:
    picture = button.icon().pixmap(QSize(18, 18), 3).toImage()
    return picture.pixelColor(picture.width() // 2, picture.height() // 2).name().upper()


def _inked(picture: QImage) -> bool:
    pixels = ((x, y) for x in range(picture.width()) for y in range(picture.height()))
    return any(picture.pixelColor(x, y).alpha() > 200 for x, y in pixels)


@pytest.fixture
def window(qtbot: QtBot, theme: Theme) -> QWidget:
    assert theme.colors
    window = QWidget()
    qtbot.addWidget(window)
    field, label = QLineEdit(), PlainLabel("&Name")
    label.setBuddy(field)
    layout = QVBoxLayout(window)
    for widget in (label, field, QPushButton("&Add")):
        layout.addWidget(widget)
    with qtbot.waitActive(window):
        window.show()
    return window


def pictures(window: QWidget) -> list[QImage]:
    return [label.grab().toImage() for label in (*window.findChildren(PlainLabel), *window.findChildren(QPushButton))]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no mnemonics")
def test_letters_are_underlined_while_alt_is_held(window: QWidget) -> None:
    handle, plain = window.windowHandle(), pictures(window)
    QTest.keyPress(handle, Qt.Key.Key_Alt, Qt.KeyboardModifier.AltModifier)
    assert all(now != before for now, before in zip(pictures(window), plain, strict=True))
    QTest.keyRelease(handle, Qt.Key.Key_Alt)
    assert pictures(window) == plain
    QTest.keyPress(handle, Qt.Key.Key_Alt, Qt.KeyboardModifier.AltModifier)
    QTest.mouseMove(handle, QPoint(3, 3))
    assert pictures(window) == plain, "the release went to a menu"


# --- colours ----------------------------------------------------------------------------------------------------------


TEXT = 4.5
EDGE = 3.0

PAIRS = [
    ("text", "window", TEXT),
    ("text", "surface", TEXT),
    ("text", "selection", TEXT),
    ("muted", "surface", TEXT),
    ("muted", "sidebar", TEXT),
    ("muted", "selection", TEXT),
    ("muted", "ok_bg", TEXT),
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


@pytest.mark.parametrize("colors", [LIGHT, DARK, with_high_contrast(LIGHT), with_high_contrast(DARK)])
@pytest.mark.parametrize(("front", "back", "least"), PAIRS)
def test_every_pair_of_colours_can_be_distinguished(colors: Colors, front: str, back: str, least: float) -> None:
    assert contrast(colors.color(front), colors.color(back)) >= least


@pytest.mark.parametrize("dark", [False, True])
def test_every_tag_can_be_read_on_its_pill(dark: bool) -> None:  # noqa: FBT001 - a parameter of the test
    for hue in range(len(HUES)):
        assert contrast(*pill_colors(hue, dark=dark)) >= 7.5


@pytest.mark.parametrize("colors", [LIGHT, DARK, with_high_contrast(LIGHT), with_high_contrast(DARK)])
def test_dots_are_visible_and_none_stands_out(colors: Colors) -> None:
    found = [contrast(dot_color(hue, colors), colors.color("sidebar")) for hue in range(len(HUES))]
    assert min(found) >= 3.7
    assert max(found) / min(found) < 1.15


def test_a_tag_keeps_its_colour_from_one_start_to_the_next() -> None:
    assert [hue_of(tag) for tag in ("kitchen", "Küche", "")] == [3, 6, 0]


@pytest.fixture(autouse=True)
def _usual_palette(qapp: QApplication) -> Iterator[None]:
    yield
    Theme(qapp, ThemeMode.LIGHT)
    qapp.setPalette(make_palette(LIGHT))  # a theme that finds its style sheet leaves the palette


@pytest.mark.parametrize("mode", ThemeMode)
def test_a_theme_has_set_the_palette_when_it_is_made(qapp: QApplication, mode: ThemeMode) -> None:
    qapp.setPalette(make_palette(LIGHT))  # that of the system, whatever the test before has left
    theme = Theme(qapp, mode)
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme.colors.color("window")
    assert theme.colors.is_dark is (mode is ThemeMode.DARK)
