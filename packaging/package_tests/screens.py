"""Pictures of the screen, by the standard library alone; for the smoke test."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_BYTES = 4  # of a pixel: blue, green, red, unused


class Picture(NamedTuple):
    """A screenshot; `pixels` are the rows from the top, with `_BYTES` for each pixel."""

    width: int
    height: int
    pixels: bytes

    def changes(self, other: Picture) -> set[tuple[int, int]]:
        """Return the pixels that differ, as (x, y)."""
        if self.pixels == other.pixels:
            return set()
        found: set[tuple[int, int]] = set()
        line = self.width * _BYTES
        for y in range(self.height):
            mine, theirs = (pixels[y * line : (y + 1) * line] for pixels in (self.pixels, other.pixels))
            if mine != theirs:
                each = range(0, line, _BYTES)
                found.update((x // _BYTES, y) for x in each if mine[x : x + 3] != theirs[x : x + 3])
        return found

    def save(self, file: Path) -> None:
        """Write a portable pixmap (PPM), the format without a compression."""
        colors = bytearray(self.width * self.height * 3)
        colors[0::3], colors[1::3], colors[2::3] = self.pixels[2::4], self.pixels[1::4], self.pixels[0::4]
        file.write_bytes(f"P6 {self.width} {self.height} 255\n".encode() + colors)


@contextlib.contextmanager
def screen() -> Iterator[Callable[[], Picture]]:
    """Yield a function that takes a picture of the screen that started programs use."""
    if sys.platform == "win32":
        yield _windows_picture
    else:
        with virtual_screen() as (picture, _):
            yield picture


@contextlib.contextmanager
def virtual_screen() -> Iterator[tuple[Callable[[], Picture], Path]]:
    """Start an X server for the programs started from here; yield a function that takes its picture, and its file."""
    program = shutil.which("Xvfb")
    if program is None:
        raise FileNotFoundError("Xvfb is not installed (Debian: apt-get install xvfb)")
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="plantdesk-screen-") as folder:
        command = [program, "-noreset", "-nolisten", "tcp", "-ac", "-screen", "0", "1280x860x24"]
        command += ["-fbdir", folder, "-displayfd", "1"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert server.stdout is not None  # noqa: S101
        os.environ["DISPLAY"] = f":{server.stdout.readline().strip()}"
        for other in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
            os.environ.pop(other, None)
        file = Path(folder) / "Xvfb_screen0"
        try:
            yield (lambda: _xwd_picture(file.read_bytes())), file
        finally:
            os.environ.clear()
            os.environ.update(before)
            server.terminate()
            server.communicate()


def _xwd_picture(data: bytes) -> Picture:
    """Read an X window dump: 25 numbers, a name, a colour table, the pixels."""
    header = struct.unpack_from(">25I", data)
    header_size, width, height, line, colors = header[0], header[4], header[5], header[12], header[19]
    start = header_size + colors * 12
    return Picture(width, height, data[start : start + line * height])


def _windows_picture() -> Picture:
    """Return a picture of the Windows screen, copied by the functions of GDI."""
    windll = ctypes.__dict__["windll"]  # not in the ctypes of other systems
    user, gdi = windll.user32, windll.gdi32
    for function in (user.GetDC, gdi.CreateCompatibleDC, gdi.CreateCompatibleBitmap, gdi.SelectObject):
        function.restype = ctypes.c_void_p
    width, height = user.GetSystemMetrics(0), user.GetSystemMetrics(1)
    display = ctypes.c_void_p(user.GetDC(None))
    memory = ctypes.c_void_p(gdi.CreateCompatibleDC(display))
    bitmap = ctypes.c_void_p(gdi.CreateCompatibleBitmap(display, width, height))
    gdi.SelectObject(memory, bitmap)
    gdi.BitBlt(memory, 0, 0, width, height, display, 0, 0, 0x00CC0020)
    layout = struct.pack("<IiiHHIIiiII", 40, width, -height, 1, 32, 0, 0, 0, 0, 0, 0)
    pixels = ctypes.create_string_buffer(width * height * _BYTES)
    gdi.GetDIBits(memory, bitmap, 0, height, pixels, ctypes.create_string_buffer(layout), 0)
    gdi.DeleteObject(bitmap)
    gdi.DeleteDC(memory)
    user.ReleaseDC(None, display)
    return Picture(width, height, pixels.raw)
