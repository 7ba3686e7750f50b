"""Checks that Qt can open a window, since Qt aborts the process if it cannot (Linux).

Imports only the standard library, and modules that do so too: packaging/dev.py uses it before there is an environment.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text


@dataclass(frozen=True)
class Library:
    """A shared library that PySide6's wheel needs from the system, and its Debian package."""

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
    """No display is named in the environment, or none of those named accepts a connection."""

    text = Text(
        "There is no display to open a window on. Log in to a desktop (or set DISPLAY), "
        "or run “{command}”, which needs none."
    )

    def __init__(self, serve: str = "plantdesk serve") -> None:
        super().__init__(command=serve)


class MissingLibrariesError(PlantDeskError):
    """Qt needs these libraries to load or to open a window."""

    def __init__(self, missing: Sequence[Library]) -> None:
        super().__init__(format_install_hint(missing))
        self.missing = tuple(missing)


def find_missing_libraries(libraries: Sequence[Library]) -> list[Library]:
    """Return the libraries that the dynamic loader does not find."""
    return [library for library in libraries if not _can_load(library.file)]


def format_install_hint(missing: Sequence[Library]) -> Text:
    """Return a text with the missing libraries and the command that installs them on this system."""
    files = ", ".join(library.file for library in missing)
    if shutil.which("apt-get"):
        packages = " ".join(sorted({library.debian for library in missing}))
        line = f"sudo apt-get update && sudo apt-get install --yes {packages}"
    elif shutil.which("dnf"):  # it finds packages by the libraries they provide
        line = "sudo dnf install " + " ".join(f"'{library.file}()(64bit)'" for library in missing)
    else:
        return Text("PlantDesk needs libraries that are not installed: {files}. Install their packages.", files=files)
    text = Text("PlantDesk needs libraries that are not installed ({files}). Install them with: {command}")
    return text.filled(files=files, command=line)


def check_display(environment: MutableMapping[str, str] = os.environ) -> None:
    """Check that QApplication will not abort the process. Call it before Qt is imported.

    Sets QT_QPA_PLATFORM to wayland if only its libraries are there. Raises NoDisplayError, MissingLibrariesError.
    """
    if sys.platform.startswith("linux"):
        if not has_display(environment):
            raise NoDisplayError
        missing = find_missing_libraries(QT_LIBRARIES) or _find_missing_for_display(environment)
        if missing:
            raise MissingLibrariesError(missing)


def use_offscreen() -> None:
    """Let Qt paint without a display. Call it before Qt is imported. Raises MissingLibrariesError."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    check_display()


def has_display(environment: Mapping[str, str]) -> bool:
    """Return whether a display is named in the environment; it may not be reachable."""
    return any(environment.get(name) for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"))


def _find_missing_for_display(environment: MutableMapping[str, str]) -> list[Library]:
    """Return the libraries that are missing for the usable displays, empty if one works. Raises NoDisplayError."""
    requested = environment.get("QT_QPA_PLATFORM", "") or "wayland;xcb"
    candidates = {"xcb": (_can_connect_to_x11, X11_LIBRARIES), "wayland": (_can_connect_to_wayland, WAYLAND_LIBRARIES)}
    if not any(name in requested for name in candidates):  # another platform, such as offscreen
        return []
    missing = {
        name: find_missing_libraries(libraries)
        for name, (can_connect, libraries) in candidates.items()
        if name in requested and can_connect(environment)
    }
    if not missing:
        raise NoDisplayError
    usable = [name for name, libraries in missing.items() if not libraries]
    if usable == ["wayland"]:
        environment["QT_QPA_PLATFORM"] = "wayland"
    return [] if usable else next(iter(missing.values()))


def _can_load(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True


def _can_connect_to_x11(environment: Mapping[str, str]) -> bool:
    """Return whether the X server in DISPLAY accepts a connection: Qt aborts if DISPLAY is stale."""
    name = environment.get("DISPLAY")
    if not name or not _can_load("libxcb.so.1"):
        return False
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(name.encode(), None))
    has_error = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not has_error


def _can_connect_to_wayland(environment: Mapping[str, str]) -> bool:
    """Return whether the compositor in WAYLAND_DISPLAY accepts a connection."""
    name = environment.get("WAYLAND_DISPLAY")
    if not name:
        return False
    path = Path(environment.get("XDG_RUNTIME_DIR", "/")) / name  # the name may be absolute
    # Python for Windows has no AF_UNIX, and does not call this.
    with socket.socket(getattr(socket, "AF_UNIX", socket.AF_INET)) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True
