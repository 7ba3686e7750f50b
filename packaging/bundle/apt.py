"""Debian packages that the recipes need: root gets those that are missing, anyone else the command to run."""

from __future__ import annotations

import os
import shutil

import dev

#: Libraries that Qt's plugins link to. PyInstaller copies them, or leaves the plugin out.
QT_LIBRARIES = [
    *("libcups2", "libdbus-1-3", "libegl1", "libfontconfig1", "libfreetype6", "libgl1", "libglib2.0-0"),
    *("libgssapi-krb5-2", "libwayland-client0", "libwayland-cursor0", "libwayland-egl1", "libx11-xcb1"),
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1", "libxcb-randr0", "libxcb-render-util0"),
    *("libxcb-shape0", "libxcb-sync1", "libxcb-util1", "libxcb-xfixes0", "libxcb-xkb1", "libxkbcommon-x11-0"),
    *("libxkbcommon0", "binutils"),
]
#: Libraries that the frozen program takes from the system, as the .deb's Depends name them.
RUNTIME_LIBRARIES = [
    *("libdbus-1-3", "libegl1", "libfontconfig1", "libfreetype6", "libgl1", "libglib2.0-0", "libgssapi-krb5-2"),
    *("libstdc++6", "libuuid1", "libx11-xcb1", "libxcb1", "zlib1g"),
]


def need(packages: list[str]) -> None:
    """Install those of the packages that are missing. Raises RefusedError with the command where it may not.

    Does nothing on a system without dpkg.
    """
    if shutil.which("dpkg-query") is None:
        return
    missing = [package for package in packages if not _is_installed(package)]
    if missing and not os.access("/var/lib/dpkg", os.W_OK):
        raise dev.RefusedError("Run first: sudo apt-get update && sudo apt-get install " + " ".join(missing))
    if missing:
        dev.say(f"Installing Debian packages: {' '.join(missing)} …")
        dev.install(missing)


def _is_installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat", "${db:Status-Status}\n", package]
    return "installed" in dev.run_captured(command).stdout.split()
