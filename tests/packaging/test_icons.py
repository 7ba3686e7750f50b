from __future__ import annotations

import struct

import pytest
from PySide6.QtGui import QImage

from bundle import icons


@pytest.mark.parametrize("size", icons.PNG_SIZES)
def test_a_png_has_its_size_and_clear_corners(size: int) -> None:
    image = QImage(str(icons.ICONS / f"plantdesk-{size}.png"))
    assert (image.width(), image.height()) == (size, size)
    assert image.pixelColor(0, 0).alpha() < 128
    assert image.pixelColor(size // 2, size * 5 // 8).red() > 180  # the pot


def test_the_ico_holds_each_size_where_it_says() -> None:
    data = (icons.ICONS / "plantdesk.ico").read_bytes()
    count = struct.unpack_from("<HHH", data)[2]
    assert count == len(icons.ICO_SIZES)
    for index, size in enumerate(icons.ICO_SIZES):
        length, offset = struct.unpack_from("<II", data, 6 + 16 * index + 8)
        assert QImage.fromData(data[offset : offset + length]).width() == size


def test_the_icns_holds_each_type_with_its_size() -> None:
    data = (icons.ICONS / "plantdesk.icns").read_bytes()
    assert data[:8] == b"icns" + struct.pack(">I", len(data))
    found, offset = {}, 8
    while offset < len(data):
        kind, length = data[offset : offset + 4].decode(), struct.unpack_from(">I", data, offset + 4)[0]
        found[kind] = QImage.fromData(data[offset + 8 : offset + length]).width()
        offset += length
    assert found == icons.ICNS_TYPES


@pytest.mark.usefixtures("qapp")  # which the renderer needs
def test_the_committed_icons_are_those_of_the_drawings() -> None:
    for size in (16, 256):
        drawn, committed = QImage.fromData(icons.png(size)), QImage(str(icons.ICONS / f"plantdesk-{size}.png"))
        assert drawn.convertToFormat(committed.format()) == committed, "run `build.py icons`"
