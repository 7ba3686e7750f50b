"""Leaves a window out of the task bar on X11, for which Qt has no option."""

from __future__ import annotations

import ctypes
import logging

_log = logging.getLogger(__name__)

_ATOM, _BITS, _REPLACE = 4, 32, 0
_STATES = (b"_NET_WM_STATE_SKIP_TASKBAR", b"_NET_WM_STATE_SKIP_PAGER")


def skip_task_bar(window: int) -> None:
    """Leave a window of this process, by its X11 id, out of task bar and pager. Call it before each time it is shown.

    The window manager forgets it when the window is hidden. If X11 cannot be reached, nothing changes.
    """
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError as error:
        _log.debug("The window stays in the task bar: %s", error)
        return
    pointer, number, integer = ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int
    x11.XOpenDisplay.restype = pointer
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XInternAtom.restype = number
    x11.XInternAtom.argtypes = [pointer, ctypes.c_char_p, integer]
    x11.XChangeProperty.argtypes = [pointer, number, number, number, integer, integer, pointer, integer]
    x11.XCloseDisplay.argtypes = [pointer]
    display = x11.XOpenDisplay(None)
    if display:
        states = (number * len(_STATES))(*(x11.XInternAtom(display, each, 0) for each in _STATES))
        name = x11.XInternAtom(display, b"_NET_WM_STATE", 0)
        x11.XChangeProperty(display, window, name, _ATOM, _BITS, _REPLACE, states, len(states))
        x11.XCloseDisplay(display)  # waits until the server has it
