"""Draw the application's icons from their two SVGs: PNGs, Windows' .ico and macOS' .icns.

Run `.dev/env/bin/python packaging/build.py icons` after a change of an SVG, and commit the results.
"""

from __future__ import annotations

import os
import struct

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

import project

ICONS = project.RESOURCES / "icons"
PNG_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
# Type codes of https://en.wikipedia.org/wiki/Apple_Icon_Image_format; the 2x ones are those of Retina displays.
ICNS_TYPES = {
    "icp4": 16,
    "icp5": 32,
    "ic11": 32,
    "ic12": 64,
    "ic07": 128,
    "ic13": 256,
    "ic08": 256,
    "ic14": 512,
    "ic09": 512,
    "ic10": 1024,
}
MIN_FULL_SIZE = 24


def png(size: int) -> bytes:
    """Draw the icon in one size; small ones from a simpler drawing."""
    source = "plantdesk.svg" if size >= MIN_FULL_SIZE else "plantdesk-small.svg"
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(ICONS / source)).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)  # QImage.save's stubs and Qt disagree on the format's type
    return bytes(buffer.data().data())


def ico(sizes: tuple[int, ...] = ICO_SIZES) -> bytes:
    """Return Windows' format: a header, an entry for each PNG, then the PNGs."""
    images = [png(size) for size in sizes]
    head = struct.pack("<HHH", 0, 1, len(images))
    offset = len(head) + 16 * len(images)
    for size, image in zip(sizes, images, strict=True):
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(image), offset)
        offset += len(image)
    return head + b"".join(images)


def icns() -> bytes:
    """Return macOS' format: a header, then each PNG after its type and length."""
    blocks = [(kind.encode(), png(size)) for kind, size in ICNS_TYPES.items()]
    body = b"".join(kind + struct.pack(">I", len(image) + 8) + image for kind, image in blocks)
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def main() -> None:
    """Write all icons."""
    _application = QGuiApplication([])
    for size in PNG_SIZES:
        (ICONS / f"plantdesk-{size}.png").write_bytes(png(size))
    (ICONS / "plantdesk.ico").write_bytes(ico())
    (ICONS / "plantdesk.icns").write_bytes(icns())
