"""The committed icons, which packaging/icons.sh draws."""

import pytest
from PySide6.QtGui import QIcon, QImage, QImageReader

import project

ICONS = project.RESOURCES / "icons"


@pytest.mark.parametrize("size", [16, 24, 32, 48, 64, 128, 256, 512])
def test_a_png_has_its_size_and_clear_corners(size: int) -> None:
    image = QImage(str(ICONS / f"plantdesk-{size}.png"))
    assert (image.width(), image.height()) == (size, size)
    assert image.pixelColor(0, 0).alpha() < 128
    assert image.pixelColor(size // 2, size * 5 // 8).red() > 180  # the pot


def test_the_icons_of_windows_and_macos_hold_each_size() -> None:
    assert {each.width() for each in images("ico")} == {16, 24, 32, 48, 64, 128, 256}
    assert {each.width() for each in images("icns")} >= {16, 32, 128, 256, 512, 1024}


def images(kind: str) -> list[QImage]:
    reader = QImageReader(str(ICONS / f"plantdesk.{kind}"))
    return [reader.read() for at in range(reader.imageCount()) if reader.jumpToImage(at)]


@pytest.mark.usefixtures("qapp")
def test_the_committed_icons_are_those_of_the_drawings() -> None:
    for size, drawing in ((16, "plantdesk-small"), (256, "plantdesk")):
        drawn = QIcon(str(ICONS / f"{drawing}.svg")).pixmap(size, size).toImage()
        committed = QImage(str(ICONS / f"plantdesk-{size}.png"))
        converted = [each.convertToFormat(drawn.format()) for each in (drawn, committed)]  # their bits are not copied
        one, two = (bytes(each.constBits()) for each in converted)
        difference = sum(abs(a - b) for a, b in zip(one, two, strict=True)) / len(one)
        assert difference < 2, "run packaging/icons.sh"
