"""An X server for one program: its pixels, which are read without asking it, and its pointer.

Needs Linux, Xvfb and XTEST (Debian: apt-get install xvfb libxtst6).
"""

import ctypes
import mmap
import os
import struct
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parents[2] / "packaging"))

from contextlib import ExitStack

from package_tests import screens

#: Seconds between two looks at the pixels, and until waiting is given up.
_POLL, TIMEOUT = 0.0005, 20.0
#: For so long pixels must stay as they are.
_STILL = 0.15
#: Of the lines of the screen every third is read: they show each text, and the processor has other work.
_LINES = 3


class Area(NamedTuple):
    """A rectangle of the screen."""

    left: int
    top: int
    right: int
    bottom: int


class Screen:
    """An X server without a window manager; programs that are started next use it."""

    def __init__(self, stack: ExitStack) -> None:
        try:
            _, file = stack.enter_context(screens.virtual_screen())
        except FileNotFoundError as error:
            raise SystemExit(str(error)) from error
        self._pixels = mmap.mmap(stack.enter_context(file.open("rb")).fileno(), 0, access=mmap.ACCESS_READ)
        header = struct.unpack_from(">25I", self._pixels)  # of an X window dump
        self._line, self._start = header[12], header[0] + header[19] * 12
        try:
            self._x, self._test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        except OSError as error:
            raise SystemExit(f"{error} (Debian: apt-get install libxtst6)") from error
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(os.environ["DISPLAY"].encode()))

    def pixels(self, area: Area) -> bytes:
        """Return the pixels of a part of the screen."""
        lines = (self._start + self._line * y for y in range(area.top, area.bottom, _LINES))
        return b"".join(self._pixels[line + 4 * area.left : line + 4 * area.right] for line in lines)

    def point(self, at: tuple[int, int]) -> None:
        """Move the pointer."""
        self._test.XTestFakeMotionEvent(self._display, -1, *at, ctypes.c_ulong(0))
        self._x.XSync(self._display, 0)

    def wait(self, expected: dict[Area, bytes], begun: float) -> list[float]:
        """Wait until areas look as expected and stay so; return after how many seconds from `begun` each one did."""
        since: dict[Area, float] = {}
        end = time.perf_counter() + TIMEOUT
        while len(since) < len(expected) or time.perf_counter() - max(since.values()) - begun < _STILL:
            time.sleep(_POLL)
            for area, pixels in expected.items():
                if self.pixels(area) == pixels:
                    since.setdefault(area, time.perf_counter() - begun)
                else:
                    since.pop(area, None)
            if time.perf_counter() > end:
                raise TimeoutError(f"{expected.keys() - since.keys()} looks different")
        return [since[area] for area in expected]

    def wait_for_change(self, area: Area, before: bytes) -> float:
        """Wait until an area looks different; return when."""
        end = time.perf_counter() + TIMEOUT
        while self.pixels(area) == before:
            if time.perf_counter() > end:
                raise TimeoutError(f"{area} looks as before")
            time.sleep(_POLL)
        return time.perf_counter()

    def learn(self, areas: tuple[Area, ...], seconds: float) -> dict[Area, bytes]:
        """Wait until areas have not changed for some seconds; return their pixels."""
        seen: dict[Area, bytes] = {}
        since = time.perf_counter()
        while time.perf_counter() - since < seconds:
            now = {area: self.pixels(area) for area in areas}
            if now != seen:
                seen, since = now, time.perf_counter()
            time.sleep(0.01)
        return seen
