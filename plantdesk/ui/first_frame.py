"""A picture of the window's content, painted in its first frame, until the content is made.

It shows the content as it is before the store is open, of which the window makes it when it has closed. There is a file
for each store, in the cache folder. Nothing in it is decoded, which would delay the first frame: after a line that says
what it fits come the number of the row of pixels for each line of the picture, and the rows that differ.
"""

from __future__ import annotations

import os
import shutil
import stat
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING
from zlib import crc32

from PySide6.QtGui import QImage, QPainter

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QSize
    from PySide6.QtWidgets import QWidget

#: Pictures that are kept: those of the stores that were closed last.
_MAX_PICTURES = 8
_NUMBER, _PIXEL = 4, 4  # bytes


class FirstFrame:
    """The picture of one store."""

    def __init__(self, folder: Path, store: str, conditions: str) -> None:
        """Make it that of the store with the key `store`, and for the same `conditions` alone.

        They are all that the content depends on, besides the size and the screen of the window.
        """
        self._file = folder / f"window-{crc32(store.encode(errors='replace')):08x}.pixels"
        self._conditions = crc32(conditions.encode(errors="replace"))

    def paint(self, window: QWidget) -> None:
        """Paint the picture on a window, if there is one that fits."""
        ratio = window.devicePixelRatioF()
        size = window.size() * ratio
        pixels = self._read(self._heading(window, size), size.width() * _PIXEL, size.height())
        if pixels is None:
            return
        image = QImage(pixels, size.width(), size.height(), size.width() * _PIXEL, QImage.Format.Format_RGB32)
        painter = QPainter(window)
        painter.scale(1 / ratio, 1 / ratio)
        painter.drawImage(0, 0, image)
        painter.end()

    def save(self, window: QWidget) -> None:
        """Save what a window shows. Raises OSError."""
        from plantdesk.platform import paths
        from plantdesk.platform.atomic_replace import replaced_bytes

        image = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        pixels, row = image.constBits(), image.bytesPerLine()
        rows: dict[bytes, int] = {}
        numbers = [rows.setdefault(bytes(pixels[at : at + row]), len(rows)) for at in range(0, len(pixels), row)]
        paths.create_folder(self._file.parent)
        with replaced_bytes(self._file) as file:
            file.writelines([self._heading(window, image.size()), array("I", numbers).tobytes(), *rows])
        self._prune()

    def remove(self) -> None:
        """Remove the picture. Raises OSError."""
        self._file.unlink(missing_ok=True)

    def _heading(self, window: QWidget, size: QSize) -> bytes:
        screen = f"{window.devicePixelRatioF()} {window.logicalDpiY()}"
        return f"{self._conditions:08x} {size.width()} {size.height()} {screen}\n".encode()

    def _read(self, heading: bytes, row: int, height: int) -> bytes | None:
        """Return the pixels of a picture with this heading; None where there is none, or one that is damaged."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self._file, flags)
        except OSError:
            return None
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode) or os.read(handle, len(heading)) != heading:
                return None
            content = memoryview(os.read(handle, (_NUMBER + row) * height))
        except OSError:
            return None
        finally:
            os.close(handle)
        if len(content) < _NUMBER * height:
            return None
        numbers, rows = content[: _NUMBER * height].cast("I"), content[_NUMBER * height :]
        pixels = b"".join([rows[number * row : (number + 1) * row] for number in numbers])
        return pixels if len(pixels) == row * height else None

    def _prune(self) -> None:
        """Remove the pictures that were saved before the last ones, and the search indexes that windows kept."""
        shutil.rmtree(self._file.with_name("indexes"), ignore_errors=True)
        saved = sorted(self._file.parent.glob("window-*.pixels"), key=lambda file: file.stat().st_mtime, reverse=True)
        for outdated in saved[_MAX_PICTURES:]:
            with suppress(OSError):
                outdated.unlink()
