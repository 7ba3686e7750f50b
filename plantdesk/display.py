"""Whether a window can open here, told in a sentence before Qt would abort the process for it.

No Qt, standard library only: packaging/dev.py reads this module before there is an environment.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plantdesk.errors import PlantDeskError

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence


class Library(NamedTuple):
    """A shared library that PySide6's wheel expects of the system, and the Debian package that has it."""

    file: str
    debian: str


QT_LIBRARIES = (
    Library("libGL.so.1", "libgl1"),
    Library("libEGL.so.1", "libegl1"),
    Library("libglib-2.0.so.0", "libglib2.0-0"),
    Library("libfontconfig.so.1", "libfontconfig1"),
    Library("libxkbcommon.so.0", "libxkbcommon0"),
    Library("libdbus-1.so.3", "libdbus-1-3"),
    Library("libgssapi_krb5.so.2", "libgssapi-krb5-2"),
)
X11_LIBRARIES = (
    Library("libxcb-cursor.so.0", "libxcb-cursor0"),
    Library("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    Library("libxcb-icccm.so.4", "libxcb-icccm4"),
    Library("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    Library("libxcb-shape.so.0", "libxcb-shape0"),
)
WAYLAND_LIBRARIES = (
    Library("libwayland-cursor.so.0", "libwayland-cursor0"),
    Library("libwayland-egl.so.1", "libwayland-egl1"),
)


class NoDisplayError(PlantDeskError):
    """There is no display that a window could open on."""

    def __init__(self, serve: str = "plantdesk serve") -> None:
        super().__init__(
            "There is no display to open a window on. Log in to a desktop (or set DISPLAY), "
            f"or run “{serve}”, which needs none."
        )


class MissingLibrariesError(PlantDeskError):
    """Qt would not load, or would abort, for want of these libraries."""

    def __init__(self, missing: Sequence[Library]) -> None:
        super().__init__(how_to_install(missing))
        self.missing = tuple(missing)


def missing_libraries(libraries: Sequence[Library]) -> list[Library]:
    """Return those that the system's loader does not find: it is what Qt will ask, whatever packages say."""
    return [library for library in libraries if not _loads(library.file)]


def how_to_install(missing: Sequence[Library]) -> str:
    """Return one line that names what is missing and what to type for it on this system."""
    files = ", ".join(library.file for library in missing)
    if shutil.which("apt-get"):
        packages = " ".join(sorted({library.debian for library in missing}))
        line = f"sudo apt-get update && sudo apt-get install --yes {packages}"
    elif shutil.which("dnf"):  # finds a package by the library it provides
        line = "sudo dnf install " + " ".join(f"'{library.file}()(64bit)'" for library in missing)
    else:
        return f"PlantDesk needs libraries that this system does not have yet: {files}. Install their packages."
    return f"PlantDesk needs libraries that this system does not have yet ({files}). Install them with: {line}"


def prepare(environment: MutableMapping[str, str] = os.environ) -> None:
    """Raise, with the way on, where creating a QApplication would abort. Call it before Qt is imported.

    Chooses Wayland where both displays are there but X11's libraries are not.
    """
    if not sys.platform.startswith("linux"):
        pass
    elif not is_named(environment):
        raise NoDisplayError
    elif missing := missing_libraries(QT_LIBRARIES) or _missing_for_display(environment):
        raise MissingLibrariesError(missing)


def is_named(environment: Mapping[str, str]) -> bool:
    """Whether anything says where a window could open; it may still be wrong."""
    return any(environment.get(name) for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"))


def _missing_for_display(environment: MutableMapping[str, str]) -> list[Library]:
    """Choose the display that will do; return what is missing for it."""
    asked = environment.get("QT_QPA_PLATFORM") or "wayland;xcb"
    if "xcb" not in asked and "wayland" not in asked:  # offscreen and its like
        return []
    x11 = "xcb" in asked and _x11_answers(environment)
    wayland = "wayland" in asked and _wayland_answers(environment)
    if not (x11 or wayland):
        raise NoDisplayError
    if wayland and not missing_libraries(WAYLAND_LIBRARIES):
        if not x11 or missing_libraries(X11_LIBRARIES):
            environment["QT_QPA_PLATFORM"] = "wayland"
        return []
    return missing_libraries(X11_LIBRARIES if x11 else WAYLAND_LIBRARIES)


def _loads(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True


def _x11_answers(environment: Mapping[str, str]) -> bool:
    """Whether the X server that DISPLAY names accepts a connection: Qt aborts at a stale name, too."""
    name = environment.get("DISPLAY")
    if not name or not _loads("libxcb.so.1"):
        return False
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(name.encode(), None))
    refused = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not refused


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY")
    if not name:
        return False
    import socket  # 5 ms, which a start on X11 does without

    path = Path(environment.get("XDG_RUNTIME_DIR", "/")) / name  # the name may be absolute
    # Python for Windows has no AF_UNIX; there, nobody asks.
    with socket.socket(getattr(socket, "AF_UNIX", socket.AF_INET)) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True
